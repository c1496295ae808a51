package ratelimit_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"recordbridge/shared/platform/ratelimit"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func TestGCRAReportsRemainingAndRetryAfter(t *testing.T) {
	t.Parallel()
	limit := ratelimit.Limit{Name: "search", Quota: 3, Window: time.Minute}
	tests := []struct {
		at   time.Duration
		want ratelimit.Decision
	}{
		{0, ratelimit.Decision{Allowed: true, Remaining: 2, Reset: 20 * time.Second}},
		{0, ratelimit.Decision{Allowed: true, Remaining: 1, Reset: 40 * time.Second}},
		{0, ratelimit.Decision{Allowed: true, Remaining: 0, Reset: time.Minute}},
		{0, ratelimit.Decision{RetryAfter: 20 * time.Second, Reset: time.Minute}},
		{19 * time.Second, ratelimit.Decision{RetryAfter: time.Second, Reset: 41 * time.Second}},
		{20 * time.Second, ratelimit.Decision{Allowed: true, Remaining: 0, Reset: time.Minute}},
		{20 * time.Second, ratelimit.Decision{RetryAfter: 20 * time.Second, Reset: time.Minute}},
		{59 * time.Second, ratelimit.Decision{Allowed: true, Remaining: 0, Reset: 41 * time.Second}},
		{10 * time.Minute, ratelimit.Decision{Allowed: true, Remaining: 2, Reset: 20 * time.Second}},
	}
	var tat time.Time
	for i, test := range tests {
		next, got := ratelimit.GCRA(tat, start.Add(test.at), limit)
		if got != test.want {
			t.Errorf("request %d at %v = %+v, want %+v", i, test.at, got, test.want)
		}
		if !got.Allowed && !next.Equal(tat) {
			t.Errorf("request %d was refused, but moved the bucket", i)
		}
		tat = next
	}
}

func TestZeroLimitIsUnlimited(t *testing.T) {
	t.Parallel()
	for _, limit := range []ratelimit.Limit{
		{},
		{Quota: 5},
		{Window: time.Minute},
		{Quota: -1, Window: time.Minute},
		{Quota: 5, Window: -1},
	} {
		if !limit.Unlimited() {
			t.Errorf("%+v limits", limit)
		}
		for range 10 {
			if _, decision := ratelimit.GCRA(start.Add(time.Hour), start, limit); !decision.Allowed || decision.Remaining <= 0 {
				t.Fatalf("%+v refuses: %+v", limit, decision)
			}
		}
	}
}

// TestGCRANeverExceedsRate checks that a bucket allows its whole quota at once and never exceeds its rate in the long
// run. A rejected request is allowed once RetryAfter has passed.
func TestGCRANeverExceedsRate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		limit := ratelimit.Limit{
			Quota:  rapid.IntRange(1, 20).Draw(r, "quota"),
			Window: time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(time.Hour)).Draw(r, "window")),
		}
		var tat time.Time
		at, allowed := start, 0
		for range rapid.IntRange(1, 60).Draw(r, "requests") {
			at = at.Add(time.Duration(rapid.Int64Range(0, int64(limit.Window)).Draw(r, "pause")))
			next, decision := ratelimit.GCRA(tat, at, limit)
			if decision.Allowed {
				allowed++
				if decision.Remaining < 0 || decision.Remaining >= limit.Quota || decision.RetryAfter != 0 {
					r.Fatalf("allowed with %+v", decision)
				}
			} else if _, later := ratelimit.GCRA(tat, at.Add(decision.RetryAfter), limit); !later.Allowed {
				r.Fatalf("refused again after waiting %v", decision.RetryAfter)
			}
			if most := limit.Quota + int(at.Sub(start)/limit.Interval()); allowed > most {
				r.Fatalf("%d requests in %v, want at most %d", allowed, at.Sub(start), most)
			}
			tat = next
		}
	})
}
