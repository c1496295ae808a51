// Package retry repeats operations that lost a compare-and-swap. The number of tries is limited, so that every call
// terminates.
package retry

import (
	"context"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
)

// Tries is the default number of tries. Few writers share a row, and each try starts from the latest stored state.
const Tries = 6

// OnConflict calls try until the result is no longer a lost compare-and-swap (fault.IsStale), but at most the given
// number of times. OnConflict returns the last result, and does not wait between tries. try must read the row again
// before each write.
func OnConflict(ctx context.Context, tries int, try func() error) error {
	return Policy{Tries: tries, Again: fault.IsStale, Pause: 0, Random: nil}.Do(ctx, try)
}

// Policy determines which errors are retried, how often, and after which delay.
type Policy struct {
	Tries  int              // maximum number of calls, at least one
	Again  func(error) bool // reports whether another try can succeed
	Pause  time.Duration    // delay before the second try; doubles for each further try
	Random func() float64   // if not nil, jitters delays between half and full length; returns a number in [0, 1)
}

// Do calls try according to the policy and returns its last error. If ctx ends during a delay, Do returns the context's
// error.
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
