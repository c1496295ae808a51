// Package retry repeats operations that lost a compare-and-swap. The number of attempts is limited so that every call
// terminates.
package retry

import (
	"context"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
)

// Tries is the default number of attempts. Few writers share a row, and each attempt starts from the latest stored
// state.
const Tries = 6

// OnConflict calls try until the result is no longer a lost compare-and-swap (fault.IsStale), but at most the given
// number of times. OnConflict returns the last result and does not wait between attempts. try must read the row again
// before each write.
func OnConflict(ctx context.Context, tries int, try func() error) error {
	return Policy{Tries: tries, Again: fault.IsStale, Pause: 0, Most: 0, Random: nil}.Do(ctx, try)
}

// Policy determines which errors are retried, how often and after what delay.
type Policy struct {
	Tries  int              // maximum number of calls, at least one
	Again  func(error) bool // reports whether another attempt can succeed
	Pause  time.Duration    // delay before the second try; doubles for each further try
	Most   time.Duration    // longest delay; zero means no limit
	Random func() float64   // a number in [0, 1) that scales delays from half to full length; nil means no jitter
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
		if p.Most > 0 {
			pause = min(pause, p.Most)
		}
	}
}

func (p Policy) spread(pause time.Duration) time.Duration {
	if p.Random == nil {
		return pause
	}
	return pause/2 + time.Duration(p.Random()*float64(pause/2))
}
