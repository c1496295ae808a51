// Package sweeper implements a Lambda function that runs every minute. The function resends messages that were lost,
// delayed or deferred, or whose worker crashed. The function also deletes the files of expired exports.
package sweeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	// lookAhead exceeds the time until the next run, so that each run also covers rows that become due before then. If
	// a row becomes due within this time, the sweeper sends its message immediately, with a delivery delay.
	lookAhead = 90 * time.Second
	// nextLook is the interval between sending a row's message and the row's next due time.
	nextLook = 2 * time.Minute
)

// Tasks reads tasks and records the deletion of their files; store.Tasks implements it.
type Tasks interface {
	Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
	ForgetFile(ctx context.Context, task export.Task) error
}

// Files deletes exports' files; blob.Bucket implements it.
type Files interface {
	Delete(ctx context.Context, key string) error
}

// New returns the scheduled function, which sweeps the work table.
func New(work due.Sweep, tasks Tasks, files Files, now func() time.Time) func(context.Context, time.Time) error {
	s := sweeper{work: work, tasks: tasks, files: files, now: now}
	return func(ctx context.Context, _ time.Time) error { return work.Run(ctx, now().Add(lookAhead), s.act) }
}

type sweeper struct {
	work  due.Sweep
	tasks Tasks
	files Files
	now   func() time.Time
}

func (s sweeper) act(ctx context.Context, i due.Item, _ due.Position) (sent bool, err error) {
	if i.Kind == due.Task {
		task, err := s.tasks.Task(ctx, i.Tenant, i.ID)
		if err != nil {
			return false, fmt.Errorf("read task: %w", err)
		}
		if task.Status != export.Pending {
			return false, s.expire(ctx, task)
		}
	}
	now := s.now()
	// The additional second ensures that a lease ending exactly at the due time has expired when the message arrives.
	delay := max(i.At.Sub(now)+time.Second, 0)
	if i.At.Before(now) {
		delay = 0
	}
	return s.work.Send(ctx, i, latest(i.At, now).Add(nextLook), delay)
}

// expire deletes the remaining files of a finished or failed export after their expiry.
func (s sweeper) expire(ctx context.Context, task export.Task) error {
	if s.now().Before(task.FilesUntil) {
		return nil // the row was read shortly before its due time
	}
	for _, key := range task.Objects() {
		if err := s.files.Delete(ctx, key); err != nil {
			return fmt.Errorf("delete file: %w", err)
		}
	}
	if err := s.tasks.ForgetFile(ctx, task); err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("forget file: %w", err)
	}
	return nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
