package refresh

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/retry"
)

const (
	// tripAfter is the number of consecutive failures that open the breaker. The breaker's first open period lasts
	// openFirst. The open period doubles each time, up to openLongest.
	tripAfter   = 5
	openFirst   = time.Minute
	openLongest = 30 * time.Minute
	// probeFor limits the duration of a probe call. Once probeFor has passed, the next probe is admitted.
	probeFor = time.Minute
)

// breaker reads the endpoint's breaker for scheduled work. It returns *BusyError if the breaker is open or can't be
// read.
func (l Limiter) breaker(ctx context.Context, endpoint string) (Breaker, error) {
	ctx, cancel := context.WithTimeout(ctx, stateWithin)
	defer cancel()
	b, err := l.state.Breaker(ctx, endpoint)
	if err != nil {
		return Breaker{}, l.busy(err)
	}
	if b.Tripped() && l.now().Before(b.OpenUntil) {
		return Breaker{}, &BusyError{RetryAt: b.OpenUntil}
	}
	return b, nil
}

// admit decides whether a call may be sent to the endpoint. Export calls are always admitted, because a patient is
// waiting. After the breaker's open period expires, a single call for scheduled work is admitted as a probe. The
// probe's outcome closes or reopens the breaker.
func (l Limiter) admit(ctx context.Context, endpoint string) (isProbe bool, err error) {
	if !l.scheduled {
		return false, nil
	}
	b, err := l.breaker(ctx, endpoint)
	if err != nil || !b.Tripped() {
		return false, err
	}
	claimed := Breaker{Failures: b.Failures, OpenUntil: l.now().Add(probeFor)}
	ctx, cancel := context.WithTimeout(ctx, stateWithin)
	defer cancel()
	if l.state.SaveBreaker(ctx, endpoint, b, claimed) != nil {
		return false, &BusyError{RetryAt: claimed.OpenUntil}
	}
	return true, nil
}

// recordBreaker updates the breaker with a call's outcome. A failure to store the breaker does not fail the call.
func (l Limiter) recordBreaker(ctx context.Context, endpoint string, isProbe bool, outcome error) {
	_ = retry.OnConflict(ctx, retry.Tries, func() error {
		seen, err := l.state.Breaker(ctx, endpoint)
		if err != nil {
			return err
		}
		next := Breaker{}
		if outcome != nil && !errors.Is(outcome, tokens.ErrRefused) {
			next = seen.failed(l.now(), isProbe, requestedWait(outcome))
		}
		if next.Failures == seen.Failures && next.OpenUntil.Equal(seen.OpenUntil) {
			return nil
		}
		return l.state.SaveBreaker(ctx, endpoint, seen, next)
	})
}

// Tripped reports whether enough consecutive failures have opened the breaker.
func (b Breaker) Tripped() bool { return b.Failures >= tripAfter }

// failed returns the breaker's state after another failure. While the breaker is open, only a probe's failure
// increments the count: all other calls either began before it opened or belong to exports.
func (b Breaker) failed(now time.Time, isProbe bool, asked time.Duration) Breaker {
	if !isProbe && b.Tripped() && now.Before(b.OpenUntil) {
		b.OpenUntil = later(b.OpenUntil, now.Add(asked))
		return b
	}
	b.Failures++
	if b.Tripped() {
		wait := min(openFirst<<min(b.Failures-tripAfter, 5), openLongest)
		b.OpenUntil = now.Add(max(wait, asked))
	}
	return b
}

// blames reports whether a failure that is not a refusal was caused by the endpoint. All other failures are internal,
// such as store or key failures.
func blames(err error) bool {
	if errors.Is(err, context.Canceled) || fault.Outage(err) {
		return false
	}
	f, ok := errors.AsType[*fault.Error](err)
	return !ok || f.Kind == fault.Upstream || f.Kind == fault.Limited
}

// requestedWait returns the delay that the endpoint requested in err, or zero if it requested none.
func requestedWait(err error) time.Duration {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return 0
	}
	return min(max(f.RetryAfter, 0), maxRequestedWait)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
