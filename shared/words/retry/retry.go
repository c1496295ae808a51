// Package retry repeats operations that lost a compare-and-swap. It limits the number of tries, so that a caller always
// gets a result.
package retry

import (
	"context"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
)

// Tries is the default limit. Few writers share a row, and each try starts from the last winner's stored state.
const Tries = 6

// OnConflict calls try until it returns anything except a lost compare-and-swap (fault.IsStale), or until the given
// number of tries. It returns the last result. It does not wait between tries: try must read the row again before it
// writes.
func OnConflict(ctx context.Context, tries int, try func() error) error {
	return Policy{Tries: tries, Again: fault.IsStale, Pause: 0, Random: nil}.Do(ctx, try)
}

// Policy decides which errors of an operation are retried, and when.
type Policy struct {
	Tries  int              // maximum number of calls, at least one
	Again  func(error) bool // reports whether another try can succeed
	Pause  time.Duration    // delay before the second try, doubled for each further try
	Random func() float64   // if set, jitters delays between half and full length; returns a number in [0, 1)
}

// Do calls try under the policy and returns its last error, or the context's error if that ends before the next try.
func (p Policy) Do(ctx context.Context, try func() error) error {
	pause := p.Pause
	for n := 1; ; n++ {
		err := try()
		if err == nil || n >= p.Tries || !p.Again(err) {
			return err
		}
		timer := time.NewTimer(p.spread(pause))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return fmt.Errorf("retry: %w", ctx.Err())
		}
		pause *= 2
	}
}

func (p Policy) spread(pause time.Duration) time.Duration {
	if p.Random == nil {
		return pause
	}
	return pause/2 + time.Duration(p.Random()*float64(pause/2))
}
