package refresh

import (
	"hash/fnv"
	"time"

	"recordbridge/shared/connect/tokens"
)

const (
	// keepAlive is the period in which every refresh token is used, because idle ones lapse.
	keepAlive = 7 * 24 * time.Hour
	// afterConsent spreads the refreshes that find out whether a consent whose date has passed has really ended.
	afterConsent = time.Hour
	// tooShort is how little life of a refresh token is not worth a refresh of its own: one whose end no refresh moves
	// would be refreshed ever more often as it comes.
	tooShort = 10 * time.Minute
	// firstRetry is the wait after the first of several failures in a row; each one doubles it, up to longestRetry.
	firstRetry   = 5 * time.Minute
	longestRetry = 12 * time.Hour
	// crowdSpread is over how long connections are spread that wait for the same thing.
	crowdSpread = 10 * time.Minute
)

// Next is when the tokens of a connection are to be refreshed after they were obtained or refreshed at now: at the
// connection's own place in the week, at least half a week away, so that connections made together drift apart and
// never meet again; earlier where the refresh token would lapse (with a fifth of its life left) or consent ends. A set
// that cannot be refreshed is due when its access token ends.
func Next(connectionID string, set tokens.Set, now time.Time) time.Time {
	if set.RefreshToken.Empty() {
		return set.ExpiresAt
	}
	place := spread(connectionID, keepAlive)
	soonest := now.Add(keepAlive / 2)
	next := soonest.Truncate(keepAlive).Add(place)
	if next.Before(soonest) {
		next = next.Add(keepAlive)
	}
	if left := set.RefreshExpiresAt.Sub(now); left > tooShort {
		next = earlier(next, now.Add(left*8/10-spread(connectionID, left/10)))
	}
	if set.ConsentExpiresAt.After(now) {
		next = earlier(next, set.ConsentExpiresAt.Add(spread(connectionID, afterConsent)))
	}
	return next
}

// backOff is how long a connection waits after so many failures in a row, the last one included; never less than the
// token endpoint asked for.
func backOff(connectionID string, failures int, asked time.Duration) time.Duration {
	wait := min(firstRetry<<min(failures-1, 8), longestRetry)
	wait -= spread(connectionID, wait/4)
	if asked > wait {
		return asked + spread(connectionID, crowdSpread)
	}
	return wait
}

// spread is the connection's own part of a period, the same every time.
func spread(connectionID string, period time.Duration) time.Duration {
	if period <= 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(connectionID))
	return time.Duration(h.Sum64() % uint64(period)) //nolint:gosec // positive
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
