// Package refreshscheduler runs every minute: it finds the connections whose tokens somebody has to look after and tells
// the refresh worker, spread over the coming minute. It decides nothing about a connection. Rows are their own timers
// (architecture section 6); running twice at once, or after a long pause, does no harm.
package refreshscheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/due"
	"recordbridge/shared/fault"
	"recordbridge/shared/logx"
)

const (
	// nextLook is how long a row that was sent is left to its worker. It outlives the wait in the queue and the calls to
	// a slow token endpoint.
	nextLook = 10 * time.Minute
	// spreadOver is the time until the next run, over which the messages of this one are spread.
	spreadOver = time.Minute
	// parallel is how many rows are dealt with at the same time.
	parallel = 8
	// reserve is kept of the run's time, so that it ends by itself. What is left is as due a minute later.
	reserve = 5 * time.Second
	// toldFailures bounds the failures that the run's error tells; the log line counts them all.
	toldFailures = 10
)

// Deps are what the scheduler works with.
type Deps struct {
	Rows   Rows
	Queue  Queue
	Shards int
	Now    func() time.Time
}

// Rows finds the connections that are due (store.Timers).
type Rows interface {
	Due(ctx context.Context, shard int, before time.Time) ([]due.Item, error)
	Postpone(ctx context.Context, i due.Item, until time.Time) error
}

// Queue nudges the refresh worker (queue.Queue).
type Queue interface {
	Send(ctx context.Context, i due.Item, delay time.Duration) error
}

// New returns the scheduled function. One row's failure does not stop the others; the error tells the first of them.
func New(d Deps) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error {
		r := run{Deps: d, started: d.Now()}
		r.group.SetLimit(parallel)
		for shard := range d.Shards {
			if r.late(ctx) {
				break
			}
			r.shard(ctx, shard)
		}
		_ = r.group.Wait() // the failures are the run's own
		logx.Add(ctx, slog.Int("sent", r.sent), slog.Int("failed", r.failed),
			slog.Int64("oldest_ms", r.oldest.Milliseconds()), slog.Bool("cut_short", r.cutShort))
		return errors.Join(r.failures...)
	}
}

// run is one run of the scheduler.
type run struct {
	Deps

	started  time.Time
	group    errgroup.Group
	oldest   time.Duration // how late the row is that has been due for longest
	cutShort bool

	mu       sync.Mutex // of what follows
	sent     int
	failed   int
	failures []error // the first of them
}

// late reports that the run has to end, and remembers it.
func (r *run) late(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	r.cutShort = r.cutShort || ok && deadline.Sub(r.Now()) < reserve
	return r.cutShort
}

// shard sends what is due of one shard, oldest first.
func (r *run) shard(ctx context.Context, shard int) {
	items, err := r.Rows.Due(ctx, shard, r.started)
	if err != nil {
		r.done(false, fmt.Errorf("shard %d: %w", shard, err))
	}
	for position, i := range items {
		if r.late(ctx) {
			return
		}
		r.oldest = max(r.oldest, r.started.Sub(i.At))
		delay := r.delay(shard, position, len(items))
		r.group.Go(func() error {
			r.done(r.send(ctx, i, delay))
			return nil
		})
	}
}

// delay gives every row of a run a place of its own in the coming minute: each shard spreads its rows over all of it, and
// starts a little after the one before.
func (r *run) delay(shard, position, rows int) time.Duration {
	place := position*r.Shards + shard
	return spreadOver * time.Duration(place) / time.Duration(rows*r.Shards)
}

// send claims a row and tells the worker of it. A row that is claimed but was not sent is due again at its next look.
func (r *run) send(ctx context.Context, i due.Item, delay time.Duration) (sent bool, err error) {
	err = r.Rows.Postpone(ctx, i, r.Now().Add(nextLook))
	if errors.Is(err, fault.Conflict) {
		return false, nil // somebody else has it, or has dealt with it
	}
	if err != nil {
		return false, fmt.Errorf("postpone: %w", err)
	}
	if err := r.Queue.Send(ctx, i, delay); err != nil {
		return false, fmt.Errorf("send: %w", err)
	}
	return true, nil
}

func (r *run) done(sent bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sent {
		r.sent++
	}
	if err == nil {
		return
	}
	r.failed++
	if len(r.failures) < toldFailures {
		r.failures = append(r.failures, err)
	}
}
