// Package journal owns the file in which the embedded AWS keeps its changes: one JSON line per record, appended
// with a single write, checked by a CRC-32 on reading. It knows no service and never rewrites what it wrote;
// compaction is not part of it.
package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
)

const fileName = "journal.ndjson"

var (
	errNotReplayed = errors.New("journal: Replay has to run before the first Append")
	errBroken      = errors.New("journal: an earlier write failed and could not be undone")
)

// Log is one open journal. It implements wire.Journal; its methods may be called from many goroutines.
type Log struct {
	path string

	mu       sync.Mutex
	file     *os.File
	size     int64 // bytes of complete lines; a failed write is cut back to it
	replayed bool
	broken   bool
}

// line is the shape of one line. The checksum covers the service's name and the record's bytes as they stand in the line.
type line struct {
	Service string          `json:"service"`
	Record  json.RawMessage `json:"record"`
	CRC32   uint32          `json:"crc32"`
}

func checksum(service string, record []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(service)), crc32.IEEETable, record)
}

// Open opens the journal in dir, which is made when it is missing. The file may hold key material and mail, so only
// its owner can read it. Call Replay before the first Append.
func Open(dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("journal: data directory: %w", err)
	}
	path := filepath.Join(dir, fileName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600) //nolint:gosec // the folder is the -data flag of whoever starts us
	if err != nil {
		return nil, fmt.Errorf("journal: open: %w", err)
	}
	return &Log{path: path, file: file}, nil
}

// Append implements wire.Journal. The record is in the operating system's hands when it returns nil, so it survives
// the end of the process by any signal; it may not survive a power cut, because nothing is synced to the disk.
func (l *Log) Append(service string, record any) error {
	raw, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("journal: encode a record of %s: %w", service, err)
	}
	encoded, err := json.Marshal(line{Service: service, Record: raw, CRC32: checksum(service, raw)})
	if err != nil {
		return fmt.Errorf("journal: encode a line of %s: %w", service, err)
	}
	encoded = append(encoded, '\n')

	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.replayed {
		return errNotReplayed
	}
	if l.broken {
		return errBroken
	}
	if _, err := l.file.Write(encoded); err != nil {
		// A disk that filled up leaves half a line, after which every later line would count as damaged.
		l.broken = l.file.Truncate(l.size) != nil
		return fmt.Errorf("journal: write: %w", err)
	}
	l.size += int64(len(encoded))
	return nil
}

// Close closes the file. An Append that follows fails.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("journal: close: %w", err)
	}
	return nil
}
