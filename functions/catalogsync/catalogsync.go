// Package catalogsync implements a Lambda function that runs every 15 minutes. The function fetches published lists of
// institutions when they are due, and publishes a mode's catalogue if its contents have changed. The function does
// nothing until an operator configures sources. The function can't be invoked externally. Concurrent runs and long
// intervals between runs are harmless (docs/adr/0023-the-catalogue.md).
package catalogsync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

const (
	// forOne is the time limit for fetching one list. The largest list takes less than five minutes to fetch.
	forOne = 8 * time.Minute
	// forPublishing is the time reserved for publishing within each run's time limit.
	forPublishing = 4 * time.Minute
)

// Publisher builds a mode's catalogue from all accepted lists and makes it searchable. publish.Publisher implements
// this interface. Publish returns fault.Conflict if the mode is already being published. Publish does not return an
// error if the publication awaits an operator's approval.
type Publisher interface {
	Publish(ctx context.Context, mode string) error
	// AskedAt returns the time at which the mode's publication started to wait for an operator's approval, or the zero
	// time if none is waiting.
	AskedAt(ctx context.Context, mode string) (time.Time, error)
}

// New returns the scheduled function's handler.
func New(lists intake.Intake, publisher Publisher) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error {
		r := run{lists: lists, publisher: publisher, outcomes: make(map[intake.Outcome]int)}
		return r.all(ctx)
	}
}

type run struct {
	lists     intake.Intake
	publisher Publisher
	outcomes  map[intake.Outcome]int
	failures  []error
	published []string
	isShort   bool
}

func (r *run) all(ctx context.Context) error {
	rows, err := r.lists.Rows.Sources(ctx)
	if err != nil {
		return fmt.Errorf("read sources: %w", err)
	}
	due := intake.Due(rows, r.lists.Now())
	for i, row := range due {
		if !r.hasTime(ctx, forPublishing) {
			r.isShort = true
			logx.Add(ctx, slog.Int("left", len(due)-i))
			break
		}
		at := slices.IndexFunc(rows, func(other intake.Row) bool { return other.Source.ID == row.Source.ID })
		rows[at] = r.refresh(ctx, row)
	}
	for _, mode := range []string{"live", "test"} {
		r.publish(ctx, mode, rows)
	}
	r.measureApprovalWait(ctx, rows)
	logx.Add(ctx, slog.Int("sources", len(rows)), slog.Int("due", len(due)), slog.Any("published", r.published),
		slog.Bool("cut_short", r.isShort))
	for outcome, n := range r.outcomes {
		logx.Add(ctx, slog.Int(string(outcome), n))
	}
	return errors.Join(r.failures...)
}

func (r *run) hasTime(ctx context.Context, more time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || deadline.Sub(r.lists.Now()) > more
}

// refresh fetches one source and records the outcome. A failed fetch doesn't stop the run.
func (r *run) refresh(ctx context.Context, row intake.Row) intake.Row {
	started := r.lists.Now()
	limited, cancel := context.WithTimeout(ctx, forOne)
	defer cancel()
	// A fetch cut short by the run's deadline does not count as failed. The next run begins with the source whose fetch
	// was interrupted.
	if deadline, ok := ctx.Deadline(); ok {
		defer time.AfterFunc(deadline.Sub(started)-forPublishing, cancel).Stop()
	}
	next, outcome, err := r.lists.Refresh(limited, row)
	// A conflict means that an operator changed the source during the fetch; the next fetch will use the changed
	// source.
	if errors.Is(err, fault.Conflict) {
		return row
	}
	if errors.Is(err, context.Canceled) {
		r.isShort = true
		return row
	}
	attrs := []slog.Attr{
		slog.String("source", row.Source.ID), slog.String("outcome", string(outcome)),
		slog.Int64("ms", r.lists.Now().Sub(started).Milliseconds()),
	}
	if err != nil {
		r.failures = append(r.failures, fmt.Errorf("source %s: %w", row.Source.ID, err))
		logx.Note(ctx, "catalogsync.source", append(attrs, logx.Failed(), slog.Any("cause", err))...)
		return row
	}
	r.outcomes[outcome]++
	logx.Measure(ctx, metric.Count(metric.Lists, string(outcome)))
	logx.Note(ctx, "catalogsync.source", append(attrs, sourceAttrs(next.State, outcome)...)...)
	return next
}

// sourceAttrs returns the attributes of a source's log line, except the outcome. The attributes contain only predefined
// words and numbers, never names.
func sourceAttrs(state intake.State, outcome intake.Outcome) []slog.Attr {
	version := state.Accepted
	switch outcome {
	case intake.Failed:
		return []slog.Attr{
			slog.String("reason", string(state.Reason)), slog.Int("failures", state.Failures),
			slog.Time("due", state.Due),
		}
	case intake.Waiting:
		version = state.Pending
	case intake.Accepted, intake.Unchanged:
	}
	d := version.Diff
	return []slog.Attr{
		slog.Int("listings", d.After), slog.Int("added", d.Added.Count), slog.Int("removed", d.Removed.Count),
		slog.Int("changed", d.Changed.Count),
		slog.Int("unreadable", version.Report.Unreadable()), slog.Any("guards", state.Guards),
	}
}

// publish publishes a mode's catalogue if it is due, and then marks the mode's sources as published.
func (r *run) publish(ctx context.Context, mode string, rows []intake.Row) {
	fresh := slices.DeleteFunc(slices.Clone(rows),
		func(row intake.Row) bool { return row.Source.Mode != mode || !row.State.Unpublished })
	if len(fresh) == 0 {
		return
	}
	err := r.publisher.Publish(ctx, mode)
	// A conflict means that an operator is already publishing this catalogue, perhaps without the latest change. The
	// next run therefore checks again whether the catalogue must be published.
	if errors.Is(err, fault.Conflict) {
		return
	}
	if err != nil {
		r.failures = append(r.failures, fmt.Errorf("publish %s: %w", mode, err))
		return
	}
	r.published = append(r.published, mode)
	for _, row := range fresh {
		if err := r.lists.Published(ctx, row); err != nil && !errors.Is(err, fault.Conflict) {
			r.failures = append(r.failures, fmt.Errorf("source %s: %w", row.Source.ID, err))
		}
	}
}

// measureApprovalWait measures how long the oldest list or publication has been waiting for an operator's approval. An
// alarm reports a list or publication that has waited too long (docs/operate/runbooks/catalogue-waits.md).
func (r *run) measureApprovalWait(ctx context.Context, rows []intake.Row) {
	now := r.lists.Now()
	first := now
	note := func(since time.Time) {
		if !since.IsZero() && since.Before(first) {
			first = since
		}
	}
	for _, row := range rows {
		if row.State.Pending != nil {
			note(row.State.Pending.ReadAt)
		}
	}
	for _, mode := range []string{"live", "test"} {
		asked, err := r.publisher.AskedAt(ctx, mode)
		if err != nil {
			r.failures = append(r.failures, fmt.Errorf("what waits in %s: %w", mode, err))
		}
		note(asked)
	}
	logx.Measure(ctx, metric.Seconds(metric.ApprovalSeconds, "", now.Sub(first)))
}
