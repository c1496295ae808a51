package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
)

// TestReconnectSurvivesCrashAnywhere checks that after a crash, the patient is either authorised under the same ID with
// the latest sign-in's tokens, or asked to retry and then succeeds.
func TestReconnectSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		function     string
		disconnected bool
		soak         bool // whether only soak tests cover the case
	}{
		{function: "ReconnectFunction"},
		{function: "ReconnectFunction", disconnected: true, soak: true},
		{function: "CallbackFunction"},
		{function: "CallbackFunction", disconnected: true},
	} {
		if c.soak && !isSoak() {
			continue
		}
		t.Run(fmt.Sprintf("%s, disconnected %t", c.function, c.disconnected), func(t *testing.T) {
			t.Parallel()
			sweepCrashes(t, c.function, func(t *testing.T, s *stack) {
				t.Helper()
				life := spare(s, c.function)
				id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
				if c.disconnected {
					s.disconnectUntilDone(t, id)
				}
				life()
				l := s.ehr.keepLedger()
				l.grants = 1 // the earlier grant, issued before the ledger existed
				answer, last := s.patient.browser().open(s.patient.reconnectURL(id), crashPersona, "approve")
				s.disarm(c.function)
				if answer != nil {
					checkTryAgain(t, answer)
				} else if last.Query().Get("connection_status") != "authorized" {
					checkText(t, last.Query().Get("error"), last.Query().Get("error_description"))
				}
				checkBack(t, s, l, id)
			})
		})
	}
}

// checkBack checks that a retry succeeds and that only its tokens are used afterwards.
func checkBack(t *testing.T, s *stack, l *ledger, id string) {
	t.Helper()
	back := s.patient.reconnect(id, crashPersona)
	if back.Get("org_connection_id") != id || back.Get("connection_status") != "authorized" {
		t.Fatalf("trying again gave %v", back)
	}
	s.clock.advance(2)
	s.check.toldPerGeneration(t, id)
	<-time.After(2 * time.Hour) // forces the export to refresh the tokens
	s.org.startExport(id)
	s.clock.advance(3)
	s.org.checkDownload(crashPersona)
	s.org.checkStatus(id, "authorized")
	l.checkUses(t, 1)
	l.checkLatest(t)
	if len(s.state.list("test-ConnectionTable", s.tenant()+"#CONN")) != 1 {
		t.Error("reconnecting made another connection")
	}
	if s.state.get("test-TokensTable", s.tenant()+"#UPSTREAM#"+id, "META") != nil {
		t.Error("something of the earlier grant is still to be revoked")
	}
}

func (o browsing) reconnectURL(id string) string {
	test := o.seeded.Organisations[0]
	return o.seeded.BaseURL + "/bridge/reconnect?" + url.Values{
		"public_id": {test.PublicID}, "redirect_uri": {test.RedirectURI}, "reconnect_org_connection_id": {id},
	}.Encode()
}

// spare prevents a function from crashing until the caller calls resume.
func spare(s *stack, function string) (resume func()) {
	f := s.functions[function]
	f.mu.Lock()
	defer f.mu.Unlock()
	armed := f.life
	f.life, f.serve = nil, nil
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.life, f.serve = armed, nil
	}
}

// TestWidgetSignInSurvivesCrashAnywhere checks that a patient who is asked to retry after a crash can sign in, and that
// the attempt's status reports the result.
func TestWidgetSignInSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, function := range []string{
		"CreateAttemptFunction", "ConnectFunction", "CallbackFunction",
		"GetAttemptFunction",
	} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			sweepCrashes(t, function, func(t *testing.T, s *stack) {
				t.Helper()
				done := signInByWidget(t, s)
				s.disarm(function)
				if done.Result.ConnectionStatus != "authorized" || done.Result.ExternalState != "state-9" {
					t.Fatalf("the attempt is %+v", done)
				}
				s.check.connectionsAreWhole(t)
				s.clock.advance(2)
				s.check.toldPerGeneration(t, done.Result.ConnectionID)
			})
		})
	}
}

// signInByWidget creates attempts until one succeeds, as a patient following the pages' instructions would.
func signInByWidget(t *testing.T, s *stack) watched {
	t.Helper()
	for range 5 {
		made := makeAttemptUntilMade(t, s)
		answer, last := s.patient.browser().leave(made.form(), crashPersona, "approve")
		if answer == nil {
			t.Fatalf("the window ended at %v", last)
		}
		if answer.status != http.StatusOK {
			checkTryAgain(t, answer)
		}
		if got := watchUntilAnswered(t, s, made); got.Status == "done" {
			return got
		}
	}
	t.Fatal("the widget's patient was never connected")
	return watched{}
}

func makeAttemptUntilMade(t *testing.T, s *stack) attempt {
	t.Helper()
	path := "/bridge/attempts?public_id=" + url.QueryEscape(s.seeded.Organisations[0].PublicID)
	body := map[string]string{
		"endpoint_id": s.seeded.Sandbox.EndpointID, "external_id": "patient-7",
		"external_state": "state-9",
	}
	for range 5 {
		made := s.call(http.MethodPost, path, "", "", body)
		if made.status == http.StatusOK {
			var of attempt
			expect.NoError(t, json.Unmarshal(made.Data, &of))
			return of
		}
		checkFailure(t, made)
	}
	t.Fatal("no attempt was ever made")
	return attempt{}
}

func watchUntilAnswered(t *testing.T, s *stack, of attempt) watched {
	t.Helper()
	for range 5 {
		status, got := s.patient.readAttempt(of, s.seeded.Organisations[0].PublicID)
		if status == http.StatusOK {
			return got
		}
		if status < http.StatusInternalServerError {
			t.Fatalf("the attempt answered %d", status)
		}
	}
	t.Fatal("the attempt was never read")
	return watched{}
}
