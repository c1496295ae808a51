// Package lambda runs the functions in template.yaml on this machine, as subprocesses of the runner behind the Lambda
// Runtime API. The package manages the processes, their environment, their concurrency and their timeouts. A Remote
// invokes functions that run elsewhere, such as those of package sam. Packages triggers and gateway invoke the
// functions, and package build builds the binaries.
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

// maxPayload is Lambda's size limit, in bytes, for a synchronous request and for its response.
const maxPayload = 6 << 20

var (
	errClosed     = errors.New("the runner is shutting down")
	errNoFunction = errors.New("no such function in the template")
	errTooLarge   = errors.New("RequestTooLargeException: the payload is over 6 MB")
)

// FunctionError is the error for an invoked function that reported an error, exited or timed out. Any other error from
// Invoke means that the function could not be invoked.
type FunctionError struct {
	Type    string // Lambda's errorType, such as "Runtime.ExitError", "Sandbox.Timedout" or a Go type's name
	Message string // Lambda's errorMessage
}

// Error implements error.
func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// Function holds a function's settings from the template.
type Function struct {
	ID          string            // logical ID used in invocations and as the caller's AWS access key ID
	Name        string            // physical name
	Bootstrap   string            // path of the executable
	Environment map[string]string // the template's variables
	LogGroup    string            // log group on AWS, passed to the function but not otherwise used
	Timeout     time.Duration     // time limit for an invocation and for a process's start
	MemoryMB    int               // passed to the function but not enforced
	Concurrency int               // maximum number of processes, at least 1; further invocations wait
	// IdleLife is the idle time after which a process is stopped, so that processes started for a burst eventually
	// exit. If IdleLife is zero, idle processes are retained forever.
	IdleLife time.Duration
}

// Options configures New.
type Options struct {
	// Address is the host:port of the Runtime API and the embedded AWS.
	Address    string
	ObjectsURL string // URL of the embedded S3
	SecretKey  string // secret key of the embedded AWS, for every access key
	Region     string
	Account    string
	Functions  []Function
	// Line receives every line that a function writes to stdout or stderr. Line may be called concurrently.
	Line func(function, line string)
	// Keeps reports whether Lambda may store a function's output. Any other output is dropped. If Keeps is nil, the
	// output of all functions is passed on.
	Keeps func(function string) bool
	// Observer receives notifications about the progress of invocations. Observer may be nil.
	Observer Observer
}

// Observer receives notifications about the progress of invocations. Each invocation is identified by trace, the root
// of its X-Ray trace ID. The process receives the trace ID as _X_AMZN_TRACE_ID, and the AWS SDK sends it with every
// call. The methods may be called concurrently. Implementations must not block or call back, because some methods are
// called with locks held.
type Observer interface {
	// Requested is called before all other methods, with the function's logical ID.
	Requested(trace, function string, payload []byte)
	// Starting reports that the invocation is waiting for a process to start.
	Starting(trace string)
	// Assigned reports that a process has received the invocation. The invocation has a request ID from this point on.
	Assigned(trace, request string)
	// Wrote reports a log line from a process whose latest invocation has the given trace. A log line may be reported
	// after the invocation's response.
	Wrote(trace, line string)
	// Ended reports the result that Invoke returns and the process's peak memory, or 0 if it is unknown.
	Ended(trace string, answer []byte, err error, peakMemory int64)
}

// Subprocesses runs functions as processes on this machine, and is the http.Handler for the Lambda Runtime API that the
// processes call. A Subprocesses handler must be served at Options.Address under Prefix.
type Subprocesses struct {
	options  Options
	observer Observer
	api      *http.ServeMux
	pending  sync.WaitGroup // invocations, including those whose callers have stopped waiting

	mu        sync.Mutex // guards the following fields and all state of pools and instances
	pools     map[string]*pool
	instances map[string]*instance // instances by ID; the ID authorises requests for the instance
	closed    bool
}

// New prepares the functions. The first process is not started before the first Invoke.
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

// Invoke runs the function with the given logical ID on payload and returns the function's response. If the function
// fails, the error is a *FunctionError. If ctx ends, Invoke stops waiting but, as on AWS, the function continues until
// it completes or times out.
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

// Kill ends all processes of a function with SIGKILL, whatever their state, and returns how many it ended.
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

// Replace makes a function's next process run another executable, ends the function's processes, and reports whether
// the function exists.
func (s *Subprocesses) Replace(function, bootstrap string) bool {
	s.mu.Lock()
	p, ok := s.pools[function]
	if ok {
		p.function.Bootstrap = bootstrap
	}
	s.mu.Unlock()
	s.Kill(function)
	return ok
}

// Close ends all processes, rejects further invocations, and returns after all processes have ended.
func (s *Subprocesses) Close() {
	s.mu.Lock()
	s.closed = true
	victims := slices.Collect(maps.Values(s.instances))
	s.mu.Unlock()
	killAll(victims)
	s.pending.Wait()
}

// Status describes a function's state for display.
type Status struct {
	ID          string
	Processes   int // number of running processes
	Busy        int // number of processes that are handling an invocation
	Invocations int // number of invocations since the runner started
	Failures    int // failed invocations
	Log         []string
}

// Status returns the status of every function, ordered by logical ID.
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

// begin registers an invocation so that Close waits for it.
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

func (s *Subprocesses) run(ctx context.Context, p *pool, payload []byte) outcome {
	trace := newTrace()
	s.observer.Requested(trace, p.function.ID, payload)
	out, memory := s.carry(ctx, p, trace, payload)
	s.observer.Ended(trace, out.body, out.err, memory)
	return s.count(p, out)
}

// carry passes the invocation to an instance. If the instance ends before receiving the invocation, carry tries another
// one. It also returns the instance's peak memory, or 0 if it is unknown.
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
