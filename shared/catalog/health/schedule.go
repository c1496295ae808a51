package health

import (
	"hash/fnv"
	"time"
)

const (
	day = 24 * time.Hour
	// wander is the range of the daily variation in an endpoint's probe time. Without the variation, an endpoint's
	// probe could coincide with maintenance every night.
	wander = 2 * time.Hour
	// firstProbes is the average interval between the first probes of a new catalogue's endpoints, which are spread
	// over at most one day.
	firstProbes = 3 * time.Second
	// retryFirst is the delay before a failed endpoint is probed again. The delay doubles after each failure, up to
	// retryLongest.
	retryFirst   = 15 * time.Minute
	retryLongest = 3 * day
)

// DueAt returns the time of an endpoint's next probe. If the endpoint has no record, DueAt returns a time after
// publication that depends on the endpoint's ID and the number of endpoints in the catalogue.
func DueAt(r Record, published time.Time, endpoints int) time.Time {
	if !r.NextAt.IsZero() {
		return r.NextAt
	}
	over := min(day, time.Duration(endpoints)*firstProbes)
	return published.Add(share(over, "first", r.EndpointID))
}

// nextDaily returns the endpoint's probe time for the next day (UTC). The time is derived from a hash of the endpoint's
// ID and shifted slightly by a hash of the date. The probe time is 22 to 26 hours after the previous probe time, and at
// least half a day from now.
func nextDaily(id string, now time.Time) time.Time {
	for midnight := now.UTC().Truncate(day); ; midnight = midnight.Add(day) {
		at := midnight.Add(share(day, "daily", id) + share(wander, midnight.Format(time.DateOnly), id))
		if at.Sub(now) >= day/2 {
			return at
		}
	}
}

// retryAfter returns the delay after the given number of consecutive failures, with ten per cent jitter.
func retryAfter(id string, failures int) time.Duration {
	wait := min(retryFirst<<min(failures-1, 16), retryLongest)
	return wait - wait/10 + share(wait/5, "retry", id)
}

// share returns a fraction of span, determined by a hash of words.
func share(span time.Duration, words ...string) time.Duration {
	if span <= 0 {
		return 0
	}
	h := fnv.New64a()
	for _, word := range words {
		_, _ = h.Write([]byte(word + "\n"))
	}
	mixed := h.Sum64() * 0x9E3779B97F4A7C15            // FNV's low bits are poorly mixed
	return time.Duration((mixed >> 11) % uint64(span)) //nolint:gosec // a span is positive and far below 2^63
}
