// Package ratelimit owns the arithmetic of rate limits: what a limit is and how a bucket decides. It keeps no bucket
// and knows no request; the HTTP edge names the buckets and a store keeps them.
package ratelimit

import (
	"math"
	"time"
)

// Limit is a rate: Quota requests in Window, all of which may come at once. A Quota or Window of zero or less means
// no limit.
type Limit struct {
	Name   string // route class as clients see it in the RateLimit headers: lower-case letters
	Quota  int
	Window time.Duration
}

// Unlimited reports whether the limit lets everything through.
func (l Limit) Unlimited() bool { return l.Quota <= 0 || l.Interval() <= 0 }

// Interval is the time that one request takes up.
func (l Limit) Interval() time.Duration { return l.Window / time.Duration(max(l.Quota, 1)) }

// Decision is what a bucket says about one request.
type Decision struct {
	Allowed    bool
	Remaining  int           // requests that could follow at once
	RetryAfter time.Duration // how long to wait; zero when allowed
	Reset      time.Duration // until the bucket is full again
}

// GCRA is the generic cell rate algorithm (ITU-T I.371 annex A), the form of a token bucket that needs to store one
// time only, the theoretical arrival time. tat is the stored one, zero when there is none; next is the one to store,
// equal to tat when refused.
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
