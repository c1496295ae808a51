// Package lambda runs the functions of template.yaml on this machine, as subprocesses of the runner behind the Lambda
// Runtime API. It owns these processes, their environment, their concurrency and their timeouts. A Remote invokes
// functions that somebody else runs, as package sam does. It does not know what triggers a function (package triggers
// and the gateway do), and it does not build the binaries (package build does).
package lambda

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// maxPayload is Lambda's limit of a synchronous request and of its answer: 6 MB.
const maxPayload = 6 << 20

var (
	errClosed     = errors.New("the runner is shutting down")
	errNoFunction = errors.New("no such function in the template")
	errTooLarge   = errors.New("RequestTooLargeException: the payload is over 6 MB")
)

// FunctionError is the failure of a function that was invoked: it reported an error, ended, or ran out of time. Any
// other error of Invoke means that the function could not be invoked.
type FunctionError struct {
	Type    string // Lambda's errorType, such as "Runtime.ExitError", "Sandbox.Timedout" or the name of a Go type
	Message string // Lambda's errorMessage
}

// Error implements error.
func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// Function is what the template says about one function.
type Function struct {
	ID          string            // logical id, by which it is invoked; also the AWS access key id that names the caller
	Name        string            // physical name
	Bootstrap   string            // path of its executable
	Environment map[string]string // the variables of the template
	LogGroup    string            // where AWS keeps what it writes; only told to the function
	Timeout     time.Duration     // of one invocation, and of the start of a process
	MemoryMB    int               // only told to the function; nothing enforces it here
	Concurrency int               // the most processes at once; further invocations wait; below 1 counts as 1
	// IdleLife is how long a process without work is kept, so that what a burst needed does not stay; 0 is forever.
	IdleLife time.Duration
}

// Options of New.
type Options struct {
	// Address is the host:port at which the Subprocesses are served, and the embedded AWS with them.
	Address    string
	ObjectsURL string // of the embedded S3
	SecretKey  string // of the embedded AWS, for every access key
	Region     string
	Account    string
	Functions  []Function
	// Line receives every line that a function writes to stdout or stderr. It is called by many goroutines.
	Line func(function, line string)
	// Keeps tells whether Lambda may keep what a function writes; else nobody sees it. Nil keeps all.
	Keeps func(function string) bool
	// Observer is told how invocations go; nil is nobody.
	Observer Observer
}

// Observer is told how invocations go. An invocation is named by the root of its X-Ray trace id, which its process gets
// as _X_AMZN_TRACE_ID and the AWS SDK sends on with every call. The methods are called by many goroutines, and partly
// while locks are held: they must neither block nor call back.
type Observer interface {
	// Asked comes first, with the logical id of the function.
	Asked(trace, function string, payload []byte)
	// Starting tells that the invocation waits for the start of a process.
	Starting(trace string)
	// Given tells that a process has it, under a request id.
	Given(trace, request string)
	// Wrote passes a line of a process that the invocation was the last to occupy; it may come late.
	Wrote(trace, line string)
	// Over tells how it ended, as Invoke does, and how much memory its process has had at most, 0 when not known.
	Over(trace string, answer []byte, err error, peakMemory int64)
}

// Subprocesses runs functions as processes of this machine. It is also the http.Handler of the Lambda Runtime API that
// these processes talk to, and has to be served at Options.Address under Prefix.
type Subprocesses struct {
	options  Options
	observer Observer
	api      *http.ServeMux
	pending  sync.WaitGroup // invocations; also those whose caller has gone

	mu        sync.Mutex // guards what follows, and all state of pools and instances
	pools     map[string]*pool
	instances map[string]*instance // by their id, which is the capability to speak for the instance
	closed    bool
}

// New prepares the functions; no process starts before the first Invoke.
func New(options Options) *Subprocesses {
	s := &Subprocesses{
		options:   options,
		observer:  cmp.Or[Observer](options.Observer, unobserved{}),
		pools:     make(map[string]*pool, len(options.Functions)),
		instances: make(map[string]*instance),
	}
	for _, f := range options.Functions {
		s.pools[f.ID] = newPool(f)
	}
	s.api = s.routes()
	return s
}

// Invoke runs function, a logical id, with payload and returns its answer. When the function failed, the
// error is a *FunctionError. As in AWS, the end of ctx ends the waiting and not the function, which goes on
// until it is done or out of time.
func (s *Subprocesses) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	if len(payload) > maxPayload {
		return nil, errTooLarge
	}
	p, err := s.begin(function)
	if err != nil {
		return nil, err
	}
	answer := make(chan outcome, 1)
	go func() {
		defer s.pending.Done()
		answer <- s.run(ctx, p, payload)
	}()
	select {
	case out := <-answer:
		return out.body, out.err
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for %s: %w", function, ctx.Err())
	}
}

// Kill ends all processes of function with SIGKILL, in the middle of whatever they do, and returns how many it ended.
func (s *Subprocesses) Kill(function string) int {
	s.mu.Lock()
	var victims []*instance
	if p, ok := s.pools[function]; ok {
		victims = slices.Collect(maps.Keys(p.live))
	}
	s.mu.Unlock()
	killAll(victims)
	return len(victims)
}

// Close ends all processes and refuses further invocations. It returns when no process is left.
func (s *Subprocesses) Close() {
	s.mu.Lock()
	s.closed = true
	victims := slices.Collect(maps.Values(s.instances))
	s.mu.Unlock()
	killAll(victims)
	s.pending.Wait()
}

// Status is how one function stands, for people.
type Status struct {
	ID          string
	Processes   int // alive
	Busy        int // of these, how many work on an invocation
	Invocations int // begun since the start of the runner
	Failures    int // of these
	Log         []string
}

// Status tells how every function stands, ordered by logical id.
func (s *Subprocesses) Status() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Status, 0, len(s.pools))
	for id, p := range s.pools {
		all = append(all, Status{
			ID: id, Processes: len(p.live), Busy: len(p.live) - len(p.idle),
			Invocations: p.invocations, Failures: p.failures, Log: p.log.lines(),
		})
	}
	slices.SortFunc(all, func(a, b Status) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// begin counts an invocation in, so that Close can wait for it.
func (s *Subprocesses) begin(function string) (*pool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.pools[function]
	switch {
	case !ok:
		return nil, fmt.Errorf("invoke %q: %w", function, errNoFunction)
	case s.closed:
		return nil, errClosed
	}
	p.invocations++
	s.pending.Add(1)
	return p, nil
}

// run carries one invocation through.
func (s *Subprocesses) run(ctx context.Context, p *pool, payload []byte) outcome {
	trace := newTrace()
	s.observer.Asked(trace, p.function.ID, payload)
	out, memory := s.carry(ctx, p, trace, payload)
	s.observer.Over(trace, out.body, out.err, memory)
	return s.count(p, out)
}

// carry gives the invocation to an instance, to a second one when the first died before it saw the invocation. It also
// returns the most memory that the instance has had, 0 when that is not known.
func (s *Subprocesses) carry(ctx context.Context, p *pool, trace string, payload []byte) (out outcome, memory int64) {
	for {
		in, err := s.acquire(ctx, p, trace)
		if err != nil {
			return outcome{err: err}, 0
		}
		inv := &invocation{id: rand.Text(), trace: trace, payload: payload, over: make(chan struct{})}
		s.assign(in, inv)
		if out, ok := in.wait(inv); ok {
			return out, peakMemory(in)
		}
	}
}

func (s *Subprocesses) count(p *pool, out outcome) outcome {
	if out.err != nil {
		s.mu.Lock()
		p.failures++
		s.mu.Unlock()
	}
	return out
}
