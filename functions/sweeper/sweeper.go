// Package sweeper runs every minute: it re-sends what was lost, late, deferred or crashed, and deletes the files of
// exports whose time is over. Rows are their own timers (architecture section 6); running twice at once, or after a
// long pause, does no harm.
package sweeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/due"
	"recordbridge/shared/export"
	"recordbridge/shared/fault"
	"recordbridge/shared/logx"
	"recordbridge/shared/org"
)

const (
	// lookAhead covers the time until the run after the next one; the message waits for the rest of it in the queue.
	lookAhead = 90 * time.Second
	// nextLook is how long a row that was sent is left to its worker.
	nextLook = 2 * time.Minute
)

// Deps are what the sweeper works with.
type Deps struct {
	Rows   Rows
	Queue  Queue
	Files  Files
	Shards int
	Now    func() time.Time
}

// Rows finds what is due (store.Work).
type Rows interface {
	Due(ctx context.Context, shard int, before time.Time) ([]due.Item, error)
	Postpone(ctx context.Context, i due.Item, until time.Time) error
	Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
	ForgetFile(ctx context.Context, task export.Task) error
}

// Queue nudges workers (queue.Queue).
type Queue interface {
	Send(ctx context.Context, i due.Item, delay time.Duration) error
}

// Files deletes export files (blob.Bucket).
type Files interface {
	Delete(ctx context.Context, key string) error
}

// New returns the scheduled function. One row's failure does not stop the others; the error tells them all.
func New(d Deps) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error {
		var failures []error
		sent := 0
		for shard := range d.Shards {
			items, err := d.Rows.Due(ctx, shard, d.Now().Add(lookAhead))
			failures = append(failures, err)
			for _, i := range items {
				done, err := d.act(ctx, i)
				failures = append(failures, err)
				sent += done
			}
		}
		logx.Add(ctx, slog.Int("sent", sent))
		return errors.Join(failures...)
	}
}

// act deals with one due row and reports how many messages it sent.
func (d Deps) act(ctx context.Context, i due.Item) (int, error) {
	if i.Kind == due.Task {
		task, err := d.Rows.Task(ctx, i.Tenant, i.ID)
		if err != nil {
			return 0, fmt.Errorf("read task: %w", err)
		}
		if task.Status != export.Pending {
			return 0, d.expire(ctx, task)
		}
	}
	now := d.Now()
	err := d.Rows.Postpone(ctx, i, latest(i.At, now).Add(nextLook))
	if errors.Is(err, fault.Conflict) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("postpone: %w", err)
	}
	// A second later than due: a lease that ends at that moment has then ended.
	delay := max(i.At.Sub(now)+time.Second, 0)
	if i.At.Before(now) {
		delay = 0
	}
	if err := d.Queue.Send(ctx, i, delay); err != nil {
		return 0, fmt.Errorf("send: %w", err)
	}
	return 1, nil
}

// expire deletes what a finished or failed export has left in the bucket, once its time is over.
func (d Deps) expire(ctx context.Context, task export.Task) error {
	if d.Now().Before(task.FilesUntil) {
		return nil // looked at a little ahead of its time
	}
	for _, key := range task.Objects() {
		if err := d.Files.Delete(ctx, key); err != nil {
			return fmt.Errorf("delete file: %w", err)
		}
	}
	if err := d.Rows.ForgetFile(ctx, task); err != nil && !errors.Is(err, fault.Conflict) {
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
