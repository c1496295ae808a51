// Package journal owns the folder in which the embedded AWS keeps its state between two runs: the lock that keeps it to
// one process, and one file with a header and then one JSON line per record. A start reads the file and puts a snapshot
// of what it stands for in its place; from then on every change appends its line. It knows no service: what a record
// means, and what the whole state is, comes from whoever opened it (docs/develop/embedded-aws.md, "Keeping data").
//
// A process that is killed leaves at most a last line without its end, of which nobody was told that it is stored.
// Bytes are synced to the disk by a start only, so a power cut may cost the changes since.
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
	// header is the first line. Lines of format 2 once had a number and a checksum as well, which are read over.
	header = `{"journal":"recordbridge embedded AWS","format":2}` + "\n"
)

// Log is one open journal. It implements wire.Journal; its methods may be called from many goroutines.
type Log struct {
	path string
	lock *os.File

	mu     sync.Mutex
	file   *os.File // nil until Restore
	failed error    // of an append, after which the file may end in half a line
}

// Open takes dir, which is made when it is missing, until Close or the end of the process. The file in it may hold key
// material and mail, so only its owner can read it. Call Restore before the first Append.
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

// Restore gives apply every record that is in the file, oldest first, and then replaces the file by the records that
// dump emits. A last line without its end is dropped; anything else that cannot be read, and a record that apply
// refuses, is an error that names file and line and leaves the file as it is.
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

// Append implements wire.Journal. The record is in the operating system's hands when it returns nil, so it survives the
// end of the process by any signal. After a failure nothing is appended any more: the file may end in half a line.
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

// Close closes the file and lets others into the folder. An Append that follows fails.
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
		case errors.Is(err, io.EOF) && number > 1: // line is what a kill left of a write, or nothing
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

// rewrite makes the new file beside the old one and renames it, so that a kill leaves either of them whole.
func (l *Log) rewrite(dump func(emit func(service string, record any) error) error) error {
	draft := l.path + ".new"
	//nolint:gosec // the folder is the -data flag of whoever starts us
	file, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	to := bufio.NewWriter(file)
	_, _ = to.WriteString(header) // a bufio.Writer keeps its first error for Flush
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

// encode makes a line, which has no line end but its last byte.
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
