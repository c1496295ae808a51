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

// TestReconnectingSurvivesACrashAnywhere: the same patient ends authorized under the same id, with the tokens of the
// last sign-in, or is told to try again and can.
func TestReconnectingSurvivesACrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		function     string
		disconnected bool
		soak         bool // the function cannot tell the two: only in a soak
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
				life := s.spare(c.function)
				id := s.connect(crashPersona, "approve").Get("org_connection_id")
				if c.disconnected {
					s.disconnectUntilDone(t, id)
				}
				life()
				l := s.keepLedger()
				l.grants = 1 // the one before has another number
				answer, last := s.browser().open(s.reconnectURL(id), crashPersona, "approve")
				s.disarm(c.function)
				if answer != nil {
					checkTryAgain(t, answer)
				} else if last.Query().Get("connection_status") != "authorized" {
					checkText(t, last.Query().Get("error"), last.Query().Get("error_description"))
				}
				s.checkBack(t, l, id)
			})
		})
	}
}

// checkBack: trying again works, and from then on only tokens of that sign-in are used.
func (s *stack) checkBack(t *testing.T, l *ledger, id string) {
	t.Helper()
	back := s.reconnect(id, crashPersona)
	if back.Get("org_connection_id") != id || back.Get("connection_status") != "authorized" {
		t.Fatalf("trying again gave %v", back)
	}
	s.letPass(2)
	s.checkToldPerGeneration(t, id)
	<-time.After(2 * time.Hour) // the export has to renew the tokens
	s.startExport(id)
	s.letPass(3)
	s.checkDownload(crashPersona)
	s.checkStatus(id, "authorized")
	l.checkUses(t, 1)
	l.checkLatest(t)
	if len(s.list("test-ConnectionTable", s.tenant()+"#CONN")) != 1 {
		t.Error("reconnecting made another connection")
	}
	if s.get("test-TokensTable", s.tenant()+"#UPSTREAM#"+id, "META") != nil {
		t.Error("something of the earlier grant is still to be revoked")
	}
}

func (o *outside) reconnectURL(id string) string {
	test := o.seeded.Organisations[0]
	return o.seeded.BaseURL + "/bridge/reconnect?" + url.Values{
		"public_id": {test.PublicID}, "redirect_uri": {test.RedirectURI}, "reconnect_org_connection_id": {id},
	}.Encode()
}

// spare puts the crash of a function off until what is returned is called.
func (s *stack) spare(function string) (resume func()) {
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

// TestAWidgetsSignInSurvivesACrashAnywhere: whoever is told to try again can, and the attempt tells how it went.
func TestAWidgetsSignInSurvivesACrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, function := range []string{
		"CreateAttemptFunction", "ConnectFunction", "CallbackFunction",
		"GetAttemptFunction",
	} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			sweepCrashes(t, function, func(t *testing.T, s *stack) {
				t.Helper()
				done := s.signInByWidget(t)
				s.disarm(function)
				if done.Result.ConnectionStatus != "authorized" || done.Result.ExternalState != "state-9" {
					t.Fatalf("the attempt is %+v", done)
				}
				s.checkConnectionsAreWhole(t)
				s.letPass(2)
				s.checkToldPerGeneration(t, done.Result.ConnectionID)
			})
		})
	}
}

// signInByWidget makes attempts until one is done, as a person does who reads what the pages say.
func (s *stack) signInByWidget(t *testing.T) watched {
	t.Helper()
	for range 5 {
		made := s.makeAttemptUntilMade(t)
		answer, last := s.browser().leave(made.form(), crashPersona, "approve")
		if answer == nil {
			t.Fatalf("the window ended at %v", last)
		}
		if answer.status != http.StatusOK {
			checkTryAgain(t, answer)
		}
		if got := s.watchUntilAnswered(t, made); got.Status == "done" {
			return got
		}
	}
	t.Fatal("the widget's patient was never connected")
	return watched{}
}

func (s *stack) makeAttemptUntilMade(t *testing.T) attempt {
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

func (s *stack) watchUntilAnswered(t *testing.T, of attempt) watched {
	t.Helper()
	for range 5 {
		status, got := s.readAttempt(of, s.seeded.Organisations[0].PublicID)
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
