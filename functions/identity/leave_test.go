package identity_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/functions/identity"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/starttest"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/tefca/attempt"
	csp "recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/org"
)

// start is the test attempt's start value, which equals value(2).
const start = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI"

// newPrepared returns a test environment whose attempt has been created but not started in a browser.
func newPrepared(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	if got := w.post(t, `{"provider":"simulated","external_state":"visit&9"}`); got.Code != http.StatusOK {
		t.Fatalf("making an attempt answered %d %s", got.Code, got.Body)
	}
	w.log.Reset()
	return w
}

// checkErrorPage checks that the response is the expected error page. Neither the page nor the log may contain the
// start value.
func (w *world) checkErrorPage(t *testing.T, name string, got *httptest.ResponseRecorder, status int, code,
	says string,
) {
	t.Helper()
	page, h := got.Body.String(), got.Header()
	if got.Code != status || !strings.Contains(page, code) || !strings.Contains(page, says) ||
		!strings.Contains(page, keyedtest.RequestID) {
		t.Errorf("%s: got %d, want %d with %s %q:\n%s", name, got.Code, status, code, says, page)
	}
	if h.Get("Location") != "" || len(h.Values("Set-Cookie")) != 0 ||
		h.Get("Content-Type") != "text/html; charset=utf-8" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: headers %v", name, h)
	}
	if script := expect.OwnPolicy(t, h.Get("Content-Security-Policy"), page); script != "" {
		t.Errorf("%s: the page runs %s", name, script)
	}
	for _, hidden := range []string{value(2), "trouble", "visit"} {
		if strings.Contains(page, hidden) || hidden != "trouble" && strings.Contains(w.log.String(), hidden) {
			t.Errorf("%s: %q is on the page or in the log:\n%s\n%s", name, hidden, page, w.log.String())
		}
	}
}

// TestStartRedirectsToProvider checks that the authorization request matches the stored data, and that the cookie
// matches the state.
func TestStartRedirectsToProvider(t *testing.T) {
	t.Parallel()
	w := newPrepared(t)
	w.now = w.now.Add(10 * time.Minute)
	got := w.leave(t, start)
	state, cookie := value(3), strconv.FormatInt(w.now.Unix(), 36)+"."+value(4)
	if to := starttest.Destination(t, got); to != authorize {
		t.Fatalf("leads to %q, want %q", to, authorize)
	}
	want := "__Host-" + binding.CookieName(state) + "=" + cookie + "; Path=/; Max-Age=1200; HttpOnly; Secure; SameSite=Lax"
	if cookies := got.Header().Values("Set-Cookie"); len(cookies) != 1 || cookies[0] != want {
		t.Errorf("cookies %q, want %q", cookies, want)
	}
	challenge := sha256.Sum256([]byte(value(6)))
	asked := []csp.Request{{
		RedirectURI: "https://api.example/v1/bridge/tefca/identity/callback/simulated", State: state, Nonce: value(5),
		Challenge: base64.RawURLEncoding.EncodeToString(challenge[:]),
	}}
	if diff := cmp.Diff(asked, w.begun); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]csp.Provider{csp.Simulated(baseURL)}, w.asked); diff != "" {
		t.Errorf("asked whom (-want +got):\n%s", diff)
	}
	kept := w.attempt(t, attemptID)
	if kept.Status != attempt.Open || kept.NonceHash != binding.Hash(value(5)) ||
		kept.Authority.TokenEndpoint != csp.Simulated(baseURL).Issuer+"/token" {
		t.Errorf("kept %+v", kept)
	}
	if len(kept.Verifier) == 0 || strings.Contains(string(kept.Verifier), value(6)) {
		t.Errorf("the verifier is kept as %q", kept.Verifier)
	}
	taken, err := w.rows.TakeState(t.Context(), binding.Hash(state), binding.Hash(cookie), w.now)
	expect.NoError(t, err)
	if taken.AttemptID != attemptID || taken.Tenant != kept.Tenant || !taken.ExpiresAt.Equal(kept.ExpiresAt) {
		t.Errorf("the state is %+v", taken)
	}
	line := w.log.String()
	for n := range byte(6) {
		if strings.Contains(line, value(n+1)) {
			t.Errorf("the log has value %d: %s", n+1, line)
		}
	}
	if !strings.Contains(line, `"attempt_id":"`+attemptID+`"`) || strings.Contains(line, "authorize") {
		t.Errorf("the log line is %s", line)
	}
}

func TestStartRejectsCrossOriginValue(t *testing.T) {
	t.Parallel()
	w := newPrepared(t)
	for name, header := range starttest.Foreign() {
		r := starttest.Request(t, identity.StartRoute, starttest.Body(start))
		r.Header = header
		w.checkErrorPage(t, name, w.send(r), 400, "svc_invalid_request", "")
	}
	w.checkNotStarted(t)
}

func TestStartRejectsValueInURL(t *testing.T) {
	t.Parallel()
	w := newPrepared(t)
	form := starttest.Request(t, identity.StartRoute+"?start_value="+start, "")
	w.checkErrorPage(t, "in the query of a form", w.send(form), 400, "svc_invalid_request", "")
	for name, query := range map[string]string{"as before": "?attempt=", "in the form's name": "?start_value="} {
		r := httptest.NewRequest(http.MethodGet, identity.StartRoute+query+start, http.NoBody)
		r.Header = starttest.Header(starttest.Origin)
		got := w.send(r)
		w.checkErrorPage(t, name, got, 405, "svc_method_not_allowed", "opened directly.")
		if allow := got.Header().Get("Allow"); allow != "POST, OPTIONS" {
			t.Errorf("%s: Allow is %q", name, allow)
		}
	}
	w.checkNotStarted(t)
}

// checkNotStarted checks that no provider received a request, and that the start value is still valid.
func (w *world) checkNotStarted(t *testing.T) {
	t.Helper()
	if len(w.begun) != 0 || w.attempt(t, attemptID).Status != attempt.Created {
		t.Errorf("the provider was asked %+v, kept %+v", w.begun, w.attempt(t, attemptID))
	}
	if got := w.leave(t, start); got.Code != http.StatusOK {
		t.Errorf("from our own page it answered %d", got.Code)
	}
}

// TestStartShowsErrorPageForInvalidStartValue also covers failures of the identity provider and the database. A valid
// start value must still work after such a failure.
func TestStartShowsErrorPageForInvalidStartValue(t *testing.T) {
	t.Parallel()
	const spent = "This sign-in was already opened or has expired. Return to the application and try again."
	for name, c := range map[string]struct {
		body   string
		before func(*world)
		status int
		code   string
		says   string
		then   int // status of a retry after the dependency has recovered
	}{
		"unknown":   {starttest.Body(value(9)), nil, 400, "svc_invalid_request", spent, 200},
		"the token": {starttest.Body(value(1)), nil, 400, "svc_invalid_request", spent, 200},
		"none":      {"start_value=", nil, 400, "svc_invalid_request", "start_value is required.", 200},
		"nothing":   {"", nil, 400, "svc_invalid_request", "start_value is required.", 200},
		"twice": {
			starttest.Body(start) + "&start_value=b", nil, 400, "svc_invalid_request",
			"start_value must not be repeated.", 200,
		},
		"used": {starttest.Body(start), func(w *world) { w.leave(t, start) }, 400, "svc_invalid_request", spent, 400},
		"too late": {
			starttest.Body(start), func(w *world) { w.now = w.now.Add(30 * time.Minute) }, 400,
			"svc_invalid_request", spent, 400,
		},
		"just in time": {
			"start_value=", func(w *world) { w.now = w.now.Add(30*time.Minute - time.Second) }, 400,
			"svc_invalid_request", "", 200,
		},
		"the provider goes": {
			starttest.Body(start), func(w *world) { delete(w.settings, org.Test) }, 400, "svc_invalid_request", spent, 200,
		},
		"the provider does not answer": {
			starttest.Body(start), func(w *world) { w.unbegun = csp.Unavailable(keyedtest.ErrTrouble) }, 503, "svc_unavailable",
			"The identity service is not responding at the moment. Nothing was shared. Please try again in a few " +
				"minutes.", 200,
		},
		"our own failure": {
			starttest.Body(start), func(w *world) { w.unbegun = keyedtest.ErrTrouble }, 500,
			"svc_server_error", "Something went wrong on our side.", 200,
		},
		"rows that fail": {
			starttest.Body(start), func(w *world) { w.rows.failing = keyedtest.ErrTrouble }, 500,
			"svc_server_error", "Something went wrong on our side.", 200,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newPrepared(t)
			settings := w.settings[org.Test]
			if c.before != nil {
				c.before(w)
			}
			w.checkErrorPage(t, name, w.send(starttest.Request(t, identity.StartRoute, c.body)), c.status, c.code, c.says)
			w.unbegun, w.rows.failing, w.settings[org.Test] = nil, nil, settings
			if got := w.leave(t, start); got.Code != c.then {
				t.Errorf("afterwards it answered %d, want %d", got.Code, c.then)
			}
		})
	}
}

// TestStartExpiresOldestCookiesOverLimit checks that the number of cookies is limited, which keeps the request header
// small.
func TestStartExpiresOldestCookiesOverLimit(t *testing.T) {
	t.Parallel()
	w := newPrepared(t)
	r := starttest.Request(t, identity.StartRoute, starttest.Body(start))
	for i := range 20 {
		r.AddCookie(&http.Cookie{Name: "__Host-attempt-" + string(rune('a'+i)), Value: string(rune('a'+i)) + ".x"})
	}
	cookies := w.send(r).Header().Values("Set-Cookie")
	if len(cookies) != 2 || cookies[0] != "__Host-attempt-a=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax" {
		t.Errorf("cookies %q", cookies)
	}
}

// TestStartTakesTenantFromAttemptRow checks that additional query parameters do not change an attempt's organisation.
func TestStartTakesTenantFromAttemptRow(t *testing.T) {
	t.Parallel()
	w := newPrepared(t)
	if got := w.send(starttest.Request(t, identity.StartRoute+livePage,
		starttest.Body(start))); got.Code != http.StatusOK || w.asked[0].ID != "simulated" {
		t.Errorf("got %d, asked %+v", got.Code, w.asked)
	}
	if a := w.attempt(t, attemptID); a.Tenant != keyedtest.Tenants()[keyedtest.PublicA] || a.Status != attempt.Open {
		t.Errorf("kept %+v", a)
	}
}
