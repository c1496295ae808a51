// Package ratelimit implements the arithmetic of rate limits: the definition of a limit and the decision of a bucket.
// It stores no buckets and handles no requests; the HTTP edge names the buckets and a store keeps them.
package ratelimit

import (
	"math"
	"time"
)

// Limit is a rate of Quota requests per Window, all of which may arrive at once. A Quota or Window of zero or less
// means no limit.
type Limit struct {
	Name   string // route class in the RateLimit response headers: lower-case letters
	Quota  int
	Window time.Duration
}

// Unlimited reports whether the limit allows every request.
func (l Limit) Unlimited() bool { return l.Quota <= 0 || l.Interval() <= 0 }

// Interval returns the time that one request uses up.
func (l Limit) Interval() time.Duration { return l.Window / time.Duration(max(l.Quota, 1)) }

// Decision is a bucket's decision about one request.
type Decision struct {
	Allowed    bool
	Remaining  int           // requests still possible at once
	RetryAfter time.Duration // delay before a retry; zero if allowed
	Reset      time.Duration // until the bucket is full again
}

// GCRA applies the generic cell rate algorithm (ITU-T I.371 annex A), a form of token bucket that stores only one time,
// the theoretical arrival time. tat is the stored time, or zero if there is none; next is the time to store, equal to
// tat if the request is refused.
func GCRA(tat, now time.Time, limit Limit) (next time.Time, decision Decision) {
	if limit.Unlimited() {
		return tat, Decision{Allowed: true, Remaining: math.MaxInt32}
	}
	interval := limit.Interval()
	burst := interval * time.Duration(limit.Quota)
	start := tat
	if start.Before(now) {
		start = now
	}
	filled := start.Add(interval).Sub(now)
	if filled > burst {
		return tat, Decision{RetryAfter: filled - burst, Reset: start.Sub(now)}
	}
	return start.Add(interval), Decision{Allowed: true, Remaining: int((burst - filled) / interval), Reset: filled}
}
