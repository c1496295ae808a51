// Package ratelimit defines rate limits and decides whether a bucket allows a request. The names of the buckets come
// from the HTTP edge, and a store saves the buckets.
package ratelimit

import (
	"math"
	"time"
)

// Limit allows Quota requests per Window, even if they all arrive at once. A Quota or Window of zero or less means
// unlimited.
type Limit struct {
	Name   string // name of the route class in RateLimit response headers, in lower-case letters
	Quota  int
	Window time.Duration
}

// Unlimited reports whether every request is allowed.
func (l Limit) Unlimited() bool { return l.Quota <= 0 || l.Interval() <= 0 }

// Interval returns the time in which a bucket regains capacity for one request.
func (l Limit) Interval() time.Duration { return l.Window / time.Duration(max(l.Quota, 1)) }

// Decision is the outcome of applying a limit to one request.
type Decision struct {
	Allowed    bool
	Remaining  int           // number of requests that may still be sent immediately
	RetryAfter time.Duration // delay before a retry; zero if the request is allowed
	Reset      time.Duration // time until the bucket is full again
}

// GCRA applies the generic cell rate algorithm (ITU-T I.371 annex A). The algorithm is a token bucket that stores a
// single time, the theoretical arrival time. tat is the stored time, or zero if there is none. next is the time to
// store, which equals tat for a rejected request.
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
