package main_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheConsoleTellsHowTheStackStands(t *testing.T) {
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
		{ID: 1, Path: "/_local/inbox/alder", Signature: "unknown", Reason: "no secret is known for this inbox"},
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

func TestTheConsoleShowsWhichAWSCallsAnInvocationMade(t *testing.T) {
	t.Parallel()
	reports := make(chan string, 1)
	report := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reports <- r.URL.Path }))
	t.Cleanup(report.Close)
	s := start(t, project(t), "-param", "ReportUrl="+report.URL)
	s.do(t, "GET", "/v1/echo?secret=SENTINEL", "")
	s.send(t, "local-WorkQueue", "a message")
	<-reports
	s.do(t, "POST", "/_local/api/functions/WorkerFunction/fire", "") // when it answers, the process has been there twice
	<-reports

	got := s.settled(t)
	for i := range got {
		s.console(t, "invocations/"+got[i].ID, &got[i])
		got[i].ID, got[i].Cold = "", false // the fired one may have come while the other was still at work
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
