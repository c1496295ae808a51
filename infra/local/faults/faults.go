// Package faults injects repeatable faults into the embedded AWS on demand. A Plan uses a seed to decide which calls
// from Recordbridge's functions fail and how, which messages are duplicated or reordered, how far indexes lag, and how
// much clocks differ. A Life ends a function instance after one of its calls. Points selects the calls after which a
// crash would make a difference.
//
// A plan's decision depends only on the seed and the call (caller, service, operation, ordinal), not on the order in
// which goroutines run. The package doesn't emulate any service: calls without a fault are passed to the embedded AWS.
// The code that starts the embedded AWS attaches the Plan to it.
package faults

import (
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// Options configures a Plan.
type Options struct {
	Seed     uint64
	Severity Severity // severity of random faults; if zero, only Rules apply
	Rules    []Rule   // take precedence over Severity; the first matching rule applies
	// Callers reports whether a caller's calls may fail. If Callers is nil, only calls from callers whose names end in
	// "Function" may fail. The names of the template's functions have this suffix, but those of tests, operators and
	// provisioning do not.
	Callers func(caller string) bool
}

// Rule makes either a single matching call or all matching calls fail. An empty field matches every call.
type Rule struct {
	Caller    string // caller's name, as in wire.Call
	Service   string
	Operation string
	N         int // one-based ordinal of the matching call; 0 means all matching calls
	Kind      Kind
}

func (r Rule) fits(c wire.Call) bool {
	return (r.Caller == "" || r.Caller == c.Caller) && (r.Service == "" || r.Service == c.Service) &&
		(r.Operation == "" || r.Operation == c.Operation)
}

// Injection records a fault that a plan injected.
type Injection struct {
	Caller    string // caller's name as in wire.Call; for messages, the queue's name
	Service   string
	Operation string
	N         int // one-based ordinal among the caller's calls of the operation, including retries
	Kind      Kind
}

// String returns a description of the call and its fault, such as "SweeperFunction dynamodb.Query 3: throttled".
func (i Injection) String() string {
	return i.Caller + " " + i.Service + "." + i.Operation + " " + strconv.Itoa(i.N) + ": " + i.Kind.String()
}

// kept is the maximum number of injections that a Plan stores. Only the newest are stored, because a runner may run for
// days.
const kept = 10_000

// Plan decides which calls fail and records its injections. A Plan is safe for concurrent use.
type Plan struct {
	seed     uint64
	severity Severity
	rules    []Rule
	callers  func(string) bool

	mu       sync.Mutex
	paused   bool
	counts   map[site]int
	matches  []int // number of matching calls so far, by rule
	injected []Injection
}

// site identifies the calls that are counted together: those with the same caller, service and operation.
type site struct{ caller, service, operation string }

// New returns a plan for o in which no calls have been counted.
func New(o Options) *Plan {
	p := &Plan{
		seed: o.Seed, severity: o.Severity, rules: slices.Clone(o.Rules), callers: o.Callers,
		counts: map[site]int{}, matches: make([]int, len(o.Rules)),
	}
	if p.callers == nil {
		p.callers = func(caller string) bool { return strings.HasSuffix(caller, "Function") }
	}
	return p
}

// Parse returns the plan for a command-line argument. The argument is a seed, or a seed and a severity, such as
// "42:harsh". The default severity is mild.
func Parse(text string) (*Plan, error) {
	number, name, named := strings.Cut(text, ":")
	if !named {
		name = "mild"
	}
	seed, err := strconv.ParseUint(number, 10, 64)
	severity, known := severities()[name]
	if err != nil || !known {
		return nil, fmt.Errorf("faults %q: want a number, or a number and mild or harsh, such as 42:harsh", text)
	}
	return New(Options{Seed: seed, Severity: severity}), nil
}

// Pause pauses or resumes fault injection. During a pause, calls and messages are not counted and indexes do not lag. A
// pause does not affect clocks.
func (p *Plan) Pause(paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused = paused
}

// Injected returns the injections so far, oldest first.
func (p *Plan) Injected() []Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.injected)
}

// String returns the seed and the injections, one per line, to help explain a failed run.
func (p *Plan) String() string {
	var text strings.Builder
	injected := p.Injected()
	fmt.Fprintf(&text, "seed %d, %s: %d faults", p.seed, p.severity, len(injected))
	for _, i := range injected {
		text.WriteString("\n  " + i.String())
	}
	return text.String()
}

// decide counts a call and returns its fault, if any. The returned random source determines the fault's details, such
// as its error code.
func (p *Plan) decide(c wire.Call) (Kind, *rand.Rand) {
	if !p.callers(c.Caller) {
		return None, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused {
		return None, nil
	}
	n := p.count(site{c.Caller, c.Service, c.Operation})
	random := p.random(c.Caller, c.Service, c.Operation, strconv.Itoa(n))
	storm := p.random(c.Caller, c.Service, c.Operation, "storm", strconv.Itoa(n/stormCalls)).Float64()
	kind := p.severity.draw(random, storm, c)
	if ruled, ok := p.ruled(c); ok {
		kind = ruled
	}
	if kind != None {
		p.note(Injection{Caller: c.Caller, Service: c.Service, Operation: c.Operation, N: n, Kind: kind})
	}
	return kind, random
}

// ruled returns the fault of the first rule that applies to the call, and counts the call for every matching rule.
func (p *Plan) ruled(c wire.Call) (kind Kind, ok bool) {
	for i, rule := range p.rules {
		if !rule.fits(c) {
			continue
		}
		p.matches[i]++
		if !ok && (rule.N == 0 || rule.N == p.matches[i]) {
			kind, ok = rule.Kind, true
		}
	}
	return kind, ok
}

func (p *Plan) count(s site) int {
	p.counts[s]++
	return p.counts[s]
}

func (p *Plan) note(i Injection) {
	if len(p.injected) == kept {
		p.injected = slices.Delete(p.injected, 0, kept/2)
	}
	p.injected = append(p.injected, i)
}

// random returns the random source for the decision identified by names. For a given seed, equal names yield equal
// random numbers.
func (p *Plan) random(names ...string) *rand.Rand {
	sum := fnv.New64a()
	for _, name := range names {
		_, _ = io.WriteString(sum, name+"\x00") // writing to a hash never fails
	}
	return rand.New(rand.NewPCG(p.seed, sum.Sum64())) //nolint:gosec // G404: chance that can be had again, and no secret
}

// spread returns a random duration in [0, most].
func spread(random *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(most) + 1))
}
