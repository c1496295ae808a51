// Package sweeper runs every minute: it re-sends what was lost, late, deferred or crashed, and deletes the files of
// exports whose time is over.
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
	// lookAhead covers the time until the run after the next one; the message waits for the rest of it in the queue.
	lookAhead = 90 * time.Second
	// nextLook is how long a row that was sent is left to its worker.
	nextLook = 2 * time.Minute
)

// Tasks reads tasks and ends the care for their files (store.Tasks).
type Tasks interface {
	Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
	ForgetFile(ctx context.Context, task export.Task) error
}

// Files deletes export files (blob.Bucket).
type Files interface {
	Delete(ctx context.Context, key string) error
}

// New returns the scheduled function, which sweeps work.
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

// act deals with one due row.
func (s sweeper) act(ctx context.Context, i due.Item, _ due.Place) (sent bool, err error) {
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
	// A second later than due: a lease that ends at that moment has then ended.
	delay := max(i.At.Sub(now)+time.Second, 0)
	if i.At.Before(now) {
		delay = 0
	}
	return s.work.Send(ctx, i, latest(i.At, now).Add(nextLook), delay)
}

// expire deletes what a finished or failed export has left in the bucket, once its time is over.
func (s sweeper) expire(ctx context.Context, task export.Task) error {
	if s.now().Before(task.FilesUntil) {
		return nil // looked at a little ahead of its time
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
