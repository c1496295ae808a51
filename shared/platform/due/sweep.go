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
	// parallel is the number of shards that are read concurrently, and then of rows that are processed concurrently.
	parallel = 8
	// reserve is the end of a run in which no further row is begun, so that running ones can finish. Remaining rows are
	// still due a minute later.
	reserve = 5 * time.Second
	// abandon is the time before the deadline at which unfinished rows are cancelled, so that the run ends even if
	// something hangs.
	abandon = time.Second
	// maxReported limits the failures listed in a run's error; the log line counts all of them.
	maxReported = 10
)

// Rows finds rows that are due (store.Timers).
type Rows interface {
	// Due lists a shard's rows that are due before a time, oldest first.
	Due(ctx context.Context, shard int, before time.Time) ([]Item, error)
	// Postpone claims a due row for the caller by moving its due time to until. It returns fault.Conflict if the row was
	// handled since it was listed.
	Postpone(ctx context.Context, i Item, until time.Time) error
}

// Queue notifies workers of a row (queue.Queue).
type Queue interface {
	Send(ctx context.Context, i Item, delay time.Duration) error
}

// Sweep processes the due rows of one table. Rows are their own timers (docs/develop/architecture.md, "Data"), so
// running twice at once or after a long pause does no harm.
type Sweep struct {
	rows   Rows
	queue  Queue
	shards int
	now    func() time.Time
}

// NewSweep returns a Sweep over the given number of shards. All arguments are required.
func NewSweep(rows Rows, queue Queue, shards int, now func() time.Time) Sweep {
	return Sweep{rows: rows, queue: queue, shards: shards, now: now}
}

// Position is the position of a row among those that one run has found, counted from 0.
type Position struct{ Index, Total int }

// Of returns the position's share of a time span, to spread rows found together over the span.
func (p Position) Of(span time.Duration) time.Duration {
	return span * time.Duration(p.Index) / time.Duration(p.Total)
}

// Run calls act for every row that is due before a time, several concurrently. Rows of a shard are ordered oldest first
// and shards are interleaved, so that a run that is cut short has served every shard. act reports whether it sent a
// message. A failed row does not stop the others; the error lists the first failures and the log line counts all of
// them. A run ends by itself, without an error, before the deadline of ctx.
func (s Sweep) Run(ctx context.Context, before time.Time,
	act func(ctx context.Context, i Item, place Position) (sent bool, err error),
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
			sent, err := act(ctx, i, Position{index, len(items)})
			if r.done(sent, err) {
				logFailure(ctx, i, err)
			}
			return nil
		})
	}
	_ = group.Wait() // failures are recorded in the run
	logx.Add(ctx, slog.Int("sent", r.sent), slog.Int("failed", r.failed),
		slog.Int64("oldest_ms", r.oldest.Milliseconds()), slog.Bool("cut_short", r.cutShort))
	for _, kind := range slices.Sorted(maps.Keys(r.oldestOf)) {
		logx.Measure(ctx, metric.Seconds(metric.OverdueSeconds, string(kind), r.oldestOf[kind]))
	}
	return errors.Join(r.failures...)
}

// Send claims a row until a later time and sends a message about it to its worker. It skips a row that was claimed or
// handled elsewhere. A claimed row whose message was not sent is due again at until.
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

// bound returns a context that ends shortly before ctx's deadline.
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
	oldest   time.Duration          // delay of the most overdue row
	oldestOf map[Kind]time.Duration // the same, by kind of row
	cutShort bool

	mu       sync.Mutex // guards the fields below
	sent     int
	failed   int
	failures []error // the first maxReported failures
}

// late reports whether it is too late to begin another row, and records that.
func (r *run) late(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	r.cutShort = r.cutShort || ok && deadline.Sub(r.sweep.now()) < reserve-abandon
	return r.cutShort
}

// list returns the due rows, taking one row of each shard in turn.
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

// logFailure logs a row that could not be processed.
func logFailure(ctx context.Context, i Item, err error) {
	line := append(i.LogAttrs(), logx.Failed(), slog.Any("cause", err))
	logx.Note(ctx, "sweep.row", append(line, logx.Spot(fault.SpotOf(err))...)...)
}

// done records the result of a row or a shard, and reports whether its failure is among the first.
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
	if len(r.failures) == maxReported {
		return false
	}
	r.failures = append(r.failures, err)
	return true
}
