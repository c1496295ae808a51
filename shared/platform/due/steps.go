package due

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/words/fault"
)

// stepsLease is the duration of a run's lease on its row. The lease lasts longer than the function's timeout.
const stepsLease = 6 * time.Minute

// Steps advances a row through steps that may take several runs. Only one run at a time leases the row. The row's due
// time serves as the lease. The row's revision is the fencing token, because taking the lease increments the revision.
// If a run does not finish a step, the next run repeats the step. All fields are required.
type Steps[R any] struct {
	DueAt  func(*R) *time.Time
	IsOpen func(*R) bool
	// Save stores the row and increments the row's revision. If the stored revision has changed, Save returns
	// fault.Conflict.
	Save func(context.Context, *R) error
	// Step performs the row's next step and returns the delay before the following step. The step must be repeatable.
	Step   func(context.Context, *R) (time.Duration, error)
	Margin time.Duration // minimum time that a run must have left to begin another step
	Now    func() time.Time
}

// Run performs the row's steps until a step has to wait or the run is nearly out of time. Run does nothing if the row
// is not due or is leased by another run.
func (s Steps[R]) Run(ctx context.Context, row *R) error {
	at := s.DueAt(row)
	if !s.IsOpen(row) || at.After(s.Now()) {
		return nil // the index was stale
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

// IsLate reports whether the run is nearly out of time.
func (s Steps[R]) IsLate(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Sub(s.Now()) < s.Margin
}
