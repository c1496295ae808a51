package due

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/words/fault"
)

// stepsLease is a run's lease on its row. It is longer than a function's time-out.
const stepsLease = 6 * time.Minute

// Steps advances a row through steps that may need several runs. Only one run at a time holds the row. Its due time
// serves as the lease and its revision as the fence, because a run that takes the lease saves a newer revision. Steps
// that a run did not finish are repeated by the next one. All fields are required.
type Steps[R any] struct {
	DueAt  func(*R) *time.Time
	IsOpen func(*R) bool
	// Save stores the row if its revision is unchanged, and increments the revision; otherwise it returns fault.Conflict.
	Save func(context.Context, *R) error
	// Step performs one repeatable step and returns the delay before the next one.
	Step   func(context.Context, *R) (time.Duration, error)
	Margin time.Duration // minimum remaining time of a run to begin another step
	Now    func() time.Time
}

// Run performs the row's steps until one has to wait or the run's time is nearly over. It does nothing if the row is
// not due or another run holds it.
func (s Steps[R]) Run(ctx context.Context, row *R) error {
	at := s.DueAt(row)
	if !s.IsOpen(row) || at.After(s.Now()) {
		return nil // the index was out of date
	}
	*at = s.Now().Add(stepsLease)
	if err := s.Save(ctx, row); err != nil {
		if errors.Is(err, fault.Conflict) {
			return nil
		}
		return err
	}
	for s.IsOpen(row) {
		wait, err := s.Step(ctx, row)
		if err != nil {
			return err
		}
		if wait == 0 && s.IsLate(ctx) {
			wait = time.Nanosecond // due as soon as possible
		}
		if wait > 0 {
			*at = s.Now().Add(wait)
		}
		if err = s.Save(ctx, row); err != nil || wait > 0 {
			return err
		}
	}
	return nil
}

// IsLate reports whether the run's time is nearly over.
func (s Steps[R]) IsLate(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Sub(s.Now()) < s.Margin
}
