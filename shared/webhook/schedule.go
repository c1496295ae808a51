package webhook

import "time"

// delays returns the delay before each attempt, measured from the previous attempt. The delays add up to 75 h 35 min
// (docs/reference/deviations.md, Webhooks).
func delays() [10]time.Duration {
	return [10]time.Duration{
		0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
		5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}

const (
	// spread is the maximum jitter in either direction, as a fraction of the delay. Jitter prevents failed attempts
	// from being retried all at once.
	spread = 0.2
	// restFor is the minimum pause before the next attempt if a receiver is overloaded or slow (Standard Webhooks 1.0).
	restFor = time.Minute
	// mostAsked limits the delay that a receiver may request, as a multiple of the scheduled delay
	// (docs/reference/deviations.md, Webhooks).
	mostAsked = 2
)

// nextDelay returns the delay between a response received at now and attempt number next. jitter, in [0, 1), spreads
// the delay. ok is false after the last attempt. A Retry-After between one and two times the scheduled delay is
// returned unchanged.
func nextDelay(next int, answer Answer, now time.Time, jitter float64) (wait time.Duration, ok bool) {
	all := delays()
	if next > len(all) {
		return 0, false
	}
	step := all[next-1]
	wait = scaled(step, 1-spread+2*spread*jitter)
	if asked, isAsked := answer.retryAfter(now); isAsked {
		wait = min(max(asked, step), mostAsked*step)
	}
	if answer.isOverloaded() {
		wait = max(wait, scaled(restFor, 1+spread*jitter))
	}
	return wait, true
}

func scaled(d time.Duration, factor float64) time.Duration { return time.Duration(float64(d) * factor) }
