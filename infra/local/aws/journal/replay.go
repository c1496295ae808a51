package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Replay hands every record to apply, oldest first. A last line without its line end is what a kill in the middle of a
// write leaves behind: nobody was told that it was stored, so it is cut off. Any other line that cannot be read, is
// missing or is there twice, and a record that apply refuses, is an error that names the file, the line, its place in
// bytes and the way out.
func (l *Log) Replay(apply func(service string, record json.RawMessage) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("journal: rewind: %w", err)
	}
	found, err := scan(l.file, apply)
	if failure, ok := errors.AsType[*damage](err); ok {
		failure.path = l.path(fileName)
	}
	if err != nil {
		return err
	}
	if found.torn {
		if err := l.file.Truncate(found.size); err != nil {
			return fmt.Errorf("journal: cut the torn last line: %w", err)
		}
	}
	l.size, l.records, l.due, l.replayed = found.size, found.records, dueAfter(found.compacted), true
	if l.size == 0 {
		return l.write([]byte(header))
	}
	return nil
}

// Find returns the last line that contains text, for messages about what a record names. The line is 0 when none does.
func (l *Log) Find(text string) (number int, offset int64, err error) {
	content, err := os.ReadFile(l.path(fileName))
	if err != nil {
		return 0, 0, fmt.Errorf("journal: read: %w", err)
	}
	at := bytes.LastIndex(content, []byte(text))
	if at < 0 {
		return 0, 0, nil
	}
	before := content[:at]
	return bytes.Count(before, []byte("\n")) + 1, int64(bytes.LastIndexByte(before, '\n') + 1), nil
}

// damage is why a journal cannot be read on.
type damage struct {
	path    string
	line    int
	offset  int64  // of the line's first byte
	records uint64 // that stand before it
	reason  error
}

// Error implements error.
func (d *damage) Error() string {
	return fmt.Sprintf("journal: %s is damaged in line %d (byte %d): %v; start once with -data-repair to keep the %d records before it "+
		"(the file is kept as %s.damaged-<time>), or start with another -data directory", d.path, d.line, d.offset, d.reason, d.records, fileName)
}

// Unwrap gives the reason to errors.Is and errors.As.
func (d *damage) Unwrap() error { return d.reason }

// scanned is what was read without a fault.
type scanned struct {
	size      int64 // bytes of the lines
	lines     int
	records   uint64 // number of the last line that has one
	own       uint64 // how many of the records are the journal's own
	compacted int64  // size up to where a compaction wrote, 0 without one
	torn      bool   // a line without its end follows
}

// scan reads a journal up to its end or its first fault, which is a *damage without a path.
func scan(r io.Reader, apply func(service string, record json.RawMessage) error) (scanned, error) {
	var s scanned
	for lines := bufio.NewReader(r); ; {
		encoded, err := lines.ReadBytes('\n')
		atEnd := errors.Is(err, io.EOF)
		switch {
		case atEnd && len(encoded) == 0:
			return s, nil
		case atEnd:
			s.torn = true
			err = checkTorn(encoded, s.lines == 0)
		case err != nil:
			return s, fmt.Errorf("journal: read: %w", err)
		case s.lines == 0:
			err = checkHeader(encoded)
		default:
			err = s.take(encoded, apply)
		}
		if err != nil {
			return s, &damage{line: s.lines + 1, offset: s.size, records: s.records - s.own, reason: err}
		}
		if atEnd {
			return s, nil
		}
		s.lines++
		s.size += int64(len(encoded))
	}
}

// take reads one line after the header.
func (s *scanned) take(encoded []byte, apply func(service string, record json.RawMessage) error) error {
	read, err := parseLine(encoded)
	if err != nil {
		return err
	}
	switch next := s.records + 1; {
	case read.number > next:
		return fmt.Errorf("it holds record %d where record %d is expected, so lines are missing", read.number, next)
	case read.number < next:
		return fmt.Errorf("it holds record %d, which stands further up already, where record %d is expected", read.number, next)
	case read.service == ownService:
		s.own++
		s.compacted = s.size + int64(len(encoded))
	default:
		if err := apply(read.service, read.record); err != nil {
			return fmt.Errorf("the record of %s cannot be used: %w", read.service, err)
		}
	}
	s.records = read.number
	return nil
}
