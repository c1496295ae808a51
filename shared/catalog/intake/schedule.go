package intake

import (
	"context"
	"fmt"
	"time"
)

// A source that cannot be read is asked again soon, then ever more seldom.
const (
	firstRetry = 15 * time.Minute
	lastRetry  = 24 * time.Hour
	jitter     = 0.1 // of every wait, to either side, so that sources that were set together do not stay together
)

// done ends a reading that has confirmed what is accepted.
func (i Intake) done(ctx context.Context, row Row, outcome Outcome) (Row, Outcome, error) {
	row.State.Due = i.after(row.Source.Every)
	return i.end(ctx, row, outcome)
}

// wait ends a reading whose list waits for approval. What is accepted is not confirmed by it.
func (i Intake) wait(ctx context.Context, row Row) (Row, Outcome, error) {
	row.State.Failures, row.State.Reason = 0, ""
	row.State.doubt(i.Now())
	row.State.Due = i.after(row.Source.Every)
	return i.end(ctx, row, Waiting)
}

// failed ends a reading that has brought nothing.
func (i Intake) failed(ctx context.Context, row Row, reason Reason) (Row, Outcome, error) {
	row.State.Failures++
	row.State.Reason = reason
	row.State.doubt(i.Now())
	again := firstRetry
	for n := 1; n < row.State.Failures && again < lastRetry; n++ {
		again *= 2
	}
	row.State.Due = i.after(min(again, lastRetry))
	return i.end(ctx, row, Failed)
}

// doubt notes since when what is accepted is not confirmed. Patients see it, so that it is published.
func (s *State) doubt(now time.Time) {
	if s.Accepted != nil && s.UnconfirmedSince.IsZero() {
		s.UnconfirmedSince, s.Unpublished = now.UTC(), true
	}
}

func (i Intake) after(wait time.Duration) time.Time {
	return i.Now().UTC().Add(time.Duration(float64(wait) * (1 - jitter + 2*jitter*i.Random())))
}

func (i Intake) end(ctx context.Context, row Row, outcome Outcome) (Row, Outcome, error) {
	row.State.CheckedAt = i.Now().UTC()
	saved, err := i.save(ctx, row)
	return saved, outcome, err
}

func (i Intake) save(ctx context.Context, row Row) (Row, error) {
	saved, err := i.Rows.SaveSource(ctx, row)
	if err != nil {
		return row, fmt.Errorf("save source: %w", err)
	}
	return saved, nil
}

// Published notes that a publication has taken in what a row says; fault.Conflict when it has changed since.
func (i Intake) Published(ctx context.Context, row Row) error {
	row.State.Unpublished = false
	_, err := i.save(ctx, row)
	return err
}
