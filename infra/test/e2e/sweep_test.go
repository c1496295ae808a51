package e2e_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/local/faults"
)

// aCall is the number of the outbound call after which the only crash is injected with -short. Crashes after other
// calls would exercise no additional code under the race detector.
const aCall = 3

// A soak test crashes functions after each of their first eachOf calls. Later calls are of the same kinds, so a short
// soak test crashes functions only after one call in everyNth.
const eachOf, everyNth = 16, 8

// sweepCrashes repeats a scenario, crashing a function at a different point each time (faults.Points). A long soak test
// covers all crash points; a short one covers most. Runs other than soak tests cover the first call of each kind and
// the last call, or only one call with -short.
func sweepCrashes(t *testing.T, function string, scenario func(t *testing.T, s *stack)) {
	t.Helper()
	sweepUpTo(t, function, math.MaxInt, scenario)
}

func sweepUpTo(t *testing.T, function string, most int, scenario func(t *testing.T, s *stack)) {
	t.Helper()
	if testing.Short() {
		crashAfter(t, function, aCall, scenario)
		return
	}
	calls := callsOf(t, function, scenario)
	calls = calls[:min(most, len(calls))]
	chosen, met := faults.Points(calls, sample(calls)), 0
	for _, n := range chosen {
		if crashAfter(t, function, n, scenario) {
			met++
		}
		if t.Failed() {
			return
		}
	}
	if met < len(chosen)*3/4 { // the number of concurrent calls varies slightly between runs
		t.Errorf("of %d crashes of %s only %d happened", len(chosen), function, met)
	}
	t.Logf("%d crashes of %s, which makes %d calls", met, function, len(calls))
}

// callsOf returns the calls that a function makes in a scenario without crashes, in order.
func callsOf(t *testing.T, function string, scenario func(t *testing.T, s *stack)) []faults.Call {
	t.Helper()
	var calls []faults.Call
	t.Run("without a crash", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStack(t, options{})
			s.crash(function, math.MaxInt)
			scenario(t, s)
			calls = s.functions[function].watched.Recorded()
		})
	})
	if len(calls) == 0 {
		t.Errorf("%s made no call", function)
	}
	return calls
}

// sample returns the 1-based numbers of the calls after which a function crashes. Outside soak tests, the sample
// consists of the first call of each kind and the last call (docs/adr/0024-the-race-detector-sees-code-not-volume.md).
func sample(calls []faults.Call) []int {
	var chosen []int
	known := map[string]bool{}
	for i, c := range calls {
		isOfSoak := isLongSoak() || isSoak() && (i < eachOf || i%everyNth == 0)
		if isOfSoak || !known[c.Kind] || i == len(calls)-1 {
			chosen = append(chosen, i+1)
		}
		known[c.Kind] = true
	}
	return chosen
}

// skipIfShort skips a test with -short if the test only repeats code that other tests also run. The race detector would
// find no additional races in such a test (docs/adr/0024-the-race-detector-sees-code-not-volume.md).
func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("many of what others have: nothing of its own to the race detector")
	}
}

// sampleIfShort returns every fifth element with -short, as in `make race`. All elements run the same code, so a sample
// is enough for the race detector.
func sampleIfShort[T any](all []T) []T {
	if !testing.Short() {
		return all
	}
	var some []T
	for i := 0; i < len(all); i += 5 {
		some = append(some, all[i])
	}
	return some
}

// sweepFirstCrashes is like sweepCrashes, but crashes only at a function's first calls. most is the maximum number of
// calls.
func sweepFirstCrashes(t *testing.T, function string, most int, scenario func(t *testing.T, s *stack)) {
	t.Helper()
	sweepUpTo(t, function, most, scenario)
}

func sweepEvery(t *testing.T, function string, step, most int, scenario func(t *testing.T, s *stack)) {
	t.Helper()
	for n := 1; n <= most; n += step {
		if n == eachOf && !isLongSoak() {
			step *= everyNth
		}
		if reached := crashAfter(t, function, n, scenario); !reached || t.Failed() {
			if n == 1 {
				t.Errorf("%s made no call", function)
			}
			return
		}
	}
}

// crashAfter runs a scenario in which a function crashes after its nth call, and reports whether the crash happened.
func crashAfter(t *testing.T, function string, n int, scenario func(t *testing.T, s *stack)) (reached bool) {
	t.Helper()
	t.Run(fmt.Sprintf("after call %d", n), func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStack(t, options{})
			s.crash(function, n)
			scenario(t, s)
			reached = s.crashed(function)
		})
	})
	return reached
}

// crash makes a function's first instance crash after its nth outbound call.
func (s *stack) crash(function string, n int) {
	f := s.functions[function]
	f.mu.Lock()
	defer f.mu.Unlock()
	f.life, f.serve, f.armed = faults.NewLife(n), nil, true
	f.watched = f.life
}

func (s *stack) crashed(function string) bool {
	f := s.functions[function]
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended > 0
}

func (s *stack) disarm(function string) {
	f := s.functions[function]
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = false
	if f.life != nil {
		f.life.Disarm()
	}
}

// simulation is a stack into which a seed's faults are injected.
type simulation struct {
	*stack

	random *rand.Rand // source of the scenario's random choices, derived from the seed
}

// begin enables the plan's faults and makes most functions crash once, after one of their first calls.
func (o simulation) begin() {
	for _, f := range o.template.Functions {
		if f.Folder != "sandboxehr" && o.random.IntN(3) > 0 {
			o.crash(f.LogicalID, 1+o.random.IntN(80))
		}
	}
	o.plan.Pause(false)
}

// end disables the faults and cancels all pending crashes.
func (o simulation) end() {
	o.plan.Pause(true)
	for _, f := range o.template.Functions {
		o.disarm(f.LogicalID)
	}
}

// atOnce is the maximum number of seeds that run concurrently.
const atOnce = 20

// sweepSeeds runs a scenario with consecutive seeds, starting with first, until more returns false. A seed's faults
// include failing, broken, late and conflicting calls by every function, crashes, duplicate and reordered messages,
// delayed index updates and wrong clocks. A failure message includes the seed and the injected faults. If
// RECORDBRIDGE_SEED is set, sweepSeeds runs only that seed.
func sweepSeeds(t *testing.T, first uint64, more func(done int) bool, scenario func(t *testing.T, o simulation)) {
	t.Helper()
	began, done := time.Now(), 0
	var met faultCounts
	var alone uint64
	if _, err := fmt.Sscan(os.Getenv("RECORDBRIDGE_SEED"), &alone); err == nil {
		runSeed(t, alone, &met, scenario)
		return
	}
	for more(done) && !t.Failed() {
		t.Run(fmt.Sprintf("from %d", done), func(t *testing.T) { // t.Run returns when all seeds are done
			for range atOnce {
				if !more(done) {
					return
				}
				seed := first + uint64(done)
				done++
				t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
					t.Parallel()
					runSeed(t, seed, &met, scenario)
				})
			}
		})
	}
	t.Logf("%d seeds in %s, with these faults: %s", done, time.Since(began).Round(time.Millisecond), &met)
}

// sweepSample runs a scenario with several consecutive seeds (each) for every starting seed in firsts. With -short, it
// runs a single seed, because more seeds would exercise no additional code under the race detector.
func sweepSample(t *testing.T, each int, scenario func(t *testing.T, o simulation), firsts ...uint64) {
	t.Helper()
	if testing.Short() {
		each, firsts = 1, firsts[:1]
	}
	for _, first := range firsts {
		t.Run(fmt.Sprintf("seeds from %d", first), func(t *testing.T) {
			t.Parallel()
			sweepSeeds(t, first, func(done int) bool { return done < each }, scenario)
		})
	}
}

type faultCounts struct {
	mu     sync.Mutex
	counts map[faults.Kind]int
}

func (c *faultCounts) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	parts := make([]string, 0, len(c.counts))
	for _, kind := range slices.Sorted(maps.Keys(c.counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", c.counts[kind], kind))
	}
	return strings.Join(parts, ", ")
}

func (c *faultCounts) add(plan *faults.Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = make(map[faults.Kind]int)
	}
	for _, i := range plan.Injected() {
		c.counts[i.Kind]++
	}
}

func runSeed(t *testing.T, seed uint64, met *faultCounts, scenario func(t *testing.T, o simulation)) {
	t.Helper()
	plan := planOf(seed)
	defer func() {
		met.add(plan)
		if t.Failed() {
			name, _, _ := strings.Cut(t.Name(), "/")
			t.Logf("again: RECORDBRIDGE_SOAK=1s RECORDBRIDGE_SEED=%d go test -run '^%s$' ./infra/test/e2e\n%s", seed, name, plan)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		scenario(t, simulation{stack: newStack(t, options{plan: plan}), random: rand.New(rand.NewPCG(seed, 1))})
	})
}

// longestLag is longer than every index lag in planOf.
const longestLag = 30 * time.Second

// planOf returns a seed's fault plan. For one seed in five, crashes are the only faults. For the other seeds, faults
// occur at least as often as on a bad day on AWS. No faults are injected into the sandbox, because it simulates a
// third-party server.
func planOf(seed uint64) *faults.Plan {
	severity := [...]faults.Severity{faults.Harsh(), faults.Mild(), faults.Harsh(), faults.Mild(), {}}[seed%5]
	return faults.New(faults.Options{Seed: seed, Severity: severity, Callers: func(caller string) bool {
		return strings.HasSuffix(caller, "Function") && caller != "SandboxEhrFunction"
	}})
}
