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

// aCall is the one after which there is a crash under -short: the race detector sees the same code in each.
const aCall = 3

// eachOf are the first calls, after each of which there is a crash in a soak; of those that follow, whose kinds repeat,
// a short one takes one of everyNth.
const eachOf, everyNth = 16, 8

// sweepCrashes runs scenario once for each situation in which a function can crash (faults.Points): all of them in a
// long soak, most in a short one, otherwise those after the first call of each kind and after the last call; one of
// them under -short.
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
	if met < len(chosen)*3/4 { // calls side by side may be some more or less each time
		t.Errorf("of %d crashes of %s only %d happened", len(chosen), function, met)
	}
	t.Logf("%d crashes of %s, which makes %d calls", met, function, len(calls))
}

// callsOf returns the calls that a function makes in a scenario without a crash, in their order.
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

// sample returns the numbers, from 1 on, of the calls after which there is a crash: outside of a soak the first of each
// kind and the last (docs/adr/0024-the-race-detector-sees-code-not-volume.md).
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

// isMany skips, under -short, a test that does what others do, too, and many times: it shows the race detector nothing
// (docs/adr/0024-the-race-detector-sees-code-not-volume.md).
func isMany(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("many of what others have: nothing of its own to the race detector")
	}
}

// few are one of five under -short, as `make race` runs them: the race detector looks for other things than what one
// portal does otherwise than another, and sees the same code in each.
func few[T any](all []T) []T {
	if !testing.Short() {
		return all
	}
	var some []T
	for i := 0; i < len(all); i += 5 {
		some = append(some, all[i])
	}
	return some
}

// sweepFirstCrashes is a sweep of the first calls of a function only.
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

// crashAfter runs scenario with a crash after the n-th call of a function, and reports whether it happened.
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

// crash makes the first instance of a function end after its n-th call to the world outside.
func (s *stack) crash(function string, n int) {
	f := s.functions[function]
	f.mu.Lock()
	defer f.mu.Unlock()
	f.life, f.serve, f.armed = faults.NewLife(n), nil, true
	f.watched = f.life
}

// crashed reports whether the crash has happened.
func (s *stack) crashed(function string) bool {
	f := s.functions[function]
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended > 0
}

// disarm keeps a crash that has not happened yet from happening.
func (s *stack) disarm(function string) {
	f := s.functions[function]
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = false
	if f.life != nil {
		f.life.Disarm()
	}
}

// simulation is a stack under the faults of one seed.
type simulation struct {
	*stack

	random *rand.Rand // of the seed, for what the scenario chooses
}

// begin lets the faults come, and makes most functions crash once, each somewhere in its first calls.
func (o simulation) begin() {
	for _, f := range o.template.Functions {
		if f.Folder != "sandboxehr" && o.random.IntN(3) > 0 {
			o.crash(f.LogicalID, 1+o.random.IntN(80))
		}
	}
	o.plan.Pause(false)
}

// end is the end of the faults and of the crashes that have not happened.
func (o simulation) end() {
	o.plan.Pause(true)
	for _, f := range o.template.Functions {
		o.disarm(f.LogicalID)
	}
}

// atOnce is how many seeds are under way at the same time, at most.
const atOnce = 20

// sweepSeeds runs scenario under the faults of each seed from first on, until more says that enough are done: failing,
// broken, late and conflicting calls of every function, crashes, messages that come twice or out of turn, late indexes
// and wrong clocks. A failure tells the seed and the faults; RECORDBRIDGE_SEED runs that seed alone.
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
		t.Run(fmt.Sprintf("from %d", done), func(t *testing.T) { // ends when all of its seeds have
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

// sweepSample runs scenario under a few seeds from each of the first ones on; under -short, as the race detector sees
// as much in one, under a single seed.
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

// faultCounts counts the faults of many seeds.
type faultCounts struct {
	mu     sync.Mutex
	counts map[faults.Kind]int
}

// String lists the kinds.
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

// longestLag is above every lag of an index in planOf.
const longestLag = 30 * time.Second

// planOf gives one seed of five no faults but crashes, the others a bad day or one that AWS does not have. The sandbox
// is spared: it plays somebody else's server.
func planOf(seed uint64) *faults.Plan {
	severity := [...]faults.Severity{faults.Harsh(), faults.Mild(), faults.Harsh(), faults.Mild(), {}}[seed%5]
	return faults.New(faults.Options{Seed: seed, Severity: severity, Callers: func(caller string) bool {
		return strings.HasSuffix(caller, "Function") && caller != "SandboxEhrFunction"
	}})
}
