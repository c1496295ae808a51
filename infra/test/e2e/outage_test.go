package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/local/faults"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/export"
	"recordbridge/shared/words/logx"
)

const (
	outageLasts    = 10 // minutes
	outageRecovery = 10 // minutes after which all interrupted work must be done
)

// outage is a total failure of one AWS service.
type outage struct {
	service     string      // name in the embedded AWS
	dependency  string      // name in the metrics' dimension
	kind        faults.Kind // kind of failure of every call
	amidRefresh bool        // whether to begin when an export refreshes its tokens, not when it reads the record
	early       bool        // whether to begin before the export starts, because later calls use cached data
	atStart     bool        // whether only starting processes call the service
}

func outages() map[string]outage {
	return map[string]outage{
		"DynamoDB": {service: "dynamodb", dependency: "DynamoDB", kind: faults.FailedBefore, amidRefresh: true},
		"S3":       {service: "s3", dependency: "S3", kind: faults.FailedBefore},
		"SQS":      {service: "sqs", dependency: "SQS", kind: faults.BrokenBefore},
		"KMS":      {service: "kms", dependency: "KMS", kind: faults.FailedBefore, early: true},
		"SES":      {service: "ses", dependency: "SES", kind: faults.BrokenBefore},
		"SSM":      {service: "ssm", dependency: "SSM", kind: faults.FailedBefore, atStart: true},
		"SecretsManager": {
			service: "secretsmanager", dependency: "Secrets Manager", kind: faults.BrokenBefore, atStart: true,
		},
	}
}

// plan returns a plan in which all of the functions' calls to the service fail. The sandbox's portal is not affected,
// because it represents an external server.
func (o outage) plan() *faults.Plan {
	return faults.New(faults.Options{
		Rules: []faults.Rule{{Service: o.service, Kind: o.kind}},
		Callers: func(name string) bool {
			return strings.HasSuffix(name, "Function") && name != "SandboxEhrFunction"
		},
	})
}

// interrupted holds the work that is in progress when an outage begins.
type interrupted struct {
	*stack

	running, waiting, refreshing, connected string // IDs of connections
	tasks                                   []string
	browser                                 *browser
	back                                    *url.URL      // callback URL to which the portal has redirected the browser
	pumped                                  chan struct{} // closed when the interrupted workers have ended
}

// TestServiceOutageLosesNoWork makes each AWS service fail totally for ten virtual minutes. The outage begins in the
// middle of an export, while another export is queued, refreshes and a delivery are due, an email is queued and a
// patient is signing in. No connection or export may end, every event must be delivered, and the metric with the
// service's name must count the failures, for the service's alarm. All work must be done within ten minutes afterwards.
func TestServiceOutageLosesNoWork(t *testing.T) {
	t.Parallel()
	all := outages()
	for name, o := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				plan := o.plan()
				w := interrupt(t, o, plan)
				for range outageLasts - 1 {
					w.pass(o)
				}
				w.attemptSignIn()
				w.checkUncounted(t)
				w.pass(o)
				w.clock.advance(outageRecovery)
				<-w.pumped
				w.checkDone(t)
				w.checkAlarmed(t, o)
			})
		})
	}
}

// interrupt begins an outage in the middle of the work. If only starting processes call the service, every process has
// to start during the outage.
func interrupt(t *testing.T, o outage, plan *faults.Plan) interrupted {
	t.Helper()
	w := interrupted{stack: newStack(t, options{plan: plan, log: logx.New}), pumped: make(chan struct{})}
	connect := func() string { return w.patient.connect(crashPersona, "approve").Get("org_connection_id") }
	w.running, w.waiting, w.refreshing = connect(), connect(), connect()
	w.clock.advance(1)
	<-time.After(12 * 24 * time.Hour) // until all tokens are due
	w.ehr.answering(http.StatusServiceUnavailable, "text/plain", "", "/_local/inbox")
	w.connected = connect()
	w.queues.pump()
	w.intercept = nil
	w.browser = w.patient.browser()
	w.back = returning(w.stack, w.browser)
	w.patient.askSupport("")
	w.tasks = []string{w.org.startExport(w.running), w.org.startExport(w.waiting)}
	if o.atStart {
		for _, f := range w.functions {
			if f.declared.LogicalID != "SandboxEhrFunction" {
				life, _ := f.present()
				f.replace(life)
			}
		}
	}
	begin := sync.OnceFunc(func() {
		plan.Pause(false)
		time.AfterFunc(outageLasts*time.Minute, func() { plan.Pause(true) })
	})
	if o.early || o.atStart {
		begin()
	}
	w.intercept = func(r *http.Request) *http.Response {
		isRead := isFHIR(r) && strings.HasSuffix(r.URL.Path, "/Condition")
		if o.amidRefresh && isTokenRequest(r) || !o.amidRefresh && isRead {
			begin()
		}
		return nil
	}
	go func() {
		defer close(w.pumped)
		w.queues.pump()
	}()
	synctest.Wait()
	begin()
	return w
}

// pass waits for a minute of the outage. While SQS is down, Lambda can't poll the queues.
func (w interrupted) pass(o outage) {
	w.t.Helper()
	if o.service != "sqs" {
		w.clock.pass(time.Minute)
		return
	}
	<-time.After(time.Minute)
	w.clock.sweep()
}

// attemptSignIn returns the browser to the callback during the outage. The sign-in may fail.
func (w interrupted) attemptSignIn() {
	w.t.Helper()
	w.browser.get(w.back)
}

// checkUncounted checks that no connection or export has ended, and that none has counted a failure.
func (w interrupted) checkUncounted(t *testing.T) {
	t.Helper()
	for _, key := range w.state.list("test-ConnectionTable", w.tenant()+"#CONN") {
		found := w.state.get("test-ConnectionTable", key, "META")
		if found.text("status") != "authorized" || found.number("setbacks") != 0 {
			t.Errorf("a connection is %q (%s) after %d failures", found.text("status"), found.text("ended"),
				found.number("setbacks"))
		}
	}
	for _, id := range w.tasks {
		task := w.state.task(id)
		if task.text("status") == string(export.Failed) || task.number("setbacks") != 0 {
			t.Errorf("an export is %s (%s) after %d failures", task.text("status"), task.text("failure_reason"),
				task.number("setbacks"))
		}
	}
}

// checkDone checks that all interrupted work is done and that a new sign-in succeeds.
func (w interrupted) checkDone(t *testing.T) {
	t.Helper()
	w.checkUncounted(t)
	for _, id := range w.tasks {
		if status := w.state.task(id).text("status"); status != string(export.Success) {
			t.Errorf("an export is %s", status)
		}
	}
	if got := w.state.tokens(w.refreshing).number("version"); got != 2 {
		t.Errorf("the refreshed tokens have version %d, want 2", got)
	}
	for eventType, want := range map[string]int{
		"patient.connection_success": 4, "patient.ehi_export_success": 2, "patient.request_support": 1,
	} {
		if got := w.delivered(eventType); got < want {
			t.Errorf("%s was delivered for %d events, want %d", eventType, got, want)
		}
	}
	if len(w.cloud.SES().Sent()) == 0 {
		t.Error("the e-mail was not sent")
	}
	if left := w.clock.due("test-WorkTable", time.Now()); len(left) > 0 {
		t.Errorf("still due: %q", left)
	}
	if left := overdue(w.stack); len(left) > 0 {
		t.Errorf("connections still due: %q", left)
	}
	if got := w.patient.connect(crashPersona, "approve").Get("connection_status"); got != "authorized" {
		t.Errorf("the next sign-in ended with %q", got)
	}
}

// delivered returns the number of events of a type that the first organisation's receiver accepted.
func (w interrupted) delivered(eventType string) int {
	w.t.Helper()
	ids := map[string]bool{}
	for _, d := range w.webhooks.events(eventType) {
		ids[d.Headers["webhook-id"]] = true
	}
	return len(ids)
}

// checkAlarmed checks that the metric with the service's name counts enough failures for the service's alarm, which
// requires five failures (three for the services that are called less often) in two of three 5-minute periods.
func (w interrupted) checkAlarmed(t *testing.T, o outage) {
	t.Helper()
	least := 5
	if o.atStart || o.service == "ses" {
		least = 3
	}
	periods := map[time.Time][]byte{}
	for _, line := range w.lines() {
		var told struct{ Time time.Time }
		expect.NoError(t, json.Unmarshal([]byte(line), &told))
		period := told.Time.Truncate(5 * time.Minute)
		periods[period] = append(periods[period], line...)
	}
	alarming := 0
	for _, lines := range periods {
		counted := measured.In(t, lines)
		if counted["Unanswered "+o.dependency] >= least {
			alarming++
		}
		for name, times := range counted {
			if of, isFailure := strings.CutPrefix(name, "Unanswered "); isFailure && of != o.dependency {
				t.Errorf("%d failures are counted for %s", times, of)
			}
		}
	}
	if alarming < 2 {
		t.Errorf("enough failures are counted in %d periods, want 2", alarming)
	}
	resources, err := os.ReadFile("../../../template.yaml")
	expect.NoError(t, err)
	if !strings.Contains(string(resources), "Name: dependency, Value: "+o.dependency+"}") {
		t.Errorf("no alarm in template.yaml has the dimension dependency=%s", o.dependency)
	}
}
