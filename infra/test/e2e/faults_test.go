package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/infra/local/faults"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
)

func TestMainJobSurvivesFaults(t *testing.T) {
	t.Parallel()
	sweepSample(t, 2, survive, 1000, 1006)
}

// survive runs the main job with patients and a backend that retry when a response asks them to. Each export must end
// with a complete file and a success event, or with a failure event. At the end, no work may remain pending.
func survive(t *testing.T, o simulation) {
	t.Helper()
	o.hurry()
	o.begin()
	wanted := map[string]persona.Persona{} // expected persona, by connection ID
	for range 1 + o.random.IntN(3) {
		who := persona.Builtin()[o.random.IntN(4)] // the first four personas have small records
		connectionID := o.connectUntilAuthorized(t, who.ID)
		wanted[connectionID] = who
	}
	if o.random.IntN(3) == 0 {
		<-time.After(2 * time.Hour) // lets the access tokens expire
	}
	for connectionID := range wanted {
		o.requestUntilAccepted(t, connectionID)
	}
	if o.random.IntN(2) == 0 {
		o.queues.loseMessages()
	}
	for range o.random.IntN(6) {
		o.clock.advance(o.random.IntN(12))
		o.readAll(t)
	}
	o.end()
	o.clock.finish(300)
	o.check.connectionsAreWhole(t)
	o.check.nothingWaits(t)
	checkEnds(t, o.stack, wanted)
	o.check.logsHoldNoSecret(t)
}

// hurry shortens some export workers' timeouts so that they hand over in the middle of a record.
func (o simulation) hurry() {
	if o.random.IntN(3) == 0 {
		o.functions["ExportWorkerFunction"].declared.Timeout = 76*time.Second +
			time.Duration(o.random.IntN(8000))*time.Millisecond
	}
	o.pollers = 1 + o.random.IntN(2)*2
}

// readAll calls every read-only endpoint. Each fault must produce an error in the standard envelope.
func (o simulation) readAll(t *testing.T) {
	t.Helper()
	tasks := o.state.list("test-WorkTable", o.tenant()+"#TASK")
	connections := o.state.list("test-ConnectionTable", o.tenant()+"#CONN")
	paths := make([]string, 0, 1+2*len(tasks)+len(connections))
	paths = append(paths, "/bridge/org?public_id="+o.seeded.Organisations[0].PublicID)
	for _, key := range tasks {
		id := key[strings.LastIndexByte(key, '#')+1:]
		paths = append(paths, "/bridge/fhir/ehi-export/"+id, "/bridge/fhir/ehi-export/"+id+"/download/"+id+".jsonl")
	}
	for _, key := range connections {
		paths = append(paths, "/bridge/org_connection/"+key[strings.LastIndexByte(key, '#')+1:])
	}
	for _, path := range paths {
		got := o.org.request(http.MethodGet, path, nil)
		missing := got.status == http.StatusNotFound && strings.HasSuffix(path, ".jsonl") // the file may not exist yet
		if got.status >= http.StatusBadRequest && !missing {
			checkFailure(t, got)
		}
	}
}

// connectUntilAuthorized connects a patient, retrying as long as the response asks for a retry.
func (o simulation) connectUntilAuthorized(t *testing.T, persona string) string {
	t.Helper()
	return o.signInUntilAuthorized(t, o.patient.connectURL(), persona)
}

// signInUntilAuthorized is like connectUntilAuthorized, but starts at a given connect or reconnect URL.
func (o simulation) signInUntilAuthorized(t *testing.T, address, persona string) string {
	t.Helper()
	for range 60 {
		answer, last := o.patient.browser().open(address, persona, "approve")
		if answer == nil && last.Query().Get("connection_status") == "authorized" {
			return last.Query().Get("org_connection_id")
		}
		if answer != nil {
			checkTryAgain(t, answer)
		} else {
			checkText(t, last.Query().Get("error"), last.Query().Get("error_description"))
			checkReveals(t, last.RawQuery)
		}
		o.check.connectionsAreWhole(t)
		<-time.After(5 * time.Second)
	}
	t.Fatal("the patient was never connected")
	return ""
}

// requestUntilAccepted requests an export as a customer's backend does, retrying after 5xx errors.
func (s *stack) requestUntilAccepted(t *testing.T, connectionID string) {
	t.Helper()
	for range 60 {
		got := s.org.request(http.MethodPost, "/bridge/fhir/ehi-export", map[string]string{"org_connection_id": connectionID})
		if got.status == http.StatusOK {
			return
		}
		checkFailure(t, got)
		<-time.After(5 * time.Second)
	}
	t.Fatal("POST ehi-export was never accepted")
}

// checkFailure checks that a fault produced a 5xx error in the standard envelope, with a description that asks for a
// retry.
func checkFailure(t *testing.T, got answer) {
	t.Helper()
	if got.status < 500 || got.Success || got.Request == "" {
		t.Errorf("a fault was answered %d %s", got.status, got.raw)
	}
	checkText(t, got.Error, got.Description)
	checkReveals(t, string(got.raw))
}

// checkTryAgain checks the response to a browser that can't continue. The response must be the standard envelope or the
// error page, and must ask the client to retry.
func checkTryAgain(t *testing.T, got *visited) {
	t.Helper()
	checkReveals(t, string(got.body))
	if strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
		// If the service consumed the state but the response was lost, the retry looks like a replay of the state.
		if got.status < 500 && !strings.Contains(string(got.body), "This sign-in was already used") {
			t.Errorf("the browser got %d %s", got.status, got.body)
		}
		if !strings.Contains(string(got.body), "Go back to the previous page and try again.") {
			t.Errorf("the page does not say to try again: %s", got.body)
		}
		return
	}
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	expect.NoError(t, json.Unmarshal(got.body, &body))
	if got.status < 500 {
		t.Errorf("the browser got %d %+v", got.status, body)
	}
	checkText(t, body.Error, body.Description)
}

func checkText(t *testing.T, code, description string) {
	t.Helper()
	if (code != "svc_server_error" && code != "svc_unavailable") ||
		!strings.Contains(strings.ToLower(description), "try again") {
		t.Errorf("a fault was answered %s: %q", code, description)
	}
}

// checkReveals checks that text does not disclose internal details.
func checkReveals(t *testing.T, text string) {
	t.Helper()
	lower := strings.ToLower(text)
	for _, word := range []string{
		"dynamodb", "amazon", "exception", "operation error", "reset by peer", "throttl", "deadline", "context canceled",
		"goroutine", "panic", "test-", "crashed", "arn:aws",
	} {
		if strings.Contains(lower, word) {
			t.Errorf("an answer reveals %q: %s", word, text)
		}
	}
}

// checkEnds checks that each connection has exactly one task, and that task exactly one event. Each task must have a
// reported failure, or a file that contains every resource of the record exactly once.
func checkEnds(t *testing.T, s *stack, wanted map[string]persona.Persona) {
	t.Helper()
	told := map[string]map[string]exportData{} // event data by task ID and event ID
	for _, kind := range []string{"patient.ehi_export_success", "patient.ehi_export_failed"} {
		for _, d := range s.webhooks.events(kind) {
			var body struct {
				Data exportData `json:"data"`
			}
			expect.NoError(t, json.Unmarshal([]byte(d.Body), &body))
			if told[body.Data.TaskID] == nil {
				told[body.Data.TaskID] = map[string]exportData{}
			}
			told[body.Data.TaskID][d.Headers["webhook-id"]] = body.Data
		}
	}
	tasks := s.state.list("test-WorkTable", s.tenant()+"#TASK")
	if len(tasks) != len(wanted) || len(told) != len(wanted) {
		t.Fatalf("there are %d tasks, and events of %d, for %d exports", len(tasks), len(told), len(wanted))
	}
	for _, key := range tasks {
		task := s.state.get("test-WorkTable", key, "META")
		events := told[key[strings.LastIndexByte(key, '#')+1:]]
		if len(events) != 1 {
			t.Errorf("%s was told under %d event ids", key, len(events))
		}
		for _, event := range events {
			checkEnd(t, s, task, event, wanted[task.text("connection_id")])
		}
	}
}

func checkEnd(t *testing.T, s *stack, task row, event exportData, who persona.Persona) {
	t.Helper()
	if task.text("status") != string(export.Success) {
		checkHonestFailure(t, s, task, event)
		return
	}
	if len(event.DownloadLinks) != 1 {
		t.Fatalf("a success has %d links", len(event.DownloadLinks))
	}
	resources, err := who.Load()
	expect.NoError(t, err)
	file := s.org.download(event.DownloadLinks[0].URL)
	for _, r := range resources {
		if n := file[r.Type][r.ID]; n != 1 {
			t.Errorf("%s/%s is in the file %d times", r.Type, r.ID, n)
		}
	}
	if event.Stats.Total != len(resources) {
		t.Errorf("the event counts %d resources, want %d", event.Stats.Total, len(resources))
	}
}

// checkHonestFailure checks that an export failed for the only allowed reason: a worker crashed after the portal
// responded to a refresh but before the new refresh token was stored.
func checkHonestFailure(t *testing.T, s *stack, task row, event exportData) {
	t.Helper()
	status, reason := task.text("status"), task.text("failure_reason")
	if status != string(export.Failed) || len(event.DownloadLinks) != 0 {
		t.Errorf("a task is %s, and its event has %d links", status, len(event.DownloadLinks))
	}
	if reason != string(export.TokenRefreshFailure) || s.functions["ExportWorkerFunction"].ended == 0 {
		t.Errorf("a task failed with %s, and no worker had died", reason)
	}
	t.Logf("an honest failure: %s", reason)
}

// firstPage is an upper bound on the number of calls that a new export worker makes before the refresh completes.
// TestExportSurvivesCrashAnywhere crashes the worker at later calls.
const firstPage = 16

// TestExportRefreshSurvivesCrashAnywhere starts an export whose access token has expired. The export may fail only if a
// crash lost the new refresh token, and must report the failure in a single event.
func TestExportRefreshSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, function := range []string{"ExportWorkerFunction"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			sweepFirstCrashes(t, function, firstPage, func(t *testing.T, s *stack) {
				t.Helper()
				who := persona.Builtin()[0]
				connectionID := s.patient.connect(who.ID, "approve").Get("org_connection_id")
				<-time.After(2 * time.Hour)
				s.requestUntilAccepted(t, connectionID)
				s.clock.finish(130)
				s.check.nothingWaits(t)
				checkEnds(t, s, map[string]persona.Persona{connectionID: who})
			})
		})
	}
}

// nothingWaits checks that no row or queue has pending work. The work of every message in a dead-letter queue must be
// complete.
func (s checks) nothingWaits(t *testing.T) {
	t.Helper()
	if left := s.clock.pending(); len(left) != 0 {
		t.Errorf("still pending: %v", left)
	}
	for _, queue := range s.cloud.SQS().Snapshot() {
		if queue.DeadLetter && queue.Visible+queue.InFlight+queue.Delayed > 0 {
			checkDead(t, s.stack, queue.Name)
		}
	}
}

// checkDead checks that every message in a dead-letter queue belongs to a row in a final state.
func checkDead(t *testing.T, s *stack, name string) {
	t.Helper()
	queue := sqs.NewFromConfig(s.cloud.Config("test"))
	received, err := queue.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: awssdk.String(host + "/000000000000/" + name), MaxNumberOfMessages: 10,
	})
	expect.NoError(t, err)
	for _, m := range received.Messages {
		var message struct{ Mode, Org, Kind, ID string }
		expect.NoError(t, json.Unmarshal([]byte(*m.Body), &message))
		kind := map[string]string{"task": "TASK", "event": "EVENT", "delivery": "DELIV"}[message.Kind]
		found := s.state.get("test-WorkTable", message.Mode+"#"+message.Org+"#"+kind+"#"+message.ID, "META")
		_, due := found["due_shard"]
		if status := found.text("status"); found == nil || due && status != string(export.Success) {
			t.Errorf("dead letter queue %s holds a %s whose row is unfinished (%s)", name, message.Kind, status)
		}
	}
}

// TestKMSThrottlingPreservesConnections checks that the worker fetches the data key before it uses the old refresh
// token. Until they are encrypted, the new tokens exist only in the worker's memory.
func TestKMSThrottlingPreservesConnections(t *testing.T) {
	t.Parallel()
	busy := make([]faults.Rule, 0, 3)
	for n := range cap(busy) { // one rule for each of the SDK's attempts
		busy = append(busy, faults.Rule{
			Caller: "ExportWorkerFunction", Operation: "GenerateDataKey", N: n + 1,
			Kind: faults.Throttled,
		})
	}
	plan := faults.New(faults.Options{Rules: busy})
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{plan: plan})
		who := persona.Builtin()[0]
		connectionID := s.patient.connect(who.ID, "approve").Get("org_connection_id")
		<-time.After(2 * time.Hour) // lets the access token expire
		plan.Pause(false)
		s.requestUntilAccepted(t, connectionID)
		s.clock.finish(30)
		if got := len(plan.Injected()); got != 3 {
			t.Fatalf("%d calls were refused: %s", got, plan)
		}
		s.check.nothingPending(t)
		checkEnds(t, s, map[string]persona.Persona{connectionID: who})
	})
}
