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
	// tripAfter failures in a row open the breaker for openFirst, then for twice as long each time, up to openLongest.
	tripAfter   = 5
	openFirst   = time.Minute
	openLongest = 30 * time.Minute
	// probeFor is how long the first call after that may take until another one is made.
	probeFor = time.Minute
)

// breaker reads the breaker for scheduled work; *BusyError while it is open or cannot be read.
func (l Limiter) breaker(ctx context.Context, endpoint string) (Breaker, error) {
	ctx, cancel := context.WithTimeout(ctx, stateWithin)
	defer cancel()
	b, err := l.state.Breaker(ctx, endpoint)
	if err != nil {
		return Breaker{}, l.busy()
	}
	if b.Tripped() && l.now().Before(b.OpenUntil) {
		return Breaker{}, &BusyError{RetryAt: b.OpenUntil}
	}
	return b, nil
}

// admit lets a call through to the endpoint. Exports always pass: a patient waits. Of scheduled work one call passes
// when the breaker's time is over, and tells by its outcome how to go on.
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

// recordBreaker brings the outcome of a call into the breaker. A failure to store it is no failure of the call.
func (l Limiter) recordBreaker(ctx context.Context, endpoint string, isProbe bool, outcome error) {
	_ = retry.OnConflict(ctx, retry.Tries, func() error {
		seen, err := l.state.Breaker(ctx, endpoint)
		if err != nil {
			return err
		}
		next := Breaker{}
		if outcome != nil && !errors.Is(outcome, tokens.ErrRefused) {
			next = seen.failed(l.now(), isProbe, askedWait(outcome))
		}
		if next.Failures == seen.Failures && next.OpenUntil.Equal(seen.OpenUntil) {
			return nil
		}
		return l.state.SaveBreaker(ctx, endpoint, seen, next)
	})
}

// Tripped reports that the endpoint has failed several times in a row.
func (b Breaker) Tripped() bool { return b.Failures >= tripAfter }

// failed is the breaker after one more failure. While it is open, only a probe's failure tells something new: the other
// calls began before it opened, or are exports.
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

// blames reports whether a failure that is no refusal is the endpoint's. Faults of other kinds than those of the other
// side are our own: of our store, or of our keys.
func blames(err error) bool {
	if errors.Is(err, context.Canceled) {
		return false
	}
	f, ok := errors.AsType[*fault.Error](err)
	return !ok || f.Kind == fault.Upstream || f.Kind == fault.Limited
}

// askedWait is how long the endpoint asked to wait; zero when it did not.
func askedWait(err error) time.Duration {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return 0
	}
	return min(max(f.RetryAfter, 0), longestAsked)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
