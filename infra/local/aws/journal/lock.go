package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// lock locks dir for this process. The kernel releases the lock when the process ends, even if it is killed.
func lock(dir string) (*os.File, error) {
	//nolint:gosec // the folder is the -data flag of whoever starts us
	held, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: lock: %w", err)
	}
	err = syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(fmt.Errorf("journal: another process%s uses the data folder %s: stop it, or start with "+
			"another -data folder",
			owner(held), dir), held.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal: lock %s: %w", held.Name(), err), held.Close())
	}
	// The process ID is used only in an error message, so a failure to write the ID is harmless.
	_ = held.Truncate(0)
	_, _ = fmt.Fprintf(held, "%d", os.Getpid())
	return held, nil
}

// unlock unlocks the directory. Closing the file is not enough, because a child process that is starting may hold a
// copy of the file descriptor.
func unlock(held *os.File) error {
	return errors.Join(syscall.Flock(int(held.Fd()), syscall.LOCK_UN), held.Close())
}

// owner returns the lock holder's process ID in the form " (123)", or "" if the ID is unknown.
func owner(held *os.File) string {
	number, err := io.ReadAll(io.LimitReader(held, 20))
	if err != nil || len(number) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", number)
}
