// Package journal owns the file in which the embedded AWS keeps its changes: a header, then one JSON line per record,
// numbered and with a checksum, appended with a single write. It also owns the lock on the data directory, the
// compaction of the file, and its repair. It knows no service: what a record means, and what the whole state is, comes
// from whoever opened it.
//
// At any moment the directory holds one whole journal. A process that is killed leaves at most a last line without
// its end and a draft of a compaction behind; the next start removes both. Bytes are synced to the disk by compaction
// and repair only, so a power cut may cost the latest records.
package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

const (
	fileName  = "journal.ndjson"
	draftName = fileName + ".new"
)

var (
	errNotReplayed = errors.New("journal: Replay has to run before the first Append")
	errBroken      = errors.New("journal: an earlier write failed and could not be undone")
	errClosed      = errors.New("journal: it is closed")
)

// Log is one open journal. It implements wire.Journal; its methods may be called from many goroutines.
type Log struct {
	dir  string
	disk disk
	lock *os.File

	compacting sync.Mutex // held by Compact, and by Close, which waits for it

	mu       sync.Mutex
	file     file
	size     int64  // bytes of complete lines; a failed write is cut back to it
	records  uint64 // number of the last line
	due      int64  // the size from which on compaction is worth its time
	buffer   []byte // of the line that is being written
	replayed bool
	broken   bool
	closed   bool
}

// Open opens the journal in dir, which is made when it is missing, and keeps other processes out of dir until Close or
// the end of the process. The file may hold key material and mail, so only its owner can read it. Call Replay before
// the first Append.
func Open(dir string) (*Log, error) { return open(osDisk{}, dir) }

func open(d disk, dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("journal: data directory: %w", err)
	}
	held, err := lock(dir)
	if err != nil {
		return nil, err
	}
	l := &Log{dir: dir, disk: d, lock: held}
	if err = os.Remove(l.path(draftName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("journal: remove the draft of a compaction: %w", err), unlock(held))
	}
	if l.file, err = d.Open(l.path(fileName), os.O_CREATE); err != nil {
		return nil, errors.Join(fmt.Errorf("journal: open: %w", err), unlock(held))
	}
	return l, nil
}

// Append implements wire.Journal. The record is in the operating system's hands when it returns nil, so it survives
// the end of the process by any signal.
func (l *Log) Append(service string, record any) error {
	raw, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("journal: encode a record of %s: %w", service, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.replayed {
		return errNotReplayed
	}
	if l.broken {
		return errBroken
	}
	l.buffer = appendLine(l.buffer[:0], l.records+1, service, raw)
	if err := l.write(l.buffer); err != nil {
		return err
	}
	l.records++
	return nil
}

// Close closes the file and lets others into the directory. An Append that follows fails.
func (l *Log) Close() error {
	l.compacting.Lock()
	defer l.compacting.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if err := errors.Join(l.file.Close(), unlock(l.lock)); err != nil {
		return fmt.Errorf("journal: close: %w", err)
	}
	return nil
}

// write appends whole lines or nothing. The caller holds the mutex.
func (l *Log) write(lines []byte) error {
	if _, err := l.file.Write(lines); err != nil {
		// A disk that filled up leaves half a line, after which every later line would count as damaged.
		l.broken = l.file.Truncate(l.size) != nil
		return fmt.Errorf("journal: write: %w", err)
	}
	l.size += int64(len(lines))
	return nil
}

func (l *Log) path(name string) string { return filepath.Join(l.dir, name) }
