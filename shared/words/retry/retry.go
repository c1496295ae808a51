// Package retry repeats operations that lost against other writers. It bounds the tries, so that a caller always gets
// a result.
package retry

import (
	"context"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
)

// Tries is the usual bound. Few writers share a row, and each try begins with what the winner of the last one stored.
const Tries = 6

// OnConflict calls try until it returns something other than a lost compare-and-swap (fault.IsStale), and returns
// that, or the last conflict after the given number of tries. It does not wait: try reads again what it writes.
func OnConflict(ctx context.Context, tries int, try func() error) error {
	return Policy{Tries: tries, Again: fault.IsStale, Pause: 0, Random: nil}.Do(ctx, try)
}

// Policy decides which errors of an operation are followed by another try, and when.
type Policy struct {
	Tries  int              // the most calls, at least one
	Again  func(error) bool // reports whether another try can succeed
	Pause  time.Duration    // before the second try; each further pause is twice as long
	Random func() float64   // spreads pauses between half and all of their length, if set; returns a number in [0, 1)
}

// Do calls try under the policy and returns its last error, or the context's if that ends before another try.
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
