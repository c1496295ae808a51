// Package timeline remembers what the functions of this machine did lately: each invocation with what triggered it, how
// it went, the log lines that its process wrote and the AWS calls that it made, for people who look for a mistake. It
// owns that memory, which is bounded, and the telling of one invocation's calls from another's: each invocation has a
// trace id, which Lambda's Go runtime hands to the AWS SDK, which sends it with every call as X-Amzn-Trace-Id.
//
// It runs nothing and serves nothing: package lambda calls the hooks (its Observer), the embedded AWS the Middleware,
// package console reads. It keeps no bodies, no keys of rows and no query strings.
package timeline

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// What is remembered. An invocation with all that fits takes some 80 KB, a usual one 3 KB.
const (
	mostInvocations = 500
	mostCalls       = 200      // of one invocation, the first ones
	mostLines       = 100      // of one invocation, the first ones
	mostLineBytes   = 32 << 10 // of one invocation
)

// Invocation is one invocation as it stands when it is asked for. Times are milliseconds since At.
type Invocation struct {
	ID       string    `json:"id"`       // the root of its trace id: "1-67465b3f-0123456789abcdef01234567"
	Function string    `json:"function"` // logical id
	At       time.Time `json:"at"`       // when it was asked for
	Trigger  string    `json:"trigger"`  // "http", "queue", "schedule" or "other"
	What     string    `json:"what"`     // "GET /bridge/org", "local-ExportQueue: 1 message", "SweeperFunctionTick"
	State    State     `json:"state"`
	Cold     bool      `json:"cold"`    // a process was started for it
	Outcome  string    `json:"outcome"` // of what is over: "200", "done", "1 of 2 messages failed", "Sandbox.Timedout"
	Error    string    `json:"error,omitempty"`
	// Wait is how long it took until a process had it, cold start included; Duration how long the process worked on it.
	Wait       float64 `json:"wait_ms"`
	Duration   float64 `json:"duration_ms"`
	PeakMemory int64   `json:"peak_memory_bytes,omitempty"` // of the process, whole life; 0 is not known
	CallCount  int     `json:"call_count"`

	// Wide are the JSON objects of its unit-of-work lines (package logx): one, or one for each message of a batch.
	Wide []string `json:"wide,omitempty"`

	// What follows is not in lists.
	Lines       []string `json:"lines,omitempty"`        // all lines but the wide ones
	LinesMissed int      `json:"lines_missed,omitempty"` // over the limits
	Calls       []Call   `json:"calls,omitempty"`        // in the order in which they began; CallCount counts all
	RequestIDs  []string `json:"request_ids,omitempty"`  // API Gateway's or the messages', and Lambda's own
}

// State is how far an invocation is.
type State string

// The states.
const (
	Waiting State = "waiting" // for a process: a free one, or one that starts
	Running State = "running"
	Done    State = "done"
	// the function failed, answered 5xx, left a message undone, or logged the error of a unit of work
	Failed State = "failed"
)

// Call is one AWS call of an invocation.
type Call struct {
	Service   string `json:"service"`          // as in wire.Call
	Operation string `json:"operation"`        // as AWS names it
	Target    string `json:"target,omitempty"` // table, index, queue, bucket and key, or name of the key or secret
	Init      bool   `json:"init,omitempty"`   // made by the process while it started
	// Start is when it came in, in milliseconds after the invocation's At; Duration how long the answer took.
	Start    float64 `json:"start_ms"`
	Duration float64 `json:"duration_ms"`
	Status   int     `json:"status"`          // of HTTP; 0 when the connection was broken off
	Error    string  `json:"error,omitempty"` // AWS's error code
	BytesIn  int64   `json:"bytes_in"`        // of the request's body
	BytesOut int64   `json:"bytes_out"`       // of the answer's body
}

// Filter chooses invocations.
type Filter struct {
	Function string // logical id; "" is any
	Without  string // logical id of a function that is left out
	Failed   bool   // only those that failed
	Limit    int    // at most so many; below 1 is no limit
}

// Recorder is the memory. Its methods may be called by many goroutines; the hooks do not block.
type Recorder struct {
	now func() time.Time

	mu        sync.Mutex     // guards what follows, and the records
	recent    []*record      // oldest first
	ofEach    map[string]int // how many of recent are of a function
	byTrace   map[string]*record
	byRequest map[string]*record
	starting  map[string][]*record // by function: those for which a process starts
}

// New makes an empty Recorder.
func New(now func() time.Time) *Recorder {
	return &Recorder{
		now: now, ofEach: make(map[string]int), byTrace: make(map[string]*record), byRequest: make(map[string]*record),
		starting: make(map[string][]*record),
	}
}

// List returns the invocations that f chooses, newest first, without their lines and calls.
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

// Get returns everything about one invocation; ok is false when it is not, or no longer, known.
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

// summary is known as lists show it. The caller holds the lock.
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

// state counts what went well for Lambda, but not for the service, as failed: a message put aside as poison, say.
func (r *record) state() State {
	if r.State == Done && r.troubled {
		return Failed
	}
	return r.State
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
