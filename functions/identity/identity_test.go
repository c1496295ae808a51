package identity_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/functions/identity"
	"recordbridge/infra/testkit/browsertest"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/words/org"
)

const livePage = "?public_id=" + keyedtest.LiveA

// TestIdentityListsProvidersWithoutTheirConfiguration checks that the response contains the identity providers but no
// other part of the configuration.
func TestIdentityListsProvidersWithoutTheirConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	browsertest.CheckAnswer(t, browsertest.Send(t, w.handler, http.MethodGet, identity.Route+browsertest.Page, ""),
		`{"success":true,"data":{"providers":[{"id":"simulated","name":"Example Identity (simulated)"},`+
			`{"id":"second","name":"Second Identity"}],"simulated":true}}`)
	live := browsertest.Send(t, w.handler, http.MethodGet, identity.Route+livePage, "")
	const want = `{"success":true,"data":{"providers":[{"id":"real","name":"Real Identity"}],"simulated":false}}`
	if got := strings.TrimSpace(live.Body.String()); live.Code != http.StatusOK || got != want {
		t.Errorf("in live mode: got %d %s\nwant 200 %s", live.Code, got, want)
	}
	w.plan = org.Free
	if got := browsertest.Send(t, w.handler, http.MethodGet, identity.Route+browsertest.Page,
		""); got.Code != http.StatusOK {
		t.Errorf("test mode takes no plan, and answered %d %s", got.Code, got.Body)
	}
	w.checkNothingMade(t, "asking")
}

// TestIdentityReportsConfigurationErrorsBeforeStart checks that listing providers and creating an attempt return the
// same error, and that no attempt is created.
func TestIdentityReportsConfigurationErrorsBeforeStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query  string
		change func(*world)
		status int
		want   string
	}{
		"the free plan": {
			livePage, func(w *world) { w.plan = org.Free }, 403,
			keyedtest.FailureBody("svc_plan_required", "In live mode, TEFCA requires the paid plan. Test mode is "+
				"available on every plan."),
		},
		"the free plan before the providers": {
			livePage, func(w *world) { w.plan = org.Free; delete(w.settings, org.Live) }, 403,
			keyedtest.FailureBody("svc_plan_required", "In live mode, TEFCA requires the paid plan. Test mode is "+
				"available on every plan."),
		},
		"no provider of live mode": {
			livePage, func(w *world) { delete(w.settings, org.Live) }, 400,
			keyedtest.FailureBody("svc_invalid_request", "TEFCA mode is not set up for this mode."),
		},
		"no provider of test mode": {
			browsertest.Page, func(w *world) { w.settings[org.Test] = attempt.Setting{Simulated: true} }, 400,
			keyedtest.FailureBody("svc_invalid_request", "TEFCA mode is not set up for this mode."),
		},
		"an organisation that cannot be read": {
			livePage, func(w *world) { w.unread = keyedtest.ErrTrouble }, 500,
			keyedtest.ServerError,
		},
		"no public id": {
			"", nil, 400,
			keyedtest.FailureBody("svc_invalid_request", "public_id is required."),
		},
		"two public ids": {
			browsertest.Page + "&public_id=x", nil, 400,
			keyedtest.FailureBody("svc_invalid_request", "public_id must not be repeated."),
		},
		"an unknown public id": {
			"?public_id=x", nil, 401,
			keyedtest.FailureBody("svc_unauthorized_client", "public_id is unknown."),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.change != nil {
				c.change(w)
			}
			for method, body := range map[string]string{
				http.MethodGet:  "",
				http.MethodPost: `{"provider":"` + w.someProvider(c.query) + `"}`,
			} {
				got := browsertest.Send(t, w.handler, method, identity.Route+c.query, body)
				if text := strings.TrimSpace(got.Body.String()); got.Code != c.status || text != c.want {
					t.Errorf("%s: got %d %s\nwant %d %s", method, got.Code, text, c.status, c.want)
				}
				if h := got.Header(); h.Get("WWW-Authenticate") != "" || h.Get("Cache-Control") != "no-store" ||
					h.Get("Access-Control-Allow-Origin") == "" {
					t.Errorf("%s: headers %v", method, h)
				}
			}
			w.checkNothingMade(t, name)
		})
	}
}

// someProvider returns a provider for the mode in the query.
func (*world) someProvider(query string) string {
	if query == livePage {
		return "real"
	}
	return "simulated"
}

// TestIdentityCreatesAttemptFromRequest also checks that the token and the start value appear only in the response, and
// are neither stored nor logged.
func TestIdentityCreatesAttemptFromRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := w.post(t,
		`{"provider":"second","external_id":"patient-7","external_state":"visit&9","request_id":"mine","lang":"es",`+
			`"redirect_uri":"https://evil.example/","PublicID":"other"}`)
	browsertest.CheckAnswer(t, answer, `{"success":true,"data":{"attempt_id":"`+attemptID+`","attempt_token":"`+
		value(1)+`",`+
		`"identity_url":"https://api.example/v1/bridge/tefca/identity/start","start_value":"`+value(2)+
		`","expires_at":"2026-03-04T05:36:07Z"}}`)
	if cookies := answer.Header().Values("Set-Cookie"); len(cookies) != 0 {
		t.Errorf("cookies %q before any browser has left", cookies)
	}
	tenant := keyedtest.Tenants()[keyedtest.PublicA]
	want := attempt.Attempt{
		ID: attemptID, Tenant: tenant, Status: attempt.Created, TokenHash: binding.Hash(value(1)), Provider: "second",
		ExternalID: "patient-7", ExternalState: "visit&9", RequestID: "mine", CreatedAt: w.now,
		Look: binding.Look{
			Language: "es", Organisation: "Alder Maple Clinic", Logo: "https://cdn.example/a.png", Accent: "#0a7d33",
		},
		ExpiresAt: w.now.Add(30 * time.Minute), Rev: 1,
	}
	if diff := cmp.Diff(want, w.attempt(t, attemptID)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	ticket, err := w.rows.Ticket(t.Context(), binding.Hash(value(2)), w.now)
	expect.NoError(t, err)
	wanted := binding.Ticket{Hash: binding.Hash(value(2)), Tenant: tenant, AttemptID: attemptID, ExpiresAt: want.ExpiresAt}
	if diff := cmp.Diff(wanted, ticket); diff != "" {
		t.Errorf("ticket (-want +got):\n%s", diff)
	}
	line := w.log.String()
	if !strings.Contains(line, `"attempt_id":"`+attemptID+`"`) || !strings.Contains(line, `"org_id":"`+tenant.OrgID+`"`) {
		t.Errorf("the log does not tell whose attempt it is: %s", line)
	}
	for _, hidden := range []string{value(1), value(2), "patient-7", "visit"} {
		if strings.Contains(line, hidden) {
			t.Errorf("the log has %q: %s", hidden, line)
		}
	}
	if len(w.begun) != 0 {
		t.Errorf("the provider was asked before any browser has left: %+v", w.begun)
	}
}

func TestIdentityCreatesLiveAttemptInLiveMode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := browsertest.Send(t, w.handler, http.MethodPost, identity.Route+livePage,
		`{"provider":"real"}`); got.Code != http.StatusOK {
		t.Fatalf("got %d %s", got.Code, got.Body)
	}
	a, err := w.rows.Attempt(t.Context(), keyedtest.Tenants()[keyedtest.LiveA], attemptID)
	expect.NoError(t, err)
	if a.RequestID != keyedtest.RequestID || a.Provider != "real" || a.ExternalID != "" || a.ExternalState != "" {
		t.Errorf("kept %+v, want the request id of the call", a)
	}
	if got := w.leave(t, value(2)); got.Code != http.StatusOK || w.asked[0].ID != "real" {
		t.Errorf("got %d, asked %+v", got.Code, w.asked)
	}
}

// TestStartRejectsAttemptStartedInAnotherBrowser checks that a second start value can't restart an attempt that a
// browser has already started.
func TestStartRejectsAttemptStartedInAnotherBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.post(t, `{"provider":"simulated"}`)
	first, another := w.attempt(t, attemptID), w.attempt(t, attemptID)
	another.ID, another.Rev = ownID, 0
	expect.NoError(t, w.rows.CreateAttempt(t.Context(), another, binding.Ticket{
		Hash: binding.Hash("second"), Tenant: first.Tenant, AttemptID: first.ID, ExpiresAt: first.ExpiresAt,
	}))
	if got := w.leave(t, value(2)); got.Code != http.StatusOK {
		t.Fatalf("leaving answered %d", got.Code)
	}
	left := w.attempt(t, attemptID)
	if got := w.leave(t, "second"); got.Code != http.StatusBadRequest {
		t.Errorf("leaving once more answered %d %v", got.Code, got.Header())
	}
	if now := w.attempt(t, attemptID); now.Rev != left.Rev || now.NonceHash != left.NonceHash {
		t.Errorf("kept %+v, want %+v", now, left)
	}
}

// TestIdentityRejectsInvalidFieldByName also checks that no attempt is created, and that the error doesn't repeat text
// from the request.
func TestIdentityRejectsInvalidFieldByName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for body, c := range map[string]struct {
		status int
		says   string
		field  string // expected field in the log line
	}{
		"":                        {400, "A JSON request body is required.", ""},
		`[]`:                      {400, "The request body must be a JSON object.", ""},
		`{}`:                      {400, "provider is required.", "provider"},
		`{"provider":""}`:         {400, "provider is required.", "provider"},
		`{"provider":7}`:          {400, "provider must be a string.", "provider"},
		`{"provider":"<script>"}`: {400, "Identity provider not found.", "provider"},
		`{"provider":"real"}`:     {400, "Identity provider not found.", "provider"}, // live-mode provider
		`{"provider":"simulated","Provider":"second"}`: {
			400,
			"The request body contains a duplicate member.", "",
		},
		`{"provider":"simulated","external_id":"` + strings.Repeat("x", 513) +
			`"}`: {400, "external_id must not be longer than 512 bytes.", "external_id"},
		`{"provider":"simulated","external_state":"` + strings.Repeat("x", 1025) +
			`"}`: {400, "external_state must not be longer than 1024 bytes.", "external_state"},
		`{"provider":"simulated","request_id":"` + strings.Repeat("x", 129) +
			`"}`: {400, "request_id must not be longer than 128 bytes.", "request_id"},
	} {
		w.log.Reset()
		got := w.post(t, body)
		if text := strings.TrimSpace(got.Body.String()); got.Code != c.status ||
			text != keyedtest.FailureBody("svc_invalid_request", c.says) {
			t.Errorf("%s: got %d %s\nwant %d %s", body, got.Code, text, c.status, c.says)
		}
		if c.field != "" && !strings.Contains(w.log.String(), `"`+c.field+`"`) {
			t.Errorf("%s: the log does not name %s: %s", body, c.field, w.log.String())
		}
	}
	if got := w.post(t, `{"provider":"`+strings.Repeat("x", 64<<10)+`"}`); got.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a body that is too large: %d %s", got.Code, got.Body)
	}
	w.checkNothingMade(t, "refusals")
}

func TestIdentityReturnsServerErrorWhenStoreFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rows.failing = keyedtest.ErrTrouble
	got := w.post(t, `{"provider":"simulated"}`)
	if text := strings.TrimSpace(got.Body.String()); got.Code != http.StatusInternalServerError ||
		text != keyedtest.ServerError {
		t.Errorf("got %d %s", got.Code, text)
	}
}

func TestIdentityRoutesRejectOtherMethods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for path, allow := range map[string]string{
		identity.Route:      "GET, HEAD, POST, OPTIONS",
		identity.StartRoute: "POST, OPTIONS",
	} {
		for method, want := range map[string]int{http.MethodDelete: 405, http.MethodPut: 405, http.MethodOptions: 204} {
			got := browsertest.Send(t, w.handler, method, path+browsertest.Page, "")
			if got.Code != want || got.Header().Get("Allow") != allow {
				t.Errorf("%s %s: %d with Allow %q", method, path, got.Code, got.Header().Get("Allow"))
			}
		}
	}
}

func TestIdentityRoutesAreRateLimited(t *testing.T) {
	t.Parallel()
	w := newLimited(t, fullBuckets{})
	for name, got := range map[string]*httptest.ResponseRecorder{
		"asking":  browsertest.Send(t, w.handler, http.MethodGet, identity.Route+browsertest.Page, ""),
		"making":  w.post(t, `{"provider":"simulated"}`),
		"leaving": w.leave(t, value(1)),
	} {
		if h := got.Header(); got.Code != http.StatusTooManyRequests || h.Get("Retry-After") != "2" ||
			len(h.Values("Set-Cookie")) != 0 {
			t.Errorf("%s: %d %v", name, got.Code, h)
		}
	}
	w.checkNothingMade(t, "too many requests")
}
