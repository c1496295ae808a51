package due

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/words/fault"
)

// stepsLease is the lease of a run on its row, longer than the timeout of a function.
const stepsLease = 6 * time.Minute

// Steps takes a row through steps that may need many runs. One run at a time has the row: its time to be due is that
// run's lease, and its revision the fence, since whoever takes the lease saves a newer one. What a run has left, the
// next one repeats. All fields are needed.
type Steps[R any] struct {
	DueAt  func(*R) *time.Time
	IsOpen func(*R) bool
	// Save stores the row over the revision that was read, and counts that; fault.Conflict.
	Save func(context.Context, *R) error
	// Step takes a step, which may happen again, and returns how long the next one has to wait.
	Step   func(context.Context, *R) (time.Duration, error)
	Margin time.Duration // what is left of a run's time when it begins no further step
	Now    func() time.Time
}

// Run takes the row's steps until one has to wait, or the run's time is nearly over. It does nothing if the row is
// not due, or another run has it.
func (s Steps[R]) Run(ctx context.Context, row *R) error {
	at := s.DueAt(row)
	if !s.IsOpen(row) || at.After(s.Now()) {
		return nil // the index was behind
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
			wait = time.Nanosecond // as soon as the next run comes
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
