package e2e_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/testkit/expect"
)

const stopped = "You stopped this sign-in"

// ending is the status of a connect or TEFCA attempt, including any result or error.
type ending struct {
	Status string `json:"status"`
	Result struct {
		ConnectionID string `json:"org_connection_id"`
	} `json:"result"`
	Error struct {
		Error     string `json:"error"`
		Cause     string `json:"cause"`
		RequestID string `json:"request_id"`
	} `json:"error"`
}

func (o browsing) cancel(of attempt) answer {
	o.t.Helper()
	return o.cancelAt("/bridge/attempts/"+of.ID, of.Token)
}

func (o browsing) cancelAt(path, token string) answer {
	o.t.Helper()
	return o.cancelAs(path, token, o.seeded.Organisations[0].PublicID)
}

func (o browsing) cancelAs(path, token, publicID string) answer {
	o.t.Helper()
	return o.send(http.MethodDelete, path+"?public_id="+url.QueryEscape(publicID),
		http.Header{"Authorization": {"Bearer " + token}}, nil)
}

// checkCancelled checks that a response reports a cancelled attempt. It returns the ID of the request that cancelled
// the attempt.
func checkCancelled(tb testing.TB, got answer) string {
	tb.Helper()
	var end ending
	if got.status == http.StatusOK {
		expect.NoError(tb, json.Unmarshal(got.Data, &end))
	}
	if end.Status != "failed" || end.Error.Cause != "cancelled" || end.Error.Error != "access_denied" {
		tb.Errorf("cancelling answered %d %s", got.status, got.raw)
	}
	return end.Error.RequestID
}

func checkStopped(tb testing.TB, page *visited) {
	tb.Helper()
	if page == nil || page.status != http.StatusOK || !strings.Contains(string(page.body), stopped) {
		tb.Errorf("the window shows %+v", page)
	}
}

// runCancel cancels connect and TEFCA attempts before their windows open, at the portal, and after they end.
func runCancel(s *outside) {
	s.t.Helper()
	ask := map[string]string{"endpoint_id": s.seeded.Sandbox.EndpointID, "external_state": "state-9"}
	early, late, done := s.patient.makeAttempt(ask), s.patient.makeAttempt(ask), s.patient.makeAttempt(ask)
	first := checkCancelled(s.t, s.patient.cancel(early))
	if again := checkCancelled(s.t, s.patient.cancel(early)); again != first {
		s.t.Errorf("cancelling again gave the request ID %s, not %s", again, first)
	}
	checkStopped(s.t, s.patient.openWindow(early))
	window := s.patient.browser()
	started := window.start(late.form())
	checkCancelled(s.t, s.patient.cancel(late))
	page, _ := window.open(started.location().String(), crashPersona, "approve")
	checkStopped(s.t, page)
	checkCancelled(s.t, s.patient.requestAttempt(late, s.seeded.Organisations[0].PublicID))

	s.patient.openWindow(done)
	var end ending
	got := s.patient.cancel(done)
	expect.NoError(s.t, json.Unmarshal(got.Data, &end))
	if end.Status != "done" || end.Result.ConnectionID == "" {
		s.t.Errorf("cancelling what is done answered %d %s", got.status, got.raw)
	}
	s.org.checkStatus(end.Result.ConnectionID, "authorized")

	v := s.vault.beginVerification("patient-7")
	path := "/bridge/tefca/records/" + v.ID
	if got = s.patient.cancelAt(path, early.Token); got.status != http.StatusNotFound {
		s.t.Errorf("cancelling with another attempt's token answered %d %s", got.status, got.raw)
	}
	checkCancelled(s.t, s.patient.cancelAt(path, v.Token))
	checkStopped(s.t, s.vault.identify(v, twoHospitals, "approve"))
}

// runCancelLocated cancels a TEFCA attempt whose identity check is complete, and polls an unknown attempt. This journey
// is fast only in virtual time.
func runCancelLocated(s *outside) {
	s.t.Helper()
	v, found := s.vault.locateFacilities()
	if len(found) == 0 {
		s.t.Error("no facility was located")
	}
	got := s.patient.cancelAt("/bridge/tefca/records/"+v.ID, v.Token)
	var l located
	expect.NoError(s.t, json.Unmarshal(got.Data, &l))
	if l.Status != "located" || len(l.chosen()) != len(found) {
		s.t.Errorf("cancelling what is located answered %d %s", got.status, got.raw)
	}
	v.ID = s.seeded.Organisations[0].ID
	if got = s.vault.requestStatus(v); got.status != http.StatusNotFound {
		s.t.Errorf("polling an unknown attempt answered %d %s", got.status, got.raw)
	}
}

func TestCancelKeepsLocatedFacilities(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runCancelLocated(newStack(t, options{}).outside)
	})
}

func TestCancelledAttemptYieldsNoConnectionFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, o *outside) {
		t.Helper()
		runCancel(o)
	})
}

// TestCancelSurvivesCrashAnywhere checks that a cancellation retried after a crash succeeds, and that the cancelled
// attempt's window can't create a connection.
func TestCancelSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	sweepCrashes(t, "CancelAttemptFunction", func(t *testing.T, s *stack) {
		t.Helper()
		made := makeAttemptUntilMade(t, s)
		window := s.patient.browser()
		started := window.start(made.form())
		got := cancelUntilAnswered(t, s, made)
		s.disarm("CancelAttemptFunction")
		checkCancelled(t, got)
		page, _ := window.open(started.location().String(), crashPersona, "approve")
		checkStopped(t, page)
		s.clock.advance(2)
		if found := s.state.list("test-ConnectionTable", s.tenant()+"#CONN"); len(found) != 0 {
			t.Errorf("there are connections: %v", found)
		}
		if told := s.webhooks.received(); len(told) != 0 {
			t.Errorf("the organisation was told %v", told)
		}
	})
}

// TestCancelAfterCallbackCrashMatchesConnections cancels an attempt after the callback function has crashed, for each
// possible crash point. The cancellation must either report the new connection or prevent it.
func TestCancelAfterCallbackCrashMatchesConnections(t *testing.T) {
	t.Parallel()
	sweepCrashes(t, "CallbackFunction", func(t *testing.T, s *stack) {
		t.Helper()
		made := makeAttemptUntilMade(t, s)
		s.patient.browser().leave(made.form(), crashPersona, "approve")
		s.disarm("CallbackFunction")
		got := cancelUntilAnswered(t, s, made)
		var end ending
		expect.NoError(t, json.Unmarshal(got.Data, &end))
		s.check.connectionsAreWhole(t)
		found := s.state.list("test-ConnectionTable", s.tenant()+"#CONN")
		if (end.Status == "done") != (len(found) == 1) || end.Status != "done" && end.Error.Cause != "cancelled" {
			t.Errorf("the attempt is %+v, and the connections are %v", end, found)
		}
	})
}

func cancelUntilAnswered(t *testing.T, s *stack, of attempt) answer {
	t.Helper()
	for range 5 {
		got := s.patient.cancel(of)
		if got.status == http.StatusOK {
			return got
		}
		checkFailure(t, got)
	}
	t.Fatal("the attempt was never cancelled")
	return answer{}
}

// TestWindowsShowOrganisationInPatientsLanguageFromOutside checks that the first and last pages of an attempt show the
// organisation in the patient's language. The browser's preferred language must not change the pages' language.
func TestWindowsShowOrganisationInPatientsLanguageFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, o *outside) {
		t.Helper()
		own := url.QueryEscape(o.seeded.Organisations[0].PublicID)
		got := o.call(http.MethodGet, "/bridge/org?public_id="+own, "", "", nil)
		var shown struct{ Name string }
		expect.NoError(t, json.Unmarshal(got.Data, &shown))
		for language, want := range map[string][2]string{
			"es": {"Le llevamos a", "Vuelva a "}, "en": {"We're taking you", "Return to "},
		} {
			made := o.patient.makeAttempt(map[string]string{
				"endpoint_id": o.seeded.Sandbox.EndpointID, "lang": language,
			})
			window := o.patient.browser()
			window.header = http.Header{"Accept-Language": {map[string]string{"es": "en", "en": "es"}[language]}}
			leaving := window.start(made.form())
			last, _ := window.open(leaving.location().String(), crashPersona, "approve")
			for name, page := range map[string]*visited{"leaving": leaving, "last": last} {
				if body := string(page.body); !strings.Contains(body, `<html lang="`+language+`">`) ||
					!strings.Contains(body, "<bdi>"+html.EscapeString(shown.Name)+"</bdi>") {
					t.Errorf("%s, %s: %s", language, name, body)
				}
			}
			if !strings.Contains(string(leaving.body), want[0]) ||
				!strings.Contains(string(last.body), want[1]+html.EscapeString(shown.Name)+".") {
				t.Errorf("%s: %s\n%s", language, leaving.body, last.body)
			}
		}
	})
}
