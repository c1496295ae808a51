// Package journal manages the directory in which the embedded AWS keeps its state between runs. The directory contains
// a lock that limits access to one process, and a file with a header and one JSON line per record. At startup, the file
// is read and replaced with a snapshot of the state; every later change appends a line. The package does not interpret
// records. The caller of Restore applies the records and supplies the snapshot (docs/develop/embedded-aws.md, "Keeping
// data").
//
// A killed process leaves at most one incomplete line at the end of the file, for a change that was never acknowledged.
// The file is synced to disk only at startup, so a power failure may lose later changes.
package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

const (
	fileName = "journal.ndjson"
	// header is the file's first line. Lines in format 2 may also have a number and a checksum, which readers ignore.
	header = `{"journal":"recordbridge embedded AWS","format":2}` + "\n"
)

// Log is an open journal. A Log implements wire.Journal and is safe for concurrent use.
type Log struct {
	path string
	lock *os.File

	mu     sync.Mutex
	file   *os.File // journal file; nil before Restore
	failed error    // first error from Append; the file may end in an incomplete line
}

// Open locks dir until Close or the end of the process, creating dir if necessary. The journal file, which may contain
// key material and emails, is readable only by its owner. Call Restore before the first Append.
func Open(dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("journal: data folder: %w", err)
	}
	held, err := lock(dir)
	if err != nil {
		return nil, err
	}
	return &Log{path: filepath.Join(dir, fileName), lock: held}, nil
}

// Restore passes every record in the file to apply, oldest first, and then replaces the file with the records that dump
// emits. An incomplete last line is dropped. If another line is unreadable or apply returns an error, Restore leaves
// the file unchanged and returns an error that names the file and line.
func (l *Log) Restore(
	apply func(service string, record json.RawMessage) error, dump func(emit func(service string, record any) error) error,
) error {
	content, err := os.Open(l.path)
	if err == nil {
		err = errors.Join(l.replay(content, apply), content.Close())
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := l.rewrite(dump); err != nil {
		return fmt.Errorf("journal: write a snapshot: %w", err)
	}
	return nil
}

// Append implements wire.Journal. If Append returns nil, the operating system has the record, which therefore survives
// any signal that ends the process. After a failure, Append writes no more records, because the file may end in an
// incomplete line.
func (l *Log) Append(service string, record any) error {
	line, err := encode(service, record)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		_, l.failed = l.file.Write(line)
	}
	if l.failed != nil {
		return fmt.Errorf("journal: nothing can be stored until the next start: %w", l.failed)
	}
	return nil
}

// Close closes the file and unlocks the directory. Every later Append fails.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.file != nil {
		err = l.file.Close()
	}
	if err = errors.Join(err, unlock(l.lock)); err != nil {
		return fmt.Errorf("journal: close: %w", err)
	}
	return nil
}

func (l *Log) replay(content io.Reader, apply func(service string, record json.RawMessage) error) error {
	lines := bufio.NewReader(content)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF) && number > 1: // the last line is empty or incomplete
			return nil
		case err != nil && !errors.Is(err, io.EOF):
		case number == 1:
			err = checkHeader(line)
		default:
			err = read(line, apply)
		}
		if err != nil {
			return fmt.Errorf("%s, line %d: %w: correct it, or start with another -data folder", l.path, number, err)
		}
	}
}

func checkHeader(line []byte) error {
	if string(line) != header {
		return errors.New("this is no journal of a format that this program reads")
	}
	return nil
}

func read(line []byte, apply func(service string, record json.RawMessage) error) error {
	var entry struct {
		Service string          `json:"service"`
		Record  json.RawMessage `json:"record"`
	}
	if err := json.Unmarshal(line, &entry); err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	return apply(entry.Service, entry.Record)
}

// rewrite writes a new file and renames it to replace the old file. If the process is killed, either the old or the new
// file is intact.
func (l *Log) rewrite(dump func(emit func(service string, record any) error) error) error {
	draft := l.path + ".new"
	//nolint:gosec // the folder is the -data flag of whoever starts us
	file, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	to := bufio.NewWriter(file)
	_, _ = to.WriteString(header) // Flush returns any write error
	emit := func(service string, record any) error {
		line, failed := encode(service, record)
		_, _ = to.Write(line)
		return failed
	}
	if err = errors.Join(dump(emit), to.Flush(), file.Sync()); err == nil {
		err = os.Rename(draft, l.path)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file = file
	return nil
}

// encode returns a record as one line of JSON with a trailing newline.
func encode(service string, record any) ([]byte, error) {
	line, err := json.Marshal(struct {
		Service string `json:"service"`
		Record  any    `json:"record"`
	}{service, record})
	if err != nil {
		return nil, fmt.Errorf("journal: encode a record of %s: %w", service, err)
	}
	return append(line, '\n'), nil
}
