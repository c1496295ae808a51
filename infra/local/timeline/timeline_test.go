package timeline_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/lambda"
	"recordbridge/infra/local/timeline"
)

// clock advances by one millisecond each time it is read, so that all times differ.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(time.Millisecond)
	return c.at
}

func start() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }

func recorder() *timeline.Recorder { return timeline.New((&clock{at: start()}).now) }

const (
	request = `{"httpMethod":"GET","resource":"/x/{id}","pathParameters":{"id":"SECRET"},` +
		`"requestContext":{"requestId":"r-1"}}`
	portal = `{"httpMethod":"GET","resource":"/sandbox/{proxy+}","pathParameters":{"proxy":"fhir/Patient"}}`
	batch  = `{"Records":[{"messageId":"m-1","eventSourceARN":"arn:aws:sqs:us-east-1:0:Q"},` +
		`{"messageId":"m-2","eventSourceARN":"arn:aws:sqs:us-east-1:0:Q"}]}`
	scheduled = `{"detail-type":"Scheduled Event","resources":["arn:aws:events:us-east-1:0:rule/SweeperTick"]}`
)

func get(t *testing.T, r *timeline.Recorder, id string) timeline.Invocation {
	t.Helper()
	got, ok := r.Get(id)
	if !ok {
		t.Fatalf("invocation %s is not known", id)
	}
	return got
}

func TestRecorderStoresInvocationDetails(t *testing.T) {
	t.Parallel()
	r := recorder()
	r.Requested("1-a", "GetFunction", []byte(request)) // at 1 ms on the test's clock
	r.Starting("1-a")
	r.Assigned("1-a", "lambda-1") // at 2 ms on the test's clock
	wide := `{"level":"INFO","msg":"http.request","request_id":"r-1","status":201}`
	r.Wrote("1-a", wide)
	r.Wrote("1-a", `{"level":"INFO","msg":"no unit of work"}`)
	r.Wrote("1-a", "no JSON")
	r.Ended("1-a", []byte(`{"statusCode":201,"body":"x"}`), nil, 5<<20) // at 3 ms on the test's clock
	want := timeline.Invocation{
		ID: "1-a", Function: "GetFunction", At: start().Add(time.Millisecond), Trigger: "http", What: "GET /x/{id}",
		State: timeline.Done, Cold: true, Outcome: "201", Wait: 1, Duration: 1, PeakMemory: 5 << 20, Wide: []string{wide},
	}
	if diff := cmp.Diff([]timeline.Invocation{want}, r.List(timeline.Filter{})); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	want.Lines = []string{`{"level":"INFO","msg":"no unit of work"}`, "no JSON"}
	want.RequestIDs = []string{"r-1", "lambda-1"}
	if diff := cmp.Diff(want, get(t, r, "1-a")); diff != "" {
		t.Errorf("invocation (-want +got):\n%s", diff)
	}
}

func TestRecorderReportsTriggerAndOutcome(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, event, answer          string
		err                          error
		trigger, what, outcome, text string
		state                        timeline.State
	}{
		{
			name: "request", event: request, answer: `{"statusCode":404}`, trigger: "http", what: "GET /x/{id}", outcome: "404",
			state: timeline.Done,
		},
		{
			name: "answer 500", event: request, answer: `{"headers":{"a":["b"]},"statusCode":500}`, trigger: "http",
			what: "GET /x/{id}", outcome: "500", state: timeline.Failed,
		},
		{
			name: "proxy", event: portal, answer: `{"statusCode":200}`, trigger: "http", what: "GET /sandbox/fhir/Patient",
			outcome: "200", state: timeline.Done,
		},
		{
			name: "batch", event: batch, answer: `{"batchItemFailures":[]}`, trigger: "queue", what: "Q: 2 messages",
			outcome: "done", state: timeline.Done,
		},
		{
			name: "half a batch", event: batch, answer: `{"batchItemFailures":[{"itemIdentifier":"m-1"}]}`, trigger: "queue",
			what: "Q: 2 messages", outcome: "1 message failed", state: timeline.Failed,
		},
		{
			name: "schedule", event: scheduled, answer: `null`, trigger: "schedule", what: "SweeperTick", outcome: "done",
			state: timeline.Done,
		},
		{
			name: "another event", event: `{"a":1}`, answer: `{}`, trigger: "other", what: "7 bytes", outcome: "done",
			state: timeline.Done,
		},
		{name: "no JSON", event: `?`, answer: `?`, trigger: "other", what: "1 bytes", outcome: "done", state: timeline.Done},
		{
			name: "a huge event", event: `{"httpMethod":"GET","body":"` + strings.Repeat("x", 300<<10) + `"}`, trigger: "other",
			what: "307230 bytes", outcome: "done", state: timeline.Done,
		},
		{
			name: "crash", event: scheduled, err: &lambda.FunctionError{Type: "Runtime.ExitError", Message: "exit status 3"},
			trigger: "schedule", what: "SweeperTick", outcome: "Runtime.ExitError", text: "exit status 3",
			state: timeline.Failed,
		},
		{
			name: "not invoked", event: scheduled, err: errors.New("no binary"),
			trigger: "schedule", what: "SweeperTick", outcome: "not invoked", text: "no binary", state: timeline.Failed,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := recorder()
			r.Requested("1-a", "F", []byte(test.event))
			r.Assigned("1-a", "")
			r.Ended("1-a", []byte(test.answer), test.err, 0)
			got := get(t, r, "1-a")
			if got.Trigger != test.trigger || got.What != test.what || got.Outcome != test.outcome || got.Error != test.text ||
				got.State != test.state {
				t.Errorf("got %s %q, %s %q %q", got.Trigger, got.What, got.State, got.Outcome, got.Error)
			}
		})
	}
}

func TestLateLogLineIsAssignedByRequestID(t *testing.T) {
	t.Parallel()
	r := recorder()
	r.Requested("1-a", "F", []byte(request))
	r.Assigned("1-a", "lambda-1")
	r.Ended("1-a", []byte(`{"statusCode":200}`), nil, 0)
	r.Requested("1-b", "F", []byte(scheduled))
	r.Assigned("1-b", "lambda-2")
	late, own := `{"msg":"http.request","request_id":"r-1"}`, `{"msg":"sweeper.run","request_id":"lambda-2"}`
	r.Wrote("1-b", late)
	r.Wrote("1-b", own)
	r.Wrote("1-b", `{"msg":"x.run","request_id":"of nobody"}`)
	r.Wrote("1-nobody", "lost")
	if got := get(t, r, "1-a").Wide; !cmp.Equal(got, []string{late}) {
		t.Errorf("the first has %q, want its late line", got)
	}
	second := get(t, r, "1-b")
	if !cmp.Equal(second.Wide, []string{own}) || len(second.Lines) != 1 {
		t.Errorf("the second has %q and %q", second.Wide, second.Lines)
	}
}

func TestLoggedErrorMarksInvocationFailed(t *testing.T) {
	t.Parallel()
	r := recorder()
	r.Requested("1-a", "F", []byte(batch))
	r.Assigned("1-a", "")
	r.Ended("1-a", []byte(`{"batchItemFailures":[]}`), nil, 0)
	if got := r.List(timeline.Filter{Failed: true}); len(got) != 0 {
		t.Fatalf("got %+v, want none", got)
	}
	r.Wrote("1-a", `{"level":"ERROR","msg":"worker.message","request_id":"m-2","outcome":"poison"}`)
	got := r.List(timeline.Filter{Failed: true})
	if len(got) != 1 || got[0].State != timeline.Failed || got[0].Outcome != "done, logged an error" {
		t.Errorf("got %+v, want a failed one", got)
	}
}

func TestListFiltersInvocations(t *testing.T) {
	t.Parallel()
	r := recorder()
	for i, function := range []string{"A", "B", "A", "C"} {
		id := strconv.Itoa(i)
		r.Requested(id, function, nil)
		r.Assigned(id, "")
		var err error
		if i == 2 {
			err = errors.New("broken")
		}
		r.Ended(id, nil, err, 0)
	}
	r.Requested("4", "B", nil)
	for name, test := range map[string]struct {
		filter timeline.Filter
		want   string
	}{
		"all, newest first":    {timeline.Filter{}, "43210"},
		"of one function":      {timeline.Filter{Function: "A"}, "20"},
		"without one function": {timeline.Filter{Without: "A"}, "431"},
		"failed":               {timeline.Filter{Failed: true}, "2"},
		"a few":                {timeline.Filter{Limit: 2}, "43"},
		"nothing":              {timeline.Filter{Function: "D"}, ""},
	} {
		ids := make([]string, 0, 5)
		for _, invocation := range r.List(test.filter) {
			ids = append(ids, invocation.ID)
		}
		if got := strings.Join(ids, ""); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestRunningInvocationShowsElapsedTime(t *testing.T) {
	t.Parallel()
	r := recorder()
	r.Requested("1-a", "F", nil)
	if got := get(t, r, "1-a"); got.State != timeline.Waiting || got.Wait != 1 {
		t.Errorf("got %+v, want one that waits", got)
	}
	r.Assigned("1-a", "")
	if got := get(t, r, "1-a"); got.State != timeline.Running || got.Wait != 2 || got.Duration != 1 {
		t.Errorf("got %+v, want one that runs", got)
	}
}

func TestRecorderDropsOldestInvocationsOfBusyFunctions(t *testing.T) {
	t.Parallel()
	r := recorder()
	r.Requested("1-first", "Rare", []byte(request))
	for i := range 700 {
		r.Requested(fmt.Sprint("1-", i), "Busy", []byte(strings.Replace(request, "r-1", fmt.Sprint("r-", i), 1)))
	}
	all := r.List(timeline.Filter{})
	if len(all) != 500 || all[0].ID != "1-699" || all[499].ID != "1-first" || all[498].ID != "1-201" {
		t.Errorf("got %d from %s to %s", len(all), all[0].ID, all[len(all)-1].ID)
	}
	if _, ok := r.Get("1-200"); ok {
		t.Error("the oldest of the busy function is still there")
	}
	r.Wrote("1-699", `{"msg":"x","request_id":"r-200"}`)
	if got := get(t, r, "1-699"); len(got.Lines) != 1 {
		t.Errorf("a line of a forgotten invocation went to %+v", got)
	}
	for range 150 {
		r.Wrote("1-first", "line")
	}
	if got := get(t, r, "1-first"); len(got.Lines) != 100 || got.LinesMissed != 50 {
		t.Errorf("got %d lines, %d missed, want 100 and 50", len(got.Lines), got.LinesMissed)
	}
	for range 5 {
		r.Wrote("1-698", strings.Repeat("x", 10<<10))
	}
	if got := get(t, r, "1-698"); len(got.Lines) != 3 || got.LinesMissed != 2 {
		t.Errorf("got %d long lines, %d missed, want 3 and 2", len(got.Lines), got.LinesMissed)
	}
}

func TestRecorderIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	r := recorder()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 100 {
				id := fmt.Sprint("1-", i, "-", j)
				r.Requested(id, fmt.Sprint("F", i), []byte(request))
				r.Starting(id)
				r.Assigned(id, id)
				r.Wrote(id, "line")
				call(t, r, "dynamodb", "PutItem", `{"TableName":"T"}`, id, answer(200, "{}"))
				r.List(timeline.Filter{Limit: 3})
				r.Ended(id, nil, nil, 0)
				r.Get(id)
			}
		})
	}
	all.Wait()
	if got := len(r.List(timeline.Filter{})); got != 500 {
		t.Errorf("got %d, want 500", got)
	}
}
