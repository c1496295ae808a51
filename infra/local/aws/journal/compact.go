package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

const (
	// leastDue keeps small journals from being compacted all the time: that many bytes are read in well under 0.1 s.
	leastDue = 4 << 20
	// growth bounds the file: between two calls it is smaller than that many times its size after the last compaction. A
	// compaction of size 4n follows 3n of appended lines, so that all of them write at most 4/3 of what was appended.
	growth = 4
)

// Dump gives emit the whole state as records, in an order in which they can be replayed, and then calls finish. Nothing
// that emit was given may be changed by an Append before finish has returned: writers wait meanwhile.
type Dump func(emit func(service string, record any) error, finish func() error) error

func dueAfter(compacted int64) int64 { return max(leastDue, growth*compacted) }

// Due reports whether the file has grown so much that Compact is worth its time.
func (l *Log) Due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.replayed && l.size >= l.due
}

// Compact replaces the file by one that holds what dump emits. The new one is written beside the old one, synced, and
// renamed, so that a kill at any moment leaves either the old or the new journal. When it fails the old one stays in
// use, and it is due again when it has doubled.
func (l *Log) Compact(dump Dump) error {
	l.compacting.Lock()
	defer l.compacting.Unlock()
	d, err := l.newDraft()
	if err != nil {
		return l.postpone(err)
	}
	err = dump(d.add, func() error { return l.adopt(d) })
	if !d.adopted {
		if err == nil {
			err = errors.New("the state was not dumped to its end")
		}
		return l.postpone(errors.Join(err, d.discard()))
	}
	return err
}

// postpone keeps a compaction that fails from being tried at every call.
func (l *Log) postpone(reason error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.due = 2 * max(l.size, leastDue)
	return fmt.Errorf("journal: compaction: %w", reason)
}

// adopt makes the draft the journal.
func (l *Log) adopt(d *draft) error {
	if err := d.add(ownService, "compacted"); err != nil {
		return err
	}
	if err := errors.Join(d.to.Flush(), d.file.Sync()); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	if err := l.disk.Rename(d.path, l.path(fileName)); err != nil {
		return err
	}
	d.adopted = true
	old := l.file
	l.file, l.size, l.records, l.due, l.broken = d.file, d.size, d.records, dueAfter(d.size), false
	if err := errors.Join(l.disk.Sync(l.dir), old.Close()); err != nil {
		return fmt.Errorf("journal: after the compaction: %w", err)
	}
	return nil
}

// draft is a journal that is being written beside the one in use.
type draft struct {
	path    string
	file    file
	to      *bufio.Writer
	size    int64
	records uint64
	buffer  []byte
	adopted bool
}

func (l *Log) newDraft() (*draft, error) {
	path := l.path(draftName)
	created, err := l.disk.Open(path, os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	d := &draft{path: path, file: created, to: bufio.NewWriterSize(created, 1<<16), size: int64(len(header))}
	_, _ = d.to.WriteString(header) // a bufio.Writer keeps its first error for Flush
	return d, nil
}

func (d *draft) add(service string, record any) error {
	raw, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode a record of %s: %w", service, err)
	}
	d.buffer = appendLine(d.buffer[:0], d.records+1, service, raw)
	d.records++
	d.size += int64(len(d.buffer))
	_, err = d.to.Write(d.buffer)
	return err
}

// discard leaves the draft to the next start when it cannot be removed.
func (d *draft) discard() error {
	_ = d.file.Close()
	return os.Remove(d.path)
}
