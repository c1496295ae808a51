package due

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

const (
	// parallel is how many shards are read, and then how many rows are dealt with, at the same time.
	parallel = 8
	// reserve is kept of a run's time: no row is begun in it, so that those under way can end. What is left is as due a
	// minute later.
	reserve = 5 * time.Second
	// abandon is when the rows under way are given up, so that the run ends by itself whatever hangs.
	abandon = time.Second
	// toldFailures bounds the failures that a run's error tells; the log line counts them all.
	toldFailures = 10
)

// Rows finds what is due (store.Timers).
type Rows interface {
	// Due lists rows of a shard that are due before a time, oldest first.
	Due(ctx context.Context, shard int, before time.Time) ([]Item, error)
	// Postpone claims a due row for the caller: the next look at it is at a later time. fault.Conflict when it was dealt
	// with since it was listed.
	Postpone(ctx context.Context, i Item, until time.Time) error
}

// Queue tells workers to look at a row (queue.Queue).
type Queue interface {
	Send(ctx context.Context, i Item, delay time.Duration) error
}

// Sweep deals with what is due in one table. Rows are their own timers (docs/develop/architecture.md, "Data"): running twice at
// once, or after a long pause, does no harm.
type Sweep struct {
	rows   Rows
	queue  Queue
	shards int
	now    func() time.Time
}

// NewSweep makes a Sweep over so many shards; all of it is needed.
func NewSweep(rows Rows, queue Queue, shards int, now func() time.Time) Sweep {
	return Sweep{rows: rows, queue: queue, shards: shards, now: now}
}

// Place is the place of a row among those that one run has found, from 0.
type Place struct{ Index, Total int }

// Of is the place's share of a span of time, so that what is found at once comes spread over it.
func (p Place) Of(span time.Duration) time.Duration {
	return span * time.Duration(p.Index) / time.Duration(p.Total)
}

// Run has act deal with every row that is due before a time, several at once. The rows of a shard come oldest first,
// and all shards in turn, so that a run that is cut short has served each of them. act reports whether it sent a
// message. One row's failure stops no other; the error tells the first of them, the log line counts them. A run ends by
// itself, and without an error, before the deadline of ctx.
func (s Sweep) Run(ctx context.Context, before time.Time,
	act func(ctx context.Context, i Item, place Place) (sent bool, err error),
) error {
	started := s.now()
	ctx, cancel := s.bound(ctx)
	defer cancel()
	r := run{sweep: s, oldestOf: make(map[Kind]time.Duration)}
	var group errgroup.Group
	group.SetLimit(parallel)
	items := r.list(ctx, before)
	for index, i := range items {
		if r.late(ctx) {
			break
		}
		overdue := started.Sub(i.At)
		r.oldest, r.oldestOf[i.Kind] = max(r.oldest, overdue), max(r.oldestOf[i.Kind], overdue)
		group.Go(func() error {
			sent, err := act(ctx, i, Place{index, len(items)})
			if r.done(sent, err) {
				tell(ctx, i, err)
			}
			return nil
		})
	}
	_ = group.Wait() // the failures are the run's own
	logx.Add(ctx, slog.Int("sent", r.sent), slog.Int("failed", r.failed),
		slog.Int64("oldest_ms", r.oldest.Milliseconds()), slog.Bool("cut_short", r.cutShort))
	for _, kind := range slices.Sorted(maps.Keys(r.oldestOf)) {
		logx.Measure(ctx, metric.Seconds(metric.OverdueSeconds, string(kind), r.oldestOf[kind]))
	}
	return errors.Join(r.failures...)
}

// Send claims a row until a later time and tells its worker of it. A row that somebody else has claimed or dealt with
// is left, and one that is claimed but was not sent is due again at that time.
func (s Sweep) Send(ctx context.Context, i Item, until time.Time, delay time.Duration) (sent bool, err error) {
	err = s.rows.Postpone(ctx, i, until)
	if errors.Is(err, fault.Conflict) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("postpone: %w", err)
	}
	if err := s.queue.Send(ctx, i, delay); err != nil {
		return false, fmt.Errorf("send: %w", err)
	}
	return true, nil
}

// bound ends ctx a little before its deadline.
func (s Sweep) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-abandon))
}

// run is one run of a Sweep.
type run struct {
	sweep    Sweep
	oldest   time.Duration          // how late the row is that has been due for longest
	oldestOf map[Kind]time.Duration // the same by kind of row
	cutShort bool

	mu       sync.Mutex // of what follows
	sent     int
	failed   int
	failures []error // the first of them
}

// late reports that no more may be begun, and remembers it.
func (r *run) late(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	r.cutShort = r.cutShort || ok && deadline.Sub(r.sweep.now()) < reserve-abandon
	return r.cutShort
}

// list finds what is due: of every shard one row in turn.
func (r *run) list(ctx context.Context, before time.Time) []Item {
	var group errgroup.Group
	group.SetLimit(parallel)
	found := make([][]Item, r.sweep.shards)
	for shard := range found {
		if r.late(ctx) {
			break
		}
		group.Go(func() error {
			items, err := r.sweep.rows.Due(ctx, shard, before)
			if err != nil {
				r.done(false, fmt.Errorf("shard %d: %w", shard, err))
			}
			found[shard] = items
			return nil
		})
	}
	_ = group.Wait()
	var all []Item
	for position, more := 0, true; more; position++ {
		more = false
		for _, items := range found {
			if position < len(items) {
				all, more = append(all, items[position]), true
			}
		}
	}
	return all
}

// tell writes a log line about a row that could not be dealt with.
func tell(ctx context.Context, i Item, err error) {
	line := append(i.LogAttrs(), logx.Failed(), slog.Any("cause", err))
	logx.Note(ctx, "sweep.row", append(line, logx.Spot(fault.SpotOf(err))...)...)
}

// done counts what came of a row or a shard, and reports whether its failure is one of the first.
func (r *run) done(sent bool, err error) (isTold bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sent {
		r.sent++
	}
	if err == nil {
		return false
	}
	r.failed++
	if len(r.failures) == toldFailures {
		return false
	}
	r.failures = append(r.failures, err)
	return true
}
