package httpapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/org"
)

// TestGCRANeverExceedsBurstPlusRate checks that, in any period that ends with an accepted request, at most quota +
// elapsed/interval requests are accepted. A client that waits for the returned delay must be accepted.
func TestGCRANeverExceedsBurstPlusRate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := ratelimit.Limit{
			Name:   "x",
			Quota:  rapid.IntRange(1, 20).Draw(t, "quota"),
			Window: time.Duration(rapid.Int64Range(int64(time.Second), int64(time.Hour)).Draw(t, "window")),
		}
		interval := limit.Window / time.Duration(limit.Quota)
		now := time.Unix(1_800_000_000, 0)
		var tat time.Time
		var accepted []time.Time
		for range rapid.IntRange(1, 80).Draw(t, "arrivals") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*interval)).Draw(t, "gap")))
			next, decision := ratelimit.GCRA(tat, now, limit)
			if !decision.Allowed {
				if !next.Equal(tat) || decision.RetryAfter <= 0 || decision.Remaining != 0 {
					t.Fatalf("refused: next %v, stored %v, %+v", next, tat, decision)
				}
				if _, later := ratelimit.GCRA(tat, now.Add(decision.RetryAfter), limit); !later.Allowed {
					t.Fatalf("still refused after waiting %v", decision.RetryAfter)
				}
				if _, sooner := ratelimit.GCRA(tat, now.Add(decision.RetryAfter-1), limit); sooner.Allowed {
					t.Fatalf("allowed before %v", decision.RetryAfter)
				}
				continue
			}
			tat = next
			accepted = append(accepted, now)
			for i, since := range accepted {
				if got, most := len(accepted)-i, limit.Quota+int(now.Sub(since)/interval); got > most {
					t.Fatalf("%d accepted in %v, at most %d are due", got, now.Sub(since), most)
				}
			}
		}
	})
}

func TestGCRAAllowsFullInitialBurst(t *testing.T) {
	t.Parallel()
	limit := ratelimit.Limit{Name: "x", Quota: 7, Window: 10 * time.Second}
	now := time.Unix(1_800_000_000, 0)
	var tat time.Time
	var decision ratelimit.Decision
	for i := range 7 {
		if tat, decision = ratelimit.GCRA(tat, now, limit); !decision.Allowed || decision.Remaining != 6-i {
			t.Fatalf("request %d: %+v", i, decision)
		}
	}
	if _, decision = ratelimit.GCRA(tat, now, limit); decision.Allowed {
		t.Errorf("request 8: %+v", decision)
	}
}

func TestZeroLimiterAllowsEverything(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for _, limit := range []ratelimit.Limit{{}, {Quota: -1, Window: time.Minute}, {Quota: 5}} {
		if _, decision := ratelimit.GCRA(now.Add(time.Hour), now, limit); !decision.Allowed {
			t.Errorf("%+v: %+v", limit, decision)
		}
	}
}

// buckets stores TATs in memory and records the requested keys.
type buckets struct {
	tats map[string]time.Time
	keys []string
	err  error
}

func (b *buckets) Take(_ context.Context, key string, limit ratelimit.Limit,
	now time.Time,
) (ratelimit.Decision, error) {
	b.keys = append(b.keys, key)
	if b.err != nil {
		return ratelimit.Decision{}, b.err
	}
	if b.tats == nil {
		b.tats = map[string]time.Time{}
	}
	next, decision := ratelimit.GCRA(b.tats[key], now, limit)
	b.tats[key] = next
	return decision, nil
}

func limited(api edge, b *buckets,
	quota int,
) func(remote, key string, headers ...string) (int, map[string][]string, string) {
	f := func(context.Context, org.Caller, nothing) (nothing, error) { return nothing{}, nil }
	limiter := httpapi.Limiter{Buckets: b, Limit: ratelimit.Limit{Name: "api", Quota: quota, Window: time.Minute}}
	handler := api.Serve("/x",
		httpapi.Methods{"GET": httpapi.Keyed(httpapi.KeyAuth{Keys: directory{}, Limiter: limiter}, f)})
	return func(remote, key string, headers ...string) (int, map[string][]string, string) {
		r := newRequest("GET", "/x", "")
		r.RemoteAddr = remote
		r.SetBasicAuth(publicID, key)
		for _, header := range headers {
			r.Header.Set("X-Forwarded-For", header)
		}
		w := do(handler, r)
		return w.Code, w.Header(), w.Body.String()
	}
}

func TestLimiterRejectsExcessRequestsWithHeaders(t *testing.T) {
	t.Parallel()
	get := limited(newEdge(), &buckets{}, 2)
	const client = "192.0.2.1:1"
	if status, header, _ := get(client, goodKey); status != 200 || header["Ratelimit"][0] != `"api";r=1;t=30` ||
		header["Ratelimit-Policy"][0] != `"api";q=2;w=60` {
		t.Errorf("first: %d %v", status, header)
	}
	get(client, goodKey)
	status, header, body := get(client, goodKey, "203.0.113.9")
	if status != 429 || header["Retry-After"][0] != "30" || header["Ratelimit"][0] != `"api";r=0;t=60` {
		t.Errorf("third: %d %v", status, header)
	}
	if want := errorBody("svc_rate_limited",
		"Too many requests. Please wait before you try again."); strings.TrimSpace(body) != want {
		t.Errorf("got %s, want %s", body, want)
	}
	if status, _, _ := get("192.0.2.2:1", goodKey); status != 200 {
		t.Errorf("another client: %d", status)
	}
}

func TestWrongKeysAreRateLimitedByAddress(t *testing.T) {
	t.Parallel()
	get := limited(newEdge(), &buckets{}, 2)
	for i, want := range []int{401, 401, 429} {
		if status, _, _ := get("192.0.2.1:1", "private_test_guess"); status != want {
			t.Errorf("guess %d: got %d, want %d", i, status, want)
		}
	}
	if status, _, _ := get("192.0.2.1:1", goodKey); status != 200 {
		t.Errorf("the owner's own requests: got %d", status)
	}
}

func TestLimiterAllowsRequestAndCountsFailureWhenStoreFails(t *testing.T) {
	t.Parallel()
	api := newEdge()
	if status, _, _ := limited(api, &buckets{err: errStoreDown}, 1)("192.0.2.1:1", goodKey); status != 200 {
		t.Errorf("got %d", status)
	}
	if !strings.Contains(api.log.String(), `"limiter_failed":true`) {
		t.Errorf("log: %s", api.log)
	}
}

func TestBucketKeysDependOnNetworkAndHideAddress(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		one, other string
		same       bool
	}{
		"port":            {"192.0.2.1:1", "192.0.2.1:2", true},
		"no port":         {"192.0.2.1:1", "192.0.2.1", true},
		"mapped":          {"192.0.2.1:1", "[::ffff:192.0.2.1]:1", true},
		"same /64":        {"[2001:db8::1]:1", "[2001:db8::ffff:0:0:2]:1", true},
		"other /64":       {"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false},
		"other v4":        {"192.0.2.1:1", "192.0.2.3:1", false},
		"nonsense differ": {"one", "other", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &buckets{}
			get := limited(newEdge(), b, 5)
			get(c.one, goodKey)
			get(c.other, goodKey)
			if got := b.keys[0] == b.keys[1]; got != c.same {
				t.Errorf("same bucket: got %v, want %v", got, c.same)
			}
			if strings.Contains(b.keys[0], "192") && len(b.keys[0]) != 32 {
				t.Errorf("key %q", b.keys[0])
			}
		})
	}
}
