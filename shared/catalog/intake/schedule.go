package intake

import (
	"context"
	"fmt"
	"time"
)

// Retry intervals. A source that can't be read is retried after firstRetry, and then at increasing intervals up to
// lastRetry.
const (
	firstRetry = 15 * time.Minute
	lastRetry  = 24 * time.Hour
	jitter     = 0.1 // relative jitter for every delay, so that sources created together are fetched at different times
)

// done completes a read that has confirmed the accepted version.
func (i Intake) done(ctx context.Context, row Row, outcome Outcome) (Row, Outcome, error) {
	row.State.Due = i.after(row.Source.Every)
	return i.end(ctx, row, outcome)
}

// wait completes a read whose list awaits approval. wait does not confirm the accepted version.
func (i Intake) wait(ctx context.Context, row Row) (Row, Outcome, error) {
	row.State.Failures, row.State.Reason = 0, ""
	row.State.doubt(i.Now())
	row.State.Due = i.after(row.Source.Every)
	return i.end(ctx, row, Waiting)
}

// failed completes a read that did not produce a usable list.
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

// doubt records when the accepted version became unconfirmed. The change must be published because patients see when
// the version became unconfirmed.
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

// Published clears the row's Unpublished flag after a publication has included the row's version. It returns
// fault.Conflict if the row has changed.
func (i Intake) Published(ctx context.Context, row Row) error {
	row.State.Unpublished = false
	_, err := i.save(ctx, row)
	return err
}
