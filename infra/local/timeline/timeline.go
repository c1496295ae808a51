// Package timeline records the recent activity of the functions on this machine, for debugging: each invocation with
// its trigger, its outcome, its process's log lines and its AWS calls. It owns that record, which is bounded, and the
// attribution of calls to invocations: each invocation has a trace id, which Lambda's Go runtime passes to the AWS SDK,
// which sends it with every call as X-Amzn-Trace-Id.
//
// It runs and serves nothing: package lambda calls the hooks (its Observer), the embedded AWS the Middleware, and
// package console reads the record. It stores no bodies, no keys of rows and no query strings.
package timeline

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Limits of the record. An invocation at the limits takes some 80 KB, a usual one 3 KB.
const (
	mostInvocations = 500
	mostCalls       = 200      // of one invocation, the first ones
	mostLines       = 100      // of one invocation, the first ones
	mostLineBytes   = 32 << 10 // of one invocation
)

// Invocation is the current state of one invocation. Times are milliseconds since At.
type Invocation struct {
	ID       string    `json:"id"`       // the root of its trace id: "1-67465b3f-0123456789abcdef01234567"
	Function string    `json:"function"` // logical id
	At       time.Time `json:"at"`       // when it was requested
	Trigger  string    `json:"trigger"`  // "http", "queue", "schedule" or "other"
	What     string    `json:"what"`     // "GET /bridge/org", "local-ExportQueue: 1 message", "SweeperFunctionTick"
	State    State     `json:"state"`
	Cold     bool      `json:"cold"`    // a process was started for it
	Outcome  string    `json:"outcome"` // once it is over: "200", "done", "1 of 2 messages failed", "Sandbox.Timedout"
	Error    string    `json:"error,omitempty"`
	// Wait is the time until a process received it, including a cold start; Duration is how long the process handled it.
	Wait       float64 `json:"wait_ms"`
	Duration   float64 `json:"duration_ms"`
	PeakMemory int64   `json:"peak_memory_bytes,omitempty"` // of the process over its lifetime; 0 if unknown
	CallCount  int     `json:"call_count"`

	// Wide holds the JSON objects of its unit-of-work lines (package logx): one, or one for each message of a batch.
	Wide []string `json:"wide,omitempty"`

	// The following fields are omitted in lists.
	Lines       []string `json:"lines,omitempty"`        // all lines except the wide ones
	LinesMissed int      `json:"lines_missed,omitempty"` // lines beyond the limits
	Calls       []Call   `json:"calls,omitempty"`        // in the order of their start; CallCount counts all
	RequestIDs  []string `json:"request_ids,omitempty"`  // API Gateway's or the messages', and Lambda's own
}

// State is the progress of an invocation.
type State string

// States of an invocation.
const (
	Waiting State = "waiting" // for a process that is free or starting
	Running State = "running"
	Done    State = "done"
	// Failed means that the function failed, responded with 5xx, did not complete a message, or logged the error of a unit
	// of work.
	Failed State = "failed"
)

// Call is one AWS call of an invocation.
type Call struct {
	Service   string `json:"service"`          // as in wire.Call
	Operation string `json:"operation"`        // AWS's name of the operation
	Target    string `json:"target,omitempty"` // table, index, queue, bucket and key, or name of the key or secret
	Init      bool   `json:"init,omitempty"`   // made by the process while it started
	// Start is the call's arrival in milliseconds after the invocation's At; Duration is the time until its response.
	Start    float64 `json:"start_ms"`
	Duration float64 `json:"duration_ms"`
	Status   int     `json:"status"`          // HTTP status; 0 if the connection was aborted
	Error    string  `json:"error,omitempty"` // AWS's error code
	BytesIn  int64   `json:"bytes_in"`        // of the request's body
	BytesOut int64   `json:"bytes_out"`       // of the response's body
}

// Filter selects invocations.
type Filter struct {
	Function string // logical id; "" means any
	Without  string // logical id of a function to exclude
	Failed   bool   // only failed ones
	Limit    int    // maximum number; below 1 means no limit
}

// Recorder stores the recorded invocations. It is safe for concurrent use; the hooks do not block.
type Recorder struct {
	now func() time.Time

	mu        sync.Mutex     // guards the following fields and the records
	recent    []*record      // oldest first
	ofEach    map[string]int // number of a function's invocations in recent
	byTrace   map[string]*record
	byRequest map[string]*record
	starting  map[string][]*record // by function: invocations for which a process is starting
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

// Get returns everything about one invocation; ok is false if it is unknown or has been dropped.
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

// summary returns known in the form of lists. The caller holds the lock.
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

// state returns Failed also for invocations that succeeded for Lambda but not for the service, such as a message put
// aside as poison.
func (r *record) state() State {
	if r.State == Done && r.troubled {
		return Failed
	}
	return r.State
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
