package e2e_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
)

// TestTokenRefreshSurvivesFaults simulates connections with a few random seeds, or with a hundred in a soak test.
func TestTokenRefreshSurvivesFaults(t *testing.T) {
	t.Parallel()
	sweepSample(t, 1, survivePatients, 2000, 2003)
}

// patient is a simulated connection and its allowed outcomes.
type patient struct {
	id, refuses string // refuses holds the portal's fault switches
	told        map[int]bool
}

// refusing simulates a patient who withdraws consent at the portal before the first refresh.
const refusing = "refresh-fails:invalid_grant,fails-first:1"

// unrenewing simulates a portal that issues no refresh tokens and whose access tokens are valid for two days.
const unrenewing = "no-refresh,access:48h"

// survivePatients simulates several connections over weeks, with patients and a backend that retry when a response
// tells them to. A connection may end only if the portal rejected it, the organisation disconnected it, a worker
// crashed before storing the new refresh token, or the portal issued no refresh token. The end of each connection must
// be reported exactly once. No work may remain pending, and no tokens of ended connections may remain stored.
func survivePatients(t *testing.T, o simulation) {
	t.Helper()
	o.pollers = 1 + o.random.IntN(2)*2
	portals := []string{
		"label:plain", "label:plain", refusing, unrenewing, "refresh-fails:500,fails-first:3",
		"refresh-fails:html,fails-first:2",
	}
	o.begin()
	patients := make([]*patient, 0, 3)
	for range 2 + o.random.IntN(2) {
		portal := portals[o.random.IntN(len(portals))]
		id := o.signInUntilAuthorized(t, o.ehr.connectURLOf(quirk{with: portal}), crashPersona)
		patients = append(patients, &patient{id: id, refuses: portal, told: map[int]bool{}})
	}
	for range 2 + o.random.IntN(3) {
		<-time.After(time.Duration(o.random.IntN(9*24)) * time.Hour)
		o.clock.advance(1 + o.random.IntN(6))
		for _, p := range patients {
			o.noteEnd(p)
			o.act(t, p)
		}
		if o.random.IntN(4) == 0 {
			o.queues.loseMessages()
		}
		o.clock.advance(o.random.IntN(4))
	}
	o.end()
	finishRefreshes(o.stack)
	for _, p := range patients {
		o.noteEnd(p)
		o.checkLife(t, p)
	}
	o.check.nothingWaits(t)
	checkNoTokensAreLeft(t, o.stack)
	checkLogsHoldNoToken(t, o.stack)
}

// noteEnd records that a connection was revoked. Call noteEnd before a later action changes the connection's status.
func (o simulation) noteEnd(p *patient) {
	found := o.state.connection(p.id)
	if ended := found.text("ended"); ended != "" && ended != "disconnected" {
		p.told[found.number("generation")] = true
	}
}

func (o simulation) act(t *testing.T, p *patient) {
	t.Helper()
	switch o.random.IntN(6) {
	case 0:
		o.exportOrNot(t, p.id)
	case 1:
		o.disconnectUntilDone(t, p.id)
	case 2:
		if got := o.signInUntilAuthorized(t, o.patient.reconnectURL(p.id), crashPersona); got != p.id {
			t.Errorf("the patient of %s came back to %s", p.id, got)
		}
	}
}

// exportOrNot requests an export for a connection that may already have ended.
func (o simulation) exportOrNot(t *testing.T, id string) {
	t.Helper()
	for range 60 {
		got := o.org.request(
			http.MethodPost,
			"/bridge/fhir/ehi-export",
			map[string]any{"org_connection_id": id, "refresh": true},
		)
		if got.status == http.StatusOK || got.status == http.StatusConflict && got.Error == "svc_connection_not_exportable" {
			return
		}
		checkFailure(t, got)
		<-time.After(5 * time.Second)
	}
	t.Fatal("POST ehi-export was never answered")
}

// finishRefreshes waits until all due connections have been processed and no work is pending in rows or queues.
func finishRefreshes(s *stack) {
	s.t.Helper()
	s.clock.advance(2)
	for n := 0; n < 150 && (len(overdue(s)) > 0 || len(s.clock.pending()) > 0); n++ {
		step := 15 * time.Minute
		if n > 8 {
			step = time.Hour
		}
		s.clock.pass(step)
	}
}

// overdue lists the connections that are due for a refresh or whose grants have yet to be revoked.
func overdue(s *stack) []string {
	s.t.Helper()
	var found []string
	for _, key := range s.state.list("test-ConnectionTable", s.tenant()+"#CONN") {
		stored := s.state.get("test-ConnectionTable", key, "META")
		due, err := time.Parse(time.RFC3339Nano, stored.text("due_at"))
		if stored.text("upstream_until") != "" || err == nil && !time.Now().Before(due) {
			found = append(found, key)
		}
	}
	return found
}

// checkLife checks that a connection is either intact or ended for a permitted reason, and that each revocation was
// reported to the organisation.
func (o simulation) checkLife(t *testing.T, p *patient) {
	t.Helper()
	found := o.state.connection(p.id)
	died := o.crashed("RefreshWorkerFunction") || o.crashed("ExportWorkerFunction")
	status, ended := found.text("status"), found.text("ended")
	switch {
	case status == "authorized" && ended == "" && found.text("refresh_at") != "":
	case status == "revoked" && ended == "disconnected":
	case status == "revoked" && ended == "invalid_grant" && p.refuses == refusing:
	case status == "revoked" && ended == "access_expired" && p.refuses == unrenewing:
	case status == "revoked" && ended == "rotation_lost" && died && p.refuses != unrenewing:
		t.Log("a rotation was lost")
	default:
		t.Errorf("the connection at %s is %s because of %q, due at %q (workers died: %v)", p.refuses, status, ended,
			found.text("due_at"), died)
	}
	if isHeld := o.state.tokens(p.id)["sealed"] != nil; isHeld != (status == "authorized") {
		t.Errorf("the connection is %s, and holds tokens: %v", status, isHeld)
	}
	want := map[string]bool{}
	for generation := range p.told {
		want[webhook.EventID(o.owner(), webhook.AuthorizationEnded, p.id, int64(generation))] = true
	}
	if got := o.eventIDs(webhook.AuthorizationEnded, p.id); !maps.Equal(got, want) {
		t.Errorf("revocations were told as %v, want %v", got, want)
	}
	o.check.toldPerGeneration(t, p.id)
}

// checkNoTokensAreLeft checks that every encrypted row in the tokens table belongs to an authorized connection.
func checkNoTokensAreLeft(t *testing.T, s *stack) {
	t.Helper()
	for _, item := range s.state.browse("test-TokensTable") {
		if item["sealed"] == nil {
			continue
		}
		var key struct{ S string }
		expect.NoError(t, json.Unmarshal(item["pk"], &key))
		if got := s.state.get("test-ConnectionTable", key.S, "META").text("status"); got != "authorized" {
			t.Errorf("%s holds tokens, and the connection is %q", key.S, got)
		}
	}
}

// checkLogsHoldNoToken searches the functions' logs for prefixes that occur only in tokens and codes.
func checkLogsHoldNoToken(t *testing.T, s *stack) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	logged := s.logs.String()
	for _, word := range []string{"refresh_token=", "access_token", "code=", "state=", "code_verifier"} {
		if at := strings.Index(logged, word); at >= 0 {
			t.Errorf("%q is in the log: %s", word, logged[max(at-300, 0):min(at+100, len(logged))])
		}
	}
}
