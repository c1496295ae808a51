package due

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/words/fault"
)

// stepsLease is the duration of a run's lease on its row. The lease is longer than the function's timeout.
const stepsLease = 6 * time.Minute

// Steps advances a row through steps that may take several runs. Only one run at a time leases the row. The row's due
// time serves as the lease. Its revision, which is incremented when the lease is taken, serves as the fencing token. An
// unfinished step is repeated by the next run. All fields are required.
type Steps[R any] struct {
	DueAt  func(*R) *time.Time
	IsOpen func(*R) bool
	// Save stores the row and increments its revision. It returns fault.Conflict if the stored revision has changed.
	Save func(context.Context, *R) error
	// Step performs the row's next step and returns the delay before the following step. The step must be safe to
	// repeat.
	Step   func(context.Context, *R) (time.Duration, error)
	Margin time.Duration // minimum time that a run must have left to begin another step
	Now    func() time.Time
}

// Run performs the row's steps until a step must wait or the run has little time left. It does nothing if the row is
// not due or if another run has leased it.
func (s Steps[R]) Run(ctx context.Context, row *R) error {
	at := s.DueAt(row)
	if !s.IsOpen(row) || at.After(s.Now()) {
		return nil // the index of due rows was out of date
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
			wait = time.Nanosecond // due immediately
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

// IsLate reports whether the run has little time left.
func (s Steps[R]) IsLate(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Sub(s.Now()) < s.Margin
}
