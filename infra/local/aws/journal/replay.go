package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Replay hands every record to apply, oldest first. A last line without its line end is what a crash in the middle
// of a write leaves behind: nobody was told that it was stored, so it is cut off. Any other line that cannot be read,
// or that apply refuses, is an error that names the file and the line.
func (l *Log) Replay(apply func(service string, record json.RawMessage) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("journal: rewind: %w", err)
	}
	lines := bufio.NewReader(l.file)
	l.size = 0
	for number := 1; ; number++ {
		encoded, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return l.cutTornLine(len(encoded))
		}
		if err != nil {
			return fmt.Errorf("journal: read: %w", err)
		}
		if err := replayLine(encoded, apply); err != nil {
			return fmt.Errorf("journal: %s is damaged in line %d: %w; move the file away or start with an empty -data directory",
				l.path, number, err)
		}
		l.size += int64(len(encoded))
	}
}

func (l *Log) cutTornLine(length int) error {
	if length > 0 {
		if err := l.file.Truncate(l.size); err != nil {
			return fmt.Errorf("journal: cut the torn last line: %w", err)
		}
	}
	l.replayed = true
	return nil
}

func replayLine(encoded []byte, apply func(string, json.RawMessage) error) error {
	var read line
	if err := json.Unmarshal(encoded, &read); err != nil {
		return fmt.Errorf("not a journal line: %w", err)
	}
	if got := checksum(read.Service, read.Record); got != read.CRC32 {
		return fmt.Errorf("checksum is %d, the line says %d", got, read.CRC32)
	}
	return apply(read.Service, read.Record)
}
