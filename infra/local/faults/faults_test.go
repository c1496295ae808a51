package faults_test

import (
	"cmp"
	"context"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/faults"
)

func sorted(injected []faults.Injection) []faults.Injection {
	slices.SortFunc(injected, func(a, b faults.Injection) int {
		return cmp.Or(cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.Service, b.Service),
			cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.N, b.N))
	})
	return injected
}

// run makes the same calls from several concurrent callers and returns the injected faults.
func run(t *testing.T, seed uint64) []faults.Injection {
	t.Helper()
	plan := faults.New(faults.Options{Seed: seed, Severity: faults.Harsh()})
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, plan)
		var callers sync.WaitGroup
		for _, name := range []string{"OneFunction", "TwoFunction", "ThreeFunction"} {
			for _, each := range []call{put, get, transact, send, dataKey} { // operations run concurrently
				cfg := b.once()
				cfg.Credentials = b.cloud.Config(name).Credentials
				callers.Go(func() {
					for range 60 {
						_ = each(t.Context(), cfg) // failures are expected
					}
				})
			}
		}
		callers.Wait()
	})
	return sorted(plan.Injected())
}

func TestPlanIsDeterministicForSeed(t *testing.T) {
	t.Parallel()
	first := run(t, 7)
	if len(first) < 50 {
		t.Fatalf("only %d faults in 900 calls", len(first))
	}
	if d := diff.Diff(first, run(t, 7)); d != "" {
		t.Errorf("the same seed again (-first +second):\n%s", d)
	}
	if diff.Diff(first, run(t, 8)) == "" {
		t.Error("another seed does the same")
	}
	kinds := make(map[faults.Kind]int)
	for _, i := range first {
		kinds[i.Kind]++
	}
	for kind := faults.Throttled; kind <= faults.Conflicted; kind++ {
		if kinds[kind] == 0 {
			t.Errorf("nothing %s: %v", kind, kinds)
		}
	}
}

func TestStormSeverityExhaustsSDKRetries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		storm float64
		want  bool
	}{"with storms": {0.1, true}, "without": {0, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, faults.New(faults.Options{Seed: 3, Severity: faults.Severity{Throttle: 0.01, Storm: c.storm}}))
				failed := 0
				for range 200 {
					if get(t.Context(), b.cloud.Config(caller)) != nil {
						failed++
					}
				}
				if (failed > 0) != c.want {
					t.Errorf("%d of 200 calls failed for good", failed)
				}
			})
		})
	}
}

func TestPlanInjectsFaultsOnlyIntoFunctions(t *testing.T) {
	t.Parallel()
	plan := faults.New(faults.Options{Rules: []faults.Rule{{Kind: faults.FailedBefore}}})
	b := newBench(t, plan)
	for name, spared := range map[string]bool{
		"provision": true, "test": true, "operator": true,
		"SweeperFunction": false,
	} {
		cfg := b.cloud.Config(name)
		cfg.RetryMaxAttempts = 1
		if err := get(t.Context(), cfg); (err == nil) != spared {
			t.Errorf("%s got %v", name, err)
		}
	}
	if got := len(plan.Injected()); got != 1 {
		t.Errorf("%d faults were noted", got)
	}
}

func TestPlanCallersOptionSelectsCallers(t *testing.T) {
	t.Parallel()
	plan := faults.New(faults.Options{
		Rules: []faults.Rule{{Kind: faults.FailedBefore}}, Callers: func(name string) bool { return name == "test" },
	})
	b := newBench(t, plan)
	if err := get(t.Context(), b.once()); err != nil {
		t.Errorf("a function got %v", err)
	}
}

func TestRuleCountsMatchingCalls(t *testing.T) {
	t.Parallel()
	plan := faults.New(faults.Options{Rules: []faults.Rule{
		{Operation: "PutItem", N: 2, Kind: faults.FailedAfter},
		{Service: "dynamodb", N: 4, Kind: faults.Throttled},
		{Caller: "OtherFunction", Kind: faults.BrokenBefore},
	}})
	b := newBench(t, plan)
	got := make([]bool, 0, 6)
	for _, each := range []call{put, get, send, put, get, put} {
		got = append(got, each(t.Context(), b.once()) == nil)
	}
	if want := []bool{true, true, true, false, false, true}; !slices.Equal(got, want) {
		t.Errorf("the calls went %v, want %v", got, want)
	}
	want := []faults.Injection{
		{Caller: caller, Service: "dynamodb", Operation: "PutItem", N: 2, Kind: faults.FailedAfter},
		{Caller: caller, Service: "dynamodb", Operation: "GetItem", N: 2, Kind: faults.Throttled},
	}
	if d := diff.Diff(want, plan.Injected()); d != "" {
		t.Errorf("injected (-want +got):\n%s", d)
	}
	text := plan.String()
	if !strings.Contains(text, "seed 0, ") ||
		!strings.Contains(text, "2 faults\n  ProbeFunction dynamodb.PutItem 2: failed after the effect\n") {
		t.Errorf("the plan tells %q", text)
	}
}

func TestTimeoutFaultEndsWhenCallerCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := failOnce(t, "dynamodb.PutItem", faults.TimedOutBefore, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		began := time.Now()
		if err := put(ctx, b.once()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != 500*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// TestPlanInjectsFaultsOverHTTP repeats the in-process test over a network connection.
func TestPlanInjectsFaultsOverHTTP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    faults.Kind
		reached int
	}{
		{faults.BrokenBefore, 1},
		{faults.BrokenAfter, 2},
		{faults.FailedBefore, 1},
		{faults.FailedAfter, 2},
		{faults.Throttled, 1},
	} {
		t.Run(c.kind.String(), func(t *testing.T) {
			t.Parallel()
			kind, reached := c.kind, c.reached
			b, plan := failOnce(t, "dynamodb.PutItem", kind, 2)
			server := httptest.NewServer(b.cloud)
			t.Cleanup(server.Close)
			cfg := b.cloud.Config(caller)
			cfg.BaseEndpoint, cfg.HTTPClient = &server.URL, server.Client()
			if err := put(t.Context(), cfg); err != nil {
				t.Errorf("the SDK did not get over it: %v", err)
			}
			if got := b.reachedService(); got != reached || len(plan.Injected()) != 1 {
				t.Errorf("%d calls reached the service, want %d; injected %v", got, reached, plan.Injected())
			}
		})
	}
}

func TestTimeoutFaultEndsWhenHTTPClientDisconnects(t *testing.T) {
	t.Parallel()
	b, _ := failOnce(t, "dynamodb.PutItem", faults.TimedOutBefore, 2)
	server := httptest.NewServer(b.cloud)
	cfg := b.once()
	cfg.BaseEndpoint, cfg.HTTPClient = &server.URL, server.Client()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := put(ctx, cfg); err == nil {
		t.Error("it succeeded")
	}
	began := time.Now()
	server.Close() // Close blocks until all handlers have returned
	if took := time.Since(began); took > 900*time.Millisecond {
		t.Errorf("the silence went on for %v after the caller had gone", took)
	}
}

func TestParseReadsSeedAndSeverity(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"42": "seed 42, indexes up to 1s late", "7:mild": "seed 7, indexes up to 1s",
		"0:harsh": "seed 0, indexes up to 20s late",
	} {
		plan, err := faults.Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := plan.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%q makes %q", text, got)
		}
	}
	for _, text := range []string{"", "x", "-1", "42:", "42:hard", ":harsh", "18446744073709551616"} {
		if _, err := faults.Parse(text); err == nil || !strings.Contains(err.Error(), "such as 42:harsh") {
			t.Errorf("%q gave %v", text, err)
		}
	}
}

func TestPlanKeepsNewestInjections(t *testing.T) {
	t.Parallel()
	plan := faults.New(faults.Options{Severity: faults.Severity{Double: 1}})
	for range 12_000 {
		plan.Disorder("q", 1)
	}
	got := plan.Injected()
	if len(got) > 10_000 || len(got) < 5_000 || got[len(got)-1].N != 12_000 {
		t.Errorf("%d are kept, the last is %v", len(got), got[len(got)-1])
	}
}
