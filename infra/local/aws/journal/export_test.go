package journal

import (
	"errors"
	"os"
)

// ErrFault is what a FaultyDisk answers.
var ErrFault = errors.New("the disk has a fault")

// FaultyDisk is the real disk until it is told to fail.
type FaultyDisk struct {
	Budget    *int // bytes that can still be written; nil is no limit
	KeepsTorn bool // what was written of a torn line cannot be cut off
	Step      int  // how many steps of a compaction succeed, with StopsAt
	StopsAt   bool
}

// OpenOn is Open on d.
func OpenOn(d *FaultyDisk, dir string) (*Log, error) { return open(d, dir) }

// SetDue makes compaction due from size on.
func (l *Log) SetDue(size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.due = size
}

// Open implements disk.
func (d *FaultyDisk) Open(path string, flags int) (file, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	opened, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|flags, 0o600)
	return faultyFile{opened, d}, err
}

// Rename implements disk.
func (d *FaultyDisk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// Sync implements disk.
func (d *FaultyDisk) Sync(string) error { return d.step() }

// step counts the steps in which a compaction touches the disk other than by writing.
func (d *FaultyDisk) step() error {
	if !d.StopsAt {
		return nil
	}
	if d.Step == 0 {
		return ErrFault
	}
	d.Step--
	return nil
}

type faultyFile struct {
	*os.File

	disk *FaultyDisk
}

// Sync implements file.
func (f faultyFile) Sync() error { return f.disk.step() }

// Truncate implements file.
func (f faultyFile) Truncate(size int64) error {
	if f.disk.KeepsTorn {
		return ErrFault
	}
	return f.File.Truncate(size)
}

// Write implements file.
func (f faultyFile) Write(content []byte) (int, error) {
	if f.disk.Budget == nil {
		return f.File.Write(content)
	}
	fits := min(*f.disk.Budget, len(content))
	*f.disk.Budget -= fits
	n, err := f.File.Write(content[:fits])
	if err == nil && fits < len(content) {
		err = ErrFault
	}
	return n, err
}
