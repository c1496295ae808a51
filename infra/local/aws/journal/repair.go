package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Repaired is what Repair did. Nothing was damaged when DamagedFile is empty.
type Repaired struct {
	Kept, Lost  int    // records before the damage, and lines from the damage on
	DamagedFile string // where the whole damaged file lies now
}

// Repair cuts the journal in dir off before its first fault, which may also be a record that apply refuses, and keeps
// the damaged file under another name. What follows a fault is not used even where it can be read: it was decided on
// the grounds of what is lost. No other process may use dir.
func Repair(dir string, apply func(service string, record json.RawMessage) error) (Repaired, error) {
	l, err := Open(dir)
	if err != nil {
		return Repaired{}, err
	}
	done, err := l.repair(apply)
	return done, errors.Join(err, l.Close())
}

func (l *Log) repair(apply func(service string, record json.RawMessage) error) (Repaired, error) {
	content, err := io.ReadAll(l.file)
	if err != nil {
		return Repaired{}, fmt.Errorf("journal: read: %w", err)
	}
	found, err := scan(bytes.NewReader(content), apply)
	done := Repaired{Kept: int(found.records - found.own)} //nolint:gosec // they were counted in memory
	if err == nil {
		return done, nil
	}
	good, bad := content[:found.size], bytes.TrimSuffix(content[found.size:], []byte("\n"))
	done.Lost = bytes.Count(bad, []byte("\n")) + 1
	done.DamagedFile = l.path(fileName + ".damaged-" + time.Now().UTC().Format("20060102T150405Z"))
	// Copied and not renamed: at no moment the directory is without a journal, which would be a new beginning.
	if err := l.store(done.DamagedFile, os.O_CREATE|os.O_EXCL, content); err != nil {
		return Repaired{}, fmt.Errorf("journal: keep the damaged file: %w", err)
	}
	if err := l.store(l.path(draftName), os.O_CREATE|os.O_TRUNC, good); err != nil {
		return Repaired{}, fmt.Errorf("journal: write the repaired file: %w", err)
	}
	if err := errors.Join(l.disk.Rename(l.path(draftName), l.path(fileName)), l.disk.Sync(l.dir)); err != nil {
		return Repaired{}, fmt.Errorf("journal: put the repaired file in place: %w", err)
	}
	return done, nil
}

func (l *Log) store(path string, flags int, content []byte) error {
	created, err := l.disk.Open(path, flags)
	if err != nil {
		return err
	}
	_, err = created.Write(content)
	return errors.Join(err, created.Sync(), created.Close())
}
