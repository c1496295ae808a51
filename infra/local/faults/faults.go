// Package faults makes the embedded AWS crueller than AWS, on demand and repeatably: a Plan, made from a seed, decides
// which calls of our functions fail and how, which messages come twice or out of turn, how late indexes are and how
// far the clocks are apart; a Life ends an instance of a function after one of its calls; Points returns the calls
// after which a crash makes a difference.
//
// What a plan decides is a pure function of its seed and of which call it is (caller, service, operation, how many-th
// of them), never of the order in which goroutines happen to run. It owns no emulation: the real service answers
// every call that is let through, and whoever starts the cloud attaches the plan to it.
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

// Options make a Plan.
type Options struct {
	Seed     uint64
	Severity Severity // the zero value lets only Rules decide
	Rules    []Rule   // come before chance; the first that fits wins
	// Callers says whose calls may fail; nil means those whose name ends in "Function": the functions of the template,
	// and not the test, the operator or the provisioning.
	Callers func(caller string) bool
}

// Rule makes one call fail, or all of its sort. Empty fields fit everything.
type Rule struct {
	Caller    string // as in wire.Call
	Service   string
	Operation string
	N         int // the how many-th call that the rule fits, from 1; 0 for every one
	Kind      Kind
}

func (r Rule) fits(c wire.Call) bool {
	return (r.Caller == "" || r.Caller == c.Caller) && (r.Service == "" || r.Service == c.Service) &&
		(r.Operation == "" || r.Operation == c.Operation)
}

// Injection is something that a plan did.
type Injection struct {
	Caller    string // for messages, the queue
	Service   string
	Operation string
	N         int // how many-th call of that operation by that caller, from 1; retries count
	Kind      Kind
}

// String names the call and what happened to it: "SweeperFunction dynamodb.Query 3: throttled".
func (i Injection) String() string {
	return i.Caller + " " + i.Service + "." + i.Operation + " " + strconv.Itoa(i.N) + ": " + i.Kind.String()
}

// kept bounds what a plan remembers of a runner that stays up for days; the newest stay.
const kept = 10_000

// Plan decides about calls and remembers what it did. Its methods may be called from many goroutines.
type Plan struct {
	seed     uint64
	severity Severity
	rules    []Rule
	callers  func(string) bool

	mu       sync.Mutex
	paused   bool
	counts   map[site]int
	matches  []int // by rule: how many calls it has fitted
	injected []Injection
}

// site is a sort of call. Its calls are counted.
type site struct{ caller, service, operation string }

// New makes a plan that has decided nothing yet.
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

// Parse makes the plan of a command line: a seed, or a seed and a severity such as "42:harsh". Without one it is mild.
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

// Pause stops the faults, or lets them go on: calls and messages pass and are not counted, indexes keep up. Clocks stay
// as they are.
func (p *Plan) Pause(paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused = paused
}

// Injected lists what the plan has done so far, oldest first.
func (p *Plan) Injected() []Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.injected)
}

// String tells the seed and, a line each, what was done, so that a failed run explains itself.
func (p *Plan) String() string {
	var text strings.Builder
	injected := p.Injected()
	fmt.Fprintf(&text, "seed %d, %s: %d faults", p.seed, p.severity, len(injected))
	for _, i := range injected {
		text.WriteString("\n  " + i.String())
	}
	return text.String()
}

// decide counts a call and says what becomes of it. The number that comes with it is the call's own, for choices
// within the kind.
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

// ruled counts the call for every rule that it fits.
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

// random is the source of chance for one decision: the same names give the same numbers.
func (p *Plan) random(names ...string) *rand.Rand {
	sum := fnv.New64a()
	for _, name := range names {
		_, _ = io.WriteString(sum, name+"\x00") // a hash takes everything
	}
	return rand.New(rand.NewPCG(p.seed, sum.Sum64())) //nolint:gosec // G404: chance that can be had again, and no secret
}

// spread is a time in [0, most].
func spread(random *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(most) + 1))
}
