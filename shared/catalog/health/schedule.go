package health

import (
	"hash/fnv"
	"time"
)

const (
	day = 24 * time.Hour
	// wander is by how much an endpoint's time of the day moves from day to day, so that no nightly
	// maintenance is met every night.
	wander = 2 * time.Hour
	// firstProbes is the time that probing all endpoints of a new catalogue takes for each of them, a day at most.
	firstProbes = 3 * time.Second
	// retryFirst is when an endpoint that failed is probed again, and then after twice as long each
	// time, up to retryLongest.
	retryFirst   = 15 * time.Minute
	retryLongest = 3 * day
)

// DueAt is when an endpoint is to be probed: as its record says, or for one that has none at its own moment after the
// publication of the catalogue of so many endpoints that it is in.
func DueAt(r Record, published time.Time, endpoints int) time.Time {
	if !r.NextAt.IsZero() {
		return r.NextAt
	}
	over := min(day, time.Duration(endpoints)*firstProbes)
	return published.Add(share(over, "first", r.EndpointID))
}

// nextDaily is the endpoint's moment of the next day (UTC): by a hash of its id, moved a little by one of the date. It
// is 22 to 26 hours after the one before, and never sooner than half a day from now.
func nextDaily(id string, now time.Time) time.Time {
	for midnight := now.UTC().Truncate(day); ; midnight = midnight.Add(day) {
		at := midnight.Add(share(day, "daily", id) + share(wander, midnight.Format(time.DateOnly), id))
		if at.Sub(now) >= day/2 {
			return at
		}
	}
}

// retryAfter is the wait after so many failures in a row, give or take a tenth.
func retryAfter(id string, failures int) time.Duration {
	wait := min(retryFirst<<min(failures-1, 16), retryLongest)
	return wait - wait/10 + share(wait/5, "retry", id)
}

// share is the part of a span that a hash of words chooses.
func share(span time.Duration, words ...string) time.Duration {
	if span <= 0 {
		return 0
	}
	h := fnv.New64a()
	for _, word := range words {
		_, _ = h.Write([]byte(word + "\n"))
	}
	mixed := h.Sum64() * 0x9E3779B97F4A7C15            // the low bits of FNV are those of the last letters
	return time.Duration((mixed >> 11) % uint64(span)) //nolint:gosec // a span is positive and far below 2^63
}
