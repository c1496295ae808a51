package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/retry"
)

// failing returns an operation that first returns the given errors in order and then succeeds. Each call increments
// *calls.
func failing(calls *int, failures ...error) func() error {
	return func() error {
		*calls++
		if *calls <= len(failures) {
			return failures[*calls-1]
		}
		return nil
	}
}

func TestOnConflictReturnsOtherErrorsWithoutRetry(t *testing.T) {
	t.Parallel()
	first, last := fault.Stale().Because(errors.New("first")), fault.Stale().Because(errors.New("last"))
	refused := fault.New(fault.Conflict, fault.CodeConflict, "There are too many.")
	other := errors.New("no route to the database")
	tests := []struct {
		name     string
		failures []error
		calls    int
		want     error
	}{
		{"success", nil, 1, nil},
		{"success after conflicts", []error{first, fmt.Errorf("save: %w", first), fault.Conflict}, 4, nil},
		{"last conflict when tries are used up", []error{first, first, first, last, nil}, 4, last},
		{"refusal", []error{refused}, 1, refused},
		{"refusal caused by a conflict", []error{fault.BadRequest("It is used.").Because(first)}, 1, fault.Invalid},
		{"other failure after a conflict", []error{first, other}, 2, other},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			err := retry.OnConflict(t.Context(), 4, failing(&calls, test.failures...))
			if !errors.Is(err, test.want) || calls != test.calls {
				t.Errorf("error = %v after %d calls, want %v after %d", err, calls, test.want, test.calls)
			}
		})
	}
}

func TestOnConflictStopsWhenContextIsDone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := retry.OnConflict(ctx, retry.Tries, func() error {
		calls++
		cancel()
		return fault.Stale()
	})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("error = %v after %d calls, want context.Canceled after 1", err, calls)
	}
}

func TestPolicyDoublesAndJittersPauses(t *testing.T) {
	t.Parallel()
	failure := errors.New("busy")
	tests := []struct {
		name   string
		random func() float64
		want   time.Duration
	}{
		{"without jitter", nil, 70 * time.Millisecond},
		{"shortest", func() float64 { return 0 }, 35 * time.Millisecond},
		{"middle", func() float64 { return 0.5 }, 52500 * time.Microsecond},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, calls := time.Now(), 0
				p := retry.Policy{
					Tries: 4, Again: func(error) bool { return true }, Pause: 10 * time.Millisecond, Random: test.random,
				}
				err := p.Do(t.Context(), failing(&calls, failure, failure, failure, failure))
				if !errors.Is(err, failure) || calls != 4 || time.Since(began) != test.want {
					t.Errorf("error = %v after %d calls in %v, want %v after 4 in %v",
						err, calls, time.Since(began), failure, test.want)
				}
			})
		})
	}
}

func TestPolicyStopsWhenContextIsDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began, calls := time.Now(), 0
		p := retry.Policy{Tries: 3, Again: func(error) bool { return true }, Pause: time.Hour}
		err := p.Do(ctx, failing(&calls, errors.New("busy")))
		if !errors.Is(err, context.DeadlineExceeded) || calls != 1 || time.Since(began) != time.Second {
			t.Errorf("error = %v after %d calls in %v", err, calls, time.Since(began))
		}
	})
}

func TestPolicyLimitsPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := retry.Policy{Tries: 6, Again: func(error) bool { return true }, Pause: time.Second, Most: 2 * time.Second}
		if err := p.Do(t.Context(), func() error { return errors.ErrUnsupported }); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != 9*time.Second { // 1 + 2 + 2 + 2 + 2
			t.Errorf("it took %v", took)
		}
	})
}
