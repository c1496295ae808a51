package aws

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"sync"

	"recordbridge/infra/local/aws/journal"
	"recordbridge/infra/local/aws/wire"
)

const (
	objectsFolder = "s3"
	wayOut        = "start once with -data-repair to delete what has lost its content, or start with another -data directory"
)

// compaction keeps the journal as small as what it stands for.
type compaction struct {
	running sync.Mutex

	mu     sync.Mutex
	failed error // the last failure, for Close to report; the journal goes on as it was
}

// restore brings back what an earlier Cloud stored, and holds it against the files of the objects.
func (c *Cloud) restore(dir string) error {
	if err := c.journal.Replay(c.replay); err != nil {
		return err
	}
	if err := c.checkObjects(dir); err != nil {
		return err
	}
	if !c.journal.Due() {
		return nil
	}
	return c.journal.Compact(c.dump)
}

func (c *Cloud) checkObjects(dir string) error {
	missing := c.s3.Missing()
	if len(missing) == 0 {
		return nil
	}
	first := missing[0]
	line, offset, err := c.journal.Find(first.Body[:len(first.Body)-len(filepath.Ext(first.Body))])
	if err != nil {
		return err
	}
	return fmt.Errorf("aws: %s is missing, the content of the object %s/%s, which the journal names in line %d (byte %d); %d files are missing in all; put them back, or %s",
		filepath.Join(dir, objectsFolder, first.Body), first.Bucket, first.Key, line, offset, len(missing), wayOut)
}

// thenCompact runs next and compacts the journal when it is due. That costs this one call time, and holds up those
// of others, except polls that wait. It happens between calls because a call may hold a lock that a dump needs.
func (c *Cloud) thenCompact(next wire.Handler) wire.Handler {
	return func(w http.ResponseWriter, r *http.Request, call wire.Call) {
		next(w, r, call)
		if !c.journal.Due() || !c.compaction.running.TryLock() {
			return
		}
		defer c.compaction.running.Unlock()
		if !c.journal.Due() { // another call has just done it
			return
		}
		if err := c.journal.Compact(c.dump); err != nil {
			c.compaction.mu.Lock()
			defer c.compaction.mu.Unlock()
			c.compaction.failed = err
		}
	}
}

// dump is a journal.Dump of all services. Each keeps its lock until all have dumped, in the order of their names, so
// that the whole is one moment's state.
func (c *Cloud) dump(emit func(service string, record any) error, finish func() error) error {
	all := finish
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(c.services))) {
		service, next := c.services[name], all
		all = func() error {
			return service.Dump(func(record any) error { return emit(name, record) }, next)
		}
	}
	return all()
}

// Repaired is what Repair did.
type Repaired struct {
	journal.Repaired

	Objects []string // objects and uploads, as bucket/key, that were deleted because their content is missing
}

// Repair makes a data directory usable that New refuses, and keeps as much as it can: every record before the first
// damage of the journal, and every object that has its content. The damaged journal stays beside the new one. What is
// not damaged is not touched. It is an error when another process uses the directory.
func Repair(dir string) (Repaired, error) {
	trial, err := build(Options{})
	if err != nil {
		return Repaired{}, err
	}
	var done Repaired
	if done.Repaired, err = journal.Repair(dir, trial.replay); err != nil {
		return Repaired{}, err
	}
	c, err := build(Options{Dir: dir})
	if err != nil {
		return Repaired{}, err
	}
	if err := c.journal.Replay(c.replay); err != nil {
		return Repaired{}, c.abandon(err)
	}
	for _, missing := range c.s3.Missing() {
		if err := c.s3.Forget(missing); err != nil {
			return Repaired{}, c.abandon(err)
		}
		done.Objects = append(done.Objects, missing.Bucket+"/"+missing.Key)
	}
	return done, c.Close()
}

// closeJournal also reports what went wrong meanwhile without harm to any call.
func (c *Cloud) closeJournal() error {
	c.compaction.mu.Lock()
	defer c.compaction.mu.Unlock()
	return errors.Join(c.journal.Close(), c.compaction.failed)
}
