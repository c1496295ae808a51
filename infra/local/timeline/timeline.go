// Package timeline records recent function activity on this machine, for debugging. The record contains each invocation
// with its trigger, outcome, log lines and AWS calls. The record has a bounded size. The package assigns AWS calls to
// invocations by trace ID. Lambda's Go runtime passes an invocation's trace ID to the AWS SDK, which sends it with
// every call as X-Amzn-Trace-Id.
//
// Package lambda calls the hooks (its Observer), the embedded AWS calls the Middleware, and package console reads the
// record. The record doesn't contain any bodies, row keys or query strings.
package timeline

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Limits on the record's size. An invocation at these limits takes about 80 KB; a typical one takes 3 KB.
const (
	mostInvocations = 500
	mostCalls       = 200      // maximum number of calls per invocation; later calls are dropped
	mostLines       = 100      // maximum per invocation; later lines are dropped
	mostLineBytes   = 32 << 10 // per invocation
)

// Invocation describes an invocation's state. Times are in milliseconds since the field At.
type Invocation struct {
	ID       string    `json:"id"`       // root of the trace ID, such as "1-67465b3f-0123456789abcdef01234567"
	Function string    `json:"function"` // logical ID of the function
	At       time.Time `json:"at"`       // time at which the invocation was requested
	Trigger  string    `json:"trigger"`  // one of "http", "queue", "schedule" and "other"
	// details, such as "GET /bridge/org", "local-ExportQueue: 1 message" or "SweeperFunctionTick"
	What    string `json:"what"`
	State   State  `json:"state"`
	Cold    bool   `json:"cold"`    // a process was started for the invocation
	Outcome string `json:"outcome"` // result, such as "200", "done" or "Sandbox.Timedout"
	Error   string `json:"error,omitempty"`
	// Wait is the time until a process received the invocation, including any cold start. Duration is the time that the
	// process took to handle the invocation.
	Wait       float64 `json:"wait_ms"`
	Duration   float64 `json:"duration_ms"`
	PeakMemory int64   `json:"peak_memory_bytes,omitempty"` // peak since the process started, or 0 if unknown
	CallCount  int     `json:"call_count"`

	// Wide holds the JSON objects that the invocation logged for its units of work (package logx): one, or one for each
	// message in a batch.
	Wide []string `json:"wide,omitempty"`

	// List leaves the following fields empty.
	Lines       []string `json:"lines,omitempty"`        // all lines except unit-of-work lines
	LinesMissed int      `json:"lines_missed,omitempty"` // number of lines dropped because of limits
	Calls       []Call   `json:"calls,omitempty"`        // in order of start; CallCount includes dropped calls
	RequestIDs  []string `json:"request_ids,omitempty"`  // IDs from Lambda, and from API Gateway or SQS messages
}

// State is the stage that an invocation has reached.
type State string

// Invocation states.
const (
	Waiting State = "waiting" // not yet received by a process
	Running State = "running"
	Done    State = "done"
	// Failed means that the function failed, responded with a 5xx status, failed to process a message, or logged a
	// unit-of-work error.
	Failed State = "failed"
)

// Call is an AWS call made by an invocation.
type Call struct {
	Service   string `json:"service"`          // service name, as in wire.Call
	Operation string `json:"operation"`        // AWS operation name
	Target    string `json:"target,omitempty"` // table, index, queue, bucket and object key, KMS key or secret
	Init      bool   `json:"init,omitempty"`   // the call was made during a cold start
	// Start is the call's arrival in milliseconds since the invocation's At. Duration is the time from arrival to
	// response, in milliseconds.
	Start    float64 `json:"start_ms"`
	Duration float64 `json:"duration_ms"`
	Status   int     `json:"status"`          // HTTP status; 0 if the connection was aborted
	Error    string  `json:"error,omitempty"` // AWS error code
	BytesIn  int64   `json:"bytes_in"`        // request body size
	BytesOut int64   `json:"bytes_out"`       // response body size
}

// Filter selects invocations.
type Filter struct {
	Function string // logical ID of a function; "" means any
	Without  string // logical ID of a function to exclude
	Failed   bool   // select only failed invocations
	Limit    int    // maximum number of invocations; below 1 means no limit
}

// Recorder stores invocations. A Recorder is safe for concurrent use. Its hook methods do not block.
type Recorder struct {
	now func() time.Time

	mu        sync.Mutex     // guards the fields below and the records
	recent    []*record      // oldest first
	ofEach    map[string]int // number of entries in recent, by function
	byTrace   map[string]*record
	byRequest map[string]*record
	starting  map[string][]*record // invocations waiting for a process to start, by function
}

// New returns an empty Recorder.
func New(now func() time.Time) *Recorder {
	return &Recorder{
		now: now, ofEach: make(map[string]int), byTrace: make(map[string]*record), byRequest: make(map[string]*record),
		starting: make(map[string][]*record),
	}
}

// List returns the invocations that match f, newest first, without lines and calls.
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

// Get returns the invocation with the given ID, including its lines and calls. If the invocation is unknown or has been
// dropped, ok is false.
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

// summary returns known's invocation without the fields that lists omit. The caller must hold r.mu.
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

// state returns the invocation's state. An invocation that succeeded for Lambda but logged an error, for example
// because it set a poison message aside, is Failed.
func (r *record) state() State {
	if r.State == Done && r.troubled {
		return Failed
	}
	return r.State
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
