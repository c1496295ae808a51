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
	// parallel is both the number of shards read concurrently and the number of rows processed concurrently.
	parallel = 8
	// reserve is the final period of a run, during which rows in progress can finish but no further rows start. The
	// remaining rows are due in the next run, a minute later.
	reserve = 5 * time.Second
	// abandon is the time before the deadline at which unfinished rows are cancelled, so that the run ends even if a
	// call hangs.
	abandon = time.Second
	// maxReported is the maximum number of failures listed in a run's error. The log line counts all failures.
	maxReported = 10
)

// Rows lists and claims due rows; store.Timers implements it.
type Rows interface {
	// Due returns a shard's rows that are due before a given time, oldest first.
	Due(ctx context.Context, shard int, before time.Time) ([]Item, error)
	// Postpone claims a due row by moving its due time to until. It returns fault.Conflict if the row has been handled
	// since it was listed.
	Postpone(ctx context.Context, i Item, until time.Time) error
}

// Queue sends messages about rows to workers; types in package queue implement it.
type Queue interface {
	Send(ctx context.Context, i Item, delay time.Duration) error
}

// Sweep processes a table's due rows. Each row stores its own due time (docs/develop/architecture.md, "Data"), so runs
// may overlap or be far apart.
type Sweep struct {
	rows   Rows
	queue  Queue
	shards int
	now    func() time.Time
}

// NewSweep returns a Sweep of a table with the given number of shards. All arguments are required.
func NewSweep(rows Rows, queue Queue, shards int, now func() time.Time) Sweep {
	return Sweep{rows: rows, queue: queue, shards: shards, now: now}
}

// Position is a row's zero-based index within a run.
type Position struct{ Index, Total int }

// Of returns the offset within span that corresponds to the position, so that a run's rows are spread over the span.
func (p Position) Of(span time.Duration) time.Duration {
	return span * time.Duration(p.Index) / time.Duration(p.Total)
}

// Run calls act, concurrently, for every row that is due before a given time. Each shard's rows are processed oldest
// first. The shards are interleaved, so a run that is cut short has processed some rows of every shard. act reports
// whether it sent a message. If processing one row fails, the other rows are still processed. The error lists the first
// failures, and the log line counts all of them. Run returns before ctx's deadline. A deadline that cuts the run short
// is not an error.
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
	_ = group.Wait() // the error is ignored, because failures are recorded in the run
	logx.Add(ctx, slog.Int("sent", r.sent), slog.Int("failed", r.failed),
		slog.Int64("oldest_ms", r.oldest.Milliseconds()), slog.Bool("cut_short", r.cutShort))
	for _, kind := range slices.Sorted(maps.Keys(r.oldestOf)) {
		logx.Measure(ctx, metric.Seconds(metric.OverdueSeconds, string(kind), r.oldestOf[kind]))
	}
	return errors.Join(r.failures...)
}

// Send claims a row until a later time and sends a message to the row's worker. Send skips a row that another process
// has claimed or handled. If the queue's service failed, the row is due again in the next run. After any other failure,
// the row is due again at the time until.
func (s Sweep) Send(ctx context.Context, i Item, until time.Time, delay time.Duration) (sent bool, err error) {
	err = s.rows.Postpone(ctx, i, until)
	if errors.Is(err, fault.Conflict) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("postpone: %w", err)
	}
	if err := s.queue.Send(ctx, i, delay); err != nil {
		if claimed := i; fault.Outage(err) {
			claimed.At = until
			_ = s.rows.Postpone(ctx, claimed, i.At) // if this fails, the row is due again at the time until
		}
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

// run holds the state of one run of a Sweep.
type run struct {
	sweep    Sweep
	oldest   time.Duration          // delay of the most overdue row
	oldestOf map[Kind]time.Duration // delay of the most overdue row of each kind
	cutShort bool

	mu       sync.Mutex // guards the fields below
	sent     int
	failed   int
	failures []error // the first failures, up to maxReported
}

// late reports whether too little time is left to begin another row and, if so, marks the run as cut short.
func (r *run) late(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	r.cutShort = r.cutShort || ok && deadline.Sub(r.sweep.now()) < reserve-abandon
	return r.cutShort
}

// list returns the due rows, alternating between shards.
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

// logFailure logs that a row could not be processed.
func logFailure(ctx context.Context, i Item, err error) {
	line := append(i.LogAttrs(), logx.Failed(), slog.Any("cause", err))
	logx.Note(ctx, "sweep.row", append(line, logx.Spot(fault.SpotOf(err))...)...)
}

// done records the result for a row or shard. It reports whether to log the result individually, which applies only to
// the first failures.
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
