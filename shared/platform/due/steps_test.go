package due_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
)

// journey is a row with five steps that waits for an hour after the third step.
type journey struct {
	rev   int
	steps int
	dueAt time.Time
}

const journeyEnds = 5

type journeys struct {
	stored journey
	now    time.Time
	took   time.Duration // duration of each step
	err    error
}

func (j *journeys) steps() due.Steps[journey] {
	return due.Steps[journey]{
		DueAt:  func(row *journey) *time.Time { return &row.dueAt },
		IsOpen: func(row *journey) bool { return row.steps < journeyEnds },
		Save: func(_ context.Context, row *journey) error {
			if row.rev != j.stored.rev {
				return fault.Stale()
			}
			row.rev++
			j.stored = *row
			return nil
		},
		Step: func(_ context.Context, row *journey) (time.Duration, error) {
			j.now = j.now.Add(j.took)
			if j.err != nil {
				return 0, j.err
			}
			row.steps++
			if row.steps == 3 {
				return time.Hour, nil
			}
			return 0, nil
		},
		Margin: 30 * time.Second, Now: func() time.Time { return j.now },
	}
}

// run starts a run with a version of the row and a time limit.
func (j *journeys) run(t *testing.T, row journey, within time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithDeadline(t.Context(), j.now.Add(within))
	defer cancel()
	return j.steps().Run(ctx, &row)
}

func TestStepsRunUnderLeaseUntilOneWaits(t *testing.T) {
	t.Parallel()
	j := &journeys{now: time.Now(), took: time.Second}
	want := func(when string, steps int, dueIn time.Duration) {
		t.Helper()
		if j.stored.steps != steps || !j.stored.dueAt.Equal(j.now.Add(dueIn)) {
			t.Errorf("%s: %d steps, due in %v; want %d, %v",
				when, j.stored.steps, j.stored.dueAt.Sub(j.now), steps, dueIn)
		}
	}
	read := j.stored
	if err := errors.Join(j.run(t, read, time.Minute), j.run(t, read, time.Minute)); err != nil {
		t.Errorf("of two runs of one row: %v", err)
	}
	want("of two that have read the same, one takes steps", 3, time.Hour)
	if err := j.run(t, j.stored, time.Minute); err != nil || j.stored.steps != 3 {
		t.Errorf("before it is due: %v, %d steps", err, j.stored.steps)
	}
	j.now = j.now.Add(time.Hour)
	j.err = errors.New("no answer")
	if err := j.run(t, j.stored, time.Minute); !errors.Is(err, j.err) {
		t.Errorf("a failure: %v", err)
	}
	want("after a failure nobody has it for a while", 3, 6*time.Minute-time.Second)
	j.now = j.now.Add(6 * time.Minute)
	j.err = nil
	if err := j.run(t, j.stored, 30*time.Second+time.Millisecond); err != nil {
		t.Errorf("a short run: %v", err)
	}
	want("a run that is nearly over leaves it to the next", 4, time.Nanosecond)
	j.now = j.now.Add(time.Nanosecond)
	if err := j.run(t, j.stored, time.Minute); err != nil || j.stored.steps != journeyEnds {
		t.Errorf("the last run: %v, %d steps", err, j.stored.steps)
	}
}
