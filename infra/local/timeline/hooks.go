package timeline

import (
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"recordbridge/infra/local/lambda"
)

// record is an invocation together with the Recorder's internal data.
type record struct {
	Invocation

	begun     time.Time // time at which a process received the invocation
	troubled  bool      // true if a unit-of-work log line has level ERROR
	lineBytes int
}

// Requested records that a function was invoked with payload. trace is the Root field of the invocation's trace ID.
func (r *Recorder) Requested(trace, function string, payload []byte) {
	trigger, what, requests := read(payload)
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := &record{Invocation: Invocation{
		ID: trace, Function: function, At: r.now(), Trigger: trigger, What: what, State: Waiting,
	}}
	if len(r.recent) == mostInvocations {
		r.forgetOne()
	}
	r.recent = append(r.recent, fresh)
	r.ofEach[function]++
	r.byTrace[trace] = fresh
	for _, id := range requests {
		r.claim(fresh, id)
	}
}

// Starting records that a process is being started for the invocation.
func (r *Recorder) Starting(trace string) {
	r.with(trace, func(known *record) {
		known.Cold = true
		r.starting[known.Function] = append(r.starting[known.Function], known)
	})
}

// Assigned records that a process has received the invocation. request is Lambda's request ID.
func (r *Recorder) Assigned(trace, request string) {
	r.with(trace, func(known *record) {
		r.started(known)
		r.claim(known, request)
		known.State, known.begun = Running, r.now()
		known.Wait = milliseconds(known.begun.Sub(known.At))
	})
}

// Wrote records a line from a process whose latest invocation has the given trace. A line that contains another
// invocation's request ID is assigned to that invocation, because a pipe may be read after the process has started its
// next invocation.
func (r *Recorder) Wrote(trace, line string) {
	var unit struct {
		Message string `json:"msg"`
		Request string `json:"request_id"`
		Level   string `json:"level"`
	}
	wide := json.Unmarshal([]byte(line), &unit) == nil && unit.Message != "" && unit.Request != ""
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.byTrace[trace]
	if owner := r.byRequest[unit.Request]; wide && owner != nil {
		known = owner
	}
	switch {
	case known == nil:
	case len(known.Lines)+len(known.Wide) == mostLines || known.lineBytes+len(line) > mostLineBytes:
		known.LinesMissed++
	default:
		known.lineBytes += len(line)
		if wide && slices.Contains(known.RequestIDs, unit.Request) {
			known.Wide = append(known.Wide, line)
			known.troubled = known.troubled || unit.Level == slog.LevelError.String()
		} else {
			known.Lines = append(known.Lines, line)
		}
	}
}

// Ended records the end of an invocation with the function's response or err. If the function itself failed, err is a
// *lambda.FunctionError. peakMemory is in bytes, or 0 if unknown.
func (r *Recorder) Ended(trace string, answer []byte, err error, peakMemory int64) {
	outcome, failed := outcomeOf(answer)
	message := ""
	if err != nil {
		outcome, failed, message = "not invoked", true, err.Error()
		if failure, ok := errors.AsType[*lambda.FunctionError](err); ok {
			outcome, message = failure.Type, failure.Message
		}
	}
	r.with(trace, func(known *record) {
		r.started(known)
		known.State, known.Outcome, known.Error, known.PeakMemory = Done, outcome, message, peakMemory
		if failed {
			known.State = Failed
		}
		if known.begun.IsZero() {
			known.Wait = milliseconds(r.now().Sub(known.At))
			return
		}
		known.Duration = milliseconds(r.now().Sub(known.begun))
	})
}

// with holds r.mu while it calls change. It does nothing if the invocation has been dropped.
func (r *Recorder) with(trace string, change func(*record)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.byTrace[trace]; known != nil {
		change(known)
	}
}

// claim assigns the log lines that contain the given request ID to known. The caller must hold r.mu.
func (r *Recorder) claim(known *record, request string) {
	if request == "" {
		return
	}
	known.RequestIDs = append(known.RequestIDs, request)
	r.byRequest[request] = known // a redelivered message is attributed to its latest delivery
}

// started records that the process for the invocation known has started. The caller must hold r.mu.
func (r *Recorder) started(known *record) {
	left := slices.DeleteFunc(r.starting[known.Function], func(other *record) bool { return other == known })
	if len(left) == 0 {
		delete(r.starting, known.Function)
	} else {
		r.starting[known.Function] = left
	}
}

// forgetOne drops the oldest invocation of the function with the most invocations, so that a busy function does not
// displace others. For example, the sandbox's portal is busy during an export. The caller must hold r.mu.
func (r *Recorder) forgetOne() {
	busiest := r.recent[0].Function
	for function, n := range r.ofEach {
		if n > r.ofEach[busiest] {
			busiest = function
		}
	}
	at := slices.IndexFunc(r.recent, func(known *record) bool { return known.Function == busiest })
	known := r.recent[at]
	r.recent = slices.Delete(r.recent, at, at+1)
	if r.ofEach[busiest]--; r.ofEach[busiest] == 0 {
		delete(r.ofEach, busiest)
	}
	r.started(known)
	delete(r.byTrace, known.ID)
	for _, request := range known.RequestIDs {
		if r.byRequest[request] == known {
			delete(r.byRequest, request)
		}
	}
}
