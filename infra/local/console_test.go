package main_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// functionState and the following types hold the parts of the console's responses that tests read.
type functionState struct {
	ID          string `json:"id"`
	Schedule    string `json:"schedule"`
	MemoryMB    int    `json:"memory_mb"`
	Timeout     string `json:"timeout"`
	Processes   int    `json:"processes"`
	Invocations int    `json:"invocations"`
}

type queueState struct {
	Name       string `json:"name"`
	Visible    int    `json:"visible"`
	DeadLetter bool   `json:"dead_letter"`
}

type webhookState struct {
	ID        int    `json:"id"`
	Path      string `json:"path"`
	Signature string `json:"signature"`
	Reason    string `json:"reason"`
	Body      string `json:"body"`
}

type invocationState struct {
	ID       string      `json:"id"`
	Function string      `json:"function"`
	What     string      `json:"what"`
	State    string      `json:"state"`
	Outcome  string      `json:"outcome"`
	Cold     bool        `json:"cold"`
	Calls    []callState `json:"calls"`
}

type callState struct {
	Service   string `json:"service"`
	Operation string `json:"operation"`
	Target    string `json:"target"`
}

func (s started) console(t *testing.T, path string, answer any) {
	t.Helper()
	status, body := s.do(t, "GET", "/_local/api/"+path, "")
	if status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, status, body)
	}
	if err := json.Unmarshal([]byte(body), answer); err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
}

// settled waits for all invocations to end and returns them. This is necessary because a function notifies the test
// before its invocation ends.
func (s started) settled(t *testing.T) []invocationState {
	t.Helper()
	late := time.After(10 * time.Second)
	for {
		var list struct{ Invocations []invocationState }
		s.console(t, "invocations", &list)
		if !slices.ContainsFunc(list.Invocations,
			func(i invocationState) bool { return i.State == "running" || i.State == "waiting" }) {
			return list.Invocations
		}
		select {
		case <-late:
			return list.Invocations
		case <-time.After(time.Millisecond):
		}
	}
}

func TestConsoleShowsAndControlsStack(t *testing.T) {
	t.Parallel()
	dir := project(t)
	s := start(t, dir)
	s.do(t, "GET", "/v1/echo", "")
	s.send(t, "local-DeadLetterQueue", "a dead letter")
	s.do(t, "POST", "/_local/inbox/alder", "")
	var state struct{ Functions []functionState }
	s.console(t, "state", &state)
	if diff := cmp.Diff([]functionState{
		{ID: "EchoFunction", MemoryMB: 128, Timeout: "20s", Processes: 1, Invocations: 1},
		{ID: "WorkerFunction", Schedule: "every 1h0m0s", MemoryMB: 128, Timeout: "20s"},
	}, state.Functions); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
	var queues struct{ Queues []queueState }
	s.console(t, "queues", &queues)
	if diff := cmp.Diff([]queueState{
		{Name: "local-DeadLetterQueue", Visible: 1, DeadLetter: true},
		{Name: "local-WorkQueue"},
	}, queues.Queues); diff != "" {
		t.Errorf("queues (-want +got):\n%s", diff)
	}
	var inbox struct{ Webhooks []webhookState }
	s.console(t, "inbox", &inbox)
	if diff := cmp.Diff([]webhookState{
		{ID: 1, Path: "/_local/inbox/alder", Signature: "unknown", Reason: "this inbox has no known secret"},
	}, inbox.Webhooks); diff != "" {
		t.Errorf("webhooks (-want +got):\n%s", diff)
	}
	for _, path := range []string{"tables", "buckets", "mail"} {
		var answer map[string][]any
		s.console(t, path, &answer)
	}
	status, body := s.do(t, "POST", "/_local/api/functions/EchoFunction/kill", "")
	if status != http.StatusOK || body != "{\"killed\":1}\n" {
		t.Errorf("kill: got %d %s, want one process killed", status, body)
	}
}

func TestConsoleListsAWSCallsByInvocation(t *testing.T) {
	t.Parallel()
	reports := make(chan string, 1)
	report := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reports <- r.URL.Path }))
	t.Cleanup(report.Close)
	s := start(t, project(t), "-param", "ReportUrl="+report.URL)
	s.do(t, "GET", "/v1/echo?secret=SENTINEL", "")
	s.send(t, "local-WorkQueue", "a message")
	<-reports
	// once this request returns, the process has been invoked twice
	s.do(t, "POST", "/_local/api/functions/WorkerFunction/fire", "")
	<-reports

	got := s.settled(t)
	for i := range got {
		s.console(t, "invocations/"+got[i].ID, &got[i])
		got[i].ID, got[i].Cold = "", false // the scheduled invocation may have arrived while the other was running
	}
	call := []callState{{Service: "sqs", Operation: "GetQueueAttributes", Target: "local-WorkQueue"}}
	want := []invocationState{
		{Function: "WorkerFunction", What: "WorkerFunctionHourly", State: "done", Outcome: "done", Calls: call},
		{Function: "WorkerFunction", What: "local-WorkQueue: 1 message", State: "done", Outcome: "done", Calls: call},
		{Function: "EchoFunction", What: "GET /echo", State: "done", Outcome: "200"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("invocations (-want +got):\n%s", diff)
	}
}
