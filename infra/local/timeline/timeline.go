// Package timeline records the recent activity of the functions on this machine, for debugging. The record contains
// each invocation with its trigger, its outcome, its process's log lines and its AWS calls. The package owns the
// record, whose size is bounded, and assigns calls to invocations. Each invocation has a trace ID, which Lambda's Go
// runtime passes to the AWS SDK. The SDK sends the trace ID with every call as X-Amzn-Trace-Id.
//
// The package is passive. Package lambda calls the hooks (its Observer), the embedded AWS calls the Middleware, and
// package console reads the record. The record doesn't contain any bodies, row keys or query strings.
package timeline

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Limits of the record. An invocation that reaches these limits takes about 80 KB. A typical invocation takes 3 KB.
const (
	mostInvocations = 500
	mostCalls       = 200      // maximum calls per invocation; later calls are dropped
	mostLines       = 100      // maximum lines per invocation; later lines are dropped
	mostLineBytes   = 32 << 10 // per invocation
)

// Invocation is the current state of an invocation. Times are in milliseconds since At.
type Invocation struct {
	ID       string    `json:"id"`       // root of the trace ID, such as "1-67465b3f-0123456789abcdef01234567"
	Function string    `json:"function"` // the function's logical ID
	At       time.Time `json:"at"`       // time at which the invocation was requested
	Trigger  string    `json:"trigger"`  // "http", "queue", "schedule" or "other"
	// trigger's details, such as "GET /bridge/org", "local-ExportQueue: 1 message" or "SweeperFunctionTick"
	What    string `json:"what"`
	State   State  `json:"state"`
	Cold    bool   `json:"cold"`    // whether a process was started for the invocation
	Outcome string `json:"outcome"` // set at the end: "200", "done", "1 of 2 messages failed", "Sandbox.Timedout"
	Error   string `json:"error,omitempty"`
	// Wait is the time until a process received the invocation, including a cold start. Duration is the time that the
	// process took to handle the invocation.
	Wait       float64 `json:"wait_ms"`
	Duration   float64 `json:"duration_ms"`
	PeakMemory int64   `json:"peak_memory_bytes,omitempty"` // the process's lifetime peak; 0 if unknown
	CallCount  int     `json:"call_count"`

	// Wide holds the JSON objects in the invocation's unit-of-work lines (package logx): a single object, or an object
	// for each message in a batch.
	Wide []string `json:"wide,omitempty"`

	// Lists omit the following fields.
	Lines       []string `json:"lines,omitempty"`        // all lines except the unit-of-work lines
	LinesMissed int      `json:"lines_missed,omitempty"` // number of lines dropped because of the limits
	Calls       []Call   `json:"calls,omitempty"`        // calls in order of start; CallCount also counts dropped calls
	RequestIDs  []string `json:"request_ids,omitempty"`  // request IDs of API Gateway or the messages, and of Lambda
}

// State is an invocation's progress.
type State string

// Invocation states.
const (
	Waiting State = "waiting" // waiting for a process
	Running State = "running"
	Done    State = "done"
	// Failed means that the function failed, responded with 5xx, did not complete a message, or logged a unit-of-work
	// error.
	Failed State = "failed"
)

// Call is an AWS call made by an invocation.
type Call struct {
	Service   string `json:"service"`          // service name, as in wire.Call
	Operation string `json:"operation"`        // AWS's operation name
	Target    string `json:"target,omitempty"` // table, index, queue, bucket and key, or the name of a key or secret
	Init      bool   `json:"init,omitempty"`   // whether the process made the call while starting
	// Start is the call's arrival in milliseconds after the invocation's At. Duration is the time from the call's
	// arrival to its response.
	Start    float64 `json:"start_ms"`
	Duration float64 `json:"duration_ms"`
	Status   int     `json:"status"`          // HTTP status; 0 if the connection was aborted
	Error    string  `json:"error,omitempty"` // AWS's error code
	BytesIn  int64   `json:"bytes_in"`        // size of the request body
	BytesOut int64   `json:"bytes_out"`       // size of the response body
}

// Filter selects invocations.
type Filter struct {
	Function string // logical ID of the function; "" means any function
	Without  string // logical ID of a function to exclude
	Failed   bool   // whether to select only failed invocations
	Limit    int    // maximum number of invocations; below 1 means no limit
}

// Recorder stores invocations. A Recorder is safe for concurrent use, and its hooks do not block.
type Recorder struct {
	now func() time.Time

	mu        sync.Mutex     // guards the following fields and the records
	recent    []*record      // oldest first
	ofEach    map[string]int // number of invocations in recent, by function
	byTrace   map[string]*record
	byRequest map[string]*record
	starting  map[string][]*record // invocations for which a process is starting, by function
}

// New returns an empty Recorder.
func New(now func() time.Time) *Recorder {
	return &Recorder{
		now: now, ofEach: make(map[string]int), byTrace: make(map[string]*record), byRequest: make(map[string]*record),
		starting: make(map[string][]*record),
	}
}

// List returns the invocations that match f, newest first, without their lines and calls.
func (r *Recorder) List(f Filter) []Invocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	chosen := []Invocation{}
	for _, known := range slices.Backward(r.recent) {
		if !f.fits(known) {
			continue
		}
		chosen = append(chosen, r.summary(known))
		if len(chosen) == f.Limit {
			break
		}
	}
	return chosen
}

func (f Filter) fits(known *record) bool {
	return (f.Function == "" || known.Function == f.Function) && known.Function != f.Without &&
		(!f.Failed || known.state() == Failed)
}

// Get returns an invocation with its lines and calls. If the invocation is unknown or has been dropped, ok is false.
func (r *Recorder) Get(id string) (invocation Invocation, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.byTrace[id]
	if !ok {
		return Invocation{}, false
	}
	whole := r.summary(known)
	whole.Lines, whole.LinesMissed = slices.Clone(known.Lines), known.LinesMissed
	whole.Calls = slices.Clone(known.Calls)
	slices.SortStableFunc(whole.Calls, func(a, b Call) int { return cmp.Compare(a.Start, b.Start) })
	whole.RequestIDs = slices.Clone(known.RequestIDs)
	return whole, true
}

// summary returns the form of known that lists use. The caller holds the lock.
func (r *Recorder) summary(known *record) Invocation {
	short := known.Invocation
	short.Lines, short.LinesMissed, short.Calls, short.RequestIDs = nil, 0, nil, nil
	short.Wide = slices.Clone(known.Wide)
	if short.State = known.state(); short.State != known.State {
		short.Outcome += ", logged an error"
	}
	switch known.State {
	case Waiting:
		short.Wait = milliseconds(r.now().Sub(known.At))
	case Running:
		short.Duration = milliseconds(r.now().Sub(known.begun))
	case Done, Failed:
	}
	return short
}

// state returns Failed even for an invocation that succeeded for Lambda but not for the service, such as one that set a
// message aside as poison.
func (r *record) state() State {
	if r.State == Done && r.troubled {
		return Failed
	}
	return r.State
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
