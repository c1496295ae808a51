package refresh

import (
	"hash/fnv"
	"time"

	"recordbridge/shared/connect/tokens"
)

const (
	// keepAlive is the interval at which every refresh token is used to keep it from expiring.
	keepAlive = 7 * 24 * time.Hour
	// afterConsent is the period over which refreshes are spread after consent ends. A refresh at that time verifies
	// that consent has ended.
	afterConsent = time.Hour
	// tooShort is the remaining refresh token lifetime below which an early refresh is not worthwhile. Without this
	// limit, a token with a fixed expiry would be refreshed more and more often as the expiry approaches.
	tooShort = 10 * time.Minute
	// firstRetry is the retry delay after a first failure. Each consecutive failure doubles the delay, up to
	// longestRetry.
	firstRetry   = 5 * time.Minute
	longestRetry = 12 * time.Hour
	// crowdSpread is the period over which connections waiting for the same event are spread.
	crowdSpread = 10 * time.Minute
)

// Next returns the next refresh time for tokens that were obtained or refreshed at now. Each connection has a fixed
// refresh time within the week, so that connections created together are refreshed at different times. The next refresh
// is normally at least half a week away. Next returns an earlier time if consent ends sooner, or if that is necessary
// to leave at least a fifth of the refresh token's lifetime. A token set that can't be refreshed is due when its access
// token expires.
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

// backOff returns the retry delay after the given number of consecutive failures. The delay is at least asked, the
// delay requested by the token endpoint.
func backOff(connectionID string, failures int, asked time.Duration) time.Duration {
	wait := min(firstRetry<<min(failures-1, 8), longestRetry)
	wait -= spread(connectionID, wait/4)
	if asked > wait {
		return asked + spread(connectionID, crowdSpread)
	}
	return wait
}

// spread returns the connection's fixed offset within a period.
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
