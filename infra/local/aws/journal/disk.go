package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// disk is what a journal asks of the file system. Tests put one in its place that fails.
type disk interface {
	// Open opens a file for reading and appending. The flags are those of os.OpenFile that say what is done when it exists.
	Open(path string, flags int) (file, error)
	Rename(from, to string) error
	// Sync makes the names in a folder last.
	Sync(dir string) error
}

type file interface {
	io.ReadWriteSeeker
	io.Closer
	Truncate(size int64) error
	Sync() error
}

type osDisk struct{}

// Open implements disk.
func (osDisk) Open(path string, flags int) (file, error) {
	opened, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|flags, 0o600) //nolint:gosec // the folder is the -data flag of whoever starts us
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// Rename implements disk.
func (osDisk) Rename(from, to string) error { return os.Rename(from, to) }

// Sync implements disk. A file system that syncs no folders says EINVAL; there is nothing more to do then.
func (osDisk) Sync(dir string) error {
	folder, err := os.Open(dir) //nolint:gosec // as above
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}

const lockName = "lock"

// unlock gives a directory back. Closing alone does not, as long as a process that is being started has a copy.
func unlock(held *os.File) error {
	return errors.Join(syscall.Flock(int(held.Fd()), syscall.LOCK_UN), held.Close())
}

// lock takes dir for this process. The kernel gives it back when the process ends, however that happens.
func lock(dir string) (*os.File, error) {
	path := dir + string(os.PathSeparator) + lockName
	held, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the folder is the -data flag of whoever starts us
	if err != nil {
		return nil, fmt.Errorf("journal: lock: %w", err)
	}
	err = syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(fmt.Errorf("journal: another process%s uses the data directory %s: stop it, or start with another -data directory",
			owner(held), dir), held.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal: lock %s: %w", path, err), held.Close())
	}
	// The number is there for the message above only, so that it does no harm when it cannot be written.
	_ = held.Truncate(0)
	_, _ = fmt.Fprintf(held, "%d", os.Getpid())
	return held, nil
}

// owner names the process that holds the lock, if it has written its number down.
func owner(held *os.File) string {
	number, err := io.ReadAll(io.LimitReader(held, 20))
	if err != nil || len(number) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", number)
}
