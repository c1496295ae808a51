package identitycallback_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
)

// checkWindow checks that the result page loads no external resources and deletes the cookie. The page's only script
// notifies the opening page and hides the provider's response. The window must close itself if and only if closes is
// set.
func (w *world) checkWindow(t *testing.T, got *httptest.ResponseRecorder, title string, closes bool) {
	t.Helper()
	page, h := got.Body.String(), got.Header()
	if got.Code != http.StatusOK || !strings.Contains(page, "<title>"+title+"</title>") ||
		h.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("got %d %q, want %q:\n%s", got.Code, h.Get("Content-Type"), title, page)
	}
	script := expect.OwnPolicy(t, h.Get("Content-Security-Policy"), page)
	for _, part := range []string{
		`window.opener.postMessage({ svc: "nudge" }, window.location.origin);`,
		`history.replaceState(null, "", window.location.pathname);`,
	} {
		if !strings.Contains(script, part) {
			t.Errorf("the script lacks %q:\n%s", part, script)
		}
	}
	if strings.Contains(script, "window.close()") != closes {
		t.Errorf("closes is not %v:\n%s", closes, script)
	}
	want := "__Host-" + w.started.CookieName + "=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax"
	if cookies := h.Values("Set-Cookie"); len(cookies) != 1 || cookies[0] != want {
		t.Errorf("cookies %q, want %q", cookies, want)
	}
	if h.Get("Location") != "" || h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" ||
		strings.Contains(page, "{{") {
		t.Errorf("headers %v\n%s", h, page)
	}
	w.checkHidden(t, page)
}

// checkErrorPage checks that the page displays the error, and that the cookie and the attempt are unchanged.
func (w *world) checkErrorPage(t *testing.T, got *httptest.ResponseRecorder, status int, code, says string) {
	t.Helper()
	page, h := got.Body.String(), got.Header()
	if got.Code != status || !strings.Contains(page, code) || !strings.Contains(page, says) ||
		!strings.Contains(page, keyedtest.RequestID) {
		t.Errorf("got %d, want %d with %s %q:\n%s", got.Code, status, code, says, page)
	}
	if h.Get("Location") != "" || len(h.Values("Set-Cookie")) != 0 ||
		h.Get("Content-Type") != "text/html; charset=utf-8" || strings.Contains(page, "trouble") {
		t.Errorf("headers %v\n%s", h, page)
	}
	if script := expect.OwnPolicy(t, h.Get("Content-Security-Policy"), page); script != "" {
		t.Errorf("the page runs %s", script)
	}
	w.checkHidden(t, page)
	if len(w.enqueued) != 0 {
		t.Errorf("the worker was told of %q", w.enqueued)
	}
}

// TestCallbackEncryptsIdentityAndQueuesNetworkQuery also checks that the code is exchanged at the pinned endpoint, and
// that the exchange uses the verifier that matches the challenge.
func TestCallbackEncryptsIdentityAndQueuesNetworkQuery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.now = w.now.Add(time.Minute)
	w.checkWindow(t, w.visit(w.success()), "Your identity is confirmed", true)
	if len(w.back) != 1 {
		t.Fatalf("exchanged %d times", len(w.back))
	}
	back := w.back[0]
	challenge := sha256.Sum256([]byte(back.Verifier.Reveal()))
	if back.Provider != "simulated" || back.Code.Reveal() != "c+1" || back.Issuer != "https://id.example" ||
		back.Error != "" ||
		base64.RawURLEncoding.EncodeToString(challenge[:]) != w.request.Challenge ||
		w.pinned[0].TokenEndpoint != identity.Simulated(baseURL).Issuer+"/token" {
		t.Errorf("exchanged %+v at %+v", back, w.pinned[0])
	}
	if w.deadline.IsZero() {
		t.Error("the provider has all the time of the function, so that nobody could answer the browser")
	}
	kept := w.attempt(t)
	if kept.Status != attempt.Locating || len(kept.Verifier) != 0 || !kept.DueAt.Equal(w.now) ||
		!kept.IdentityEnds.Equal(w.now.Add(15*time.Minute)) {
		t.Errorf("kept %+v", kept)
	}
	if kept.ExternalID != "patient-7" || kept.ExternalState != "visit&9" || kept.RequestID != "mine" ||
		kept.NonceHash != back.NonceHash {
		t.Errorf("kept %+v, exchanged with %s", kept, back.NonceHash)
	}
	if diff := cmp.Diff([]string{kept.Tenant.Key() + " " + attemptID}, w.enqueued); diff != "" {
		t.Errorf("the worker was told of (-want +got):\n%s", diff)
	}
	for _, hidden := range []string{idToken, "Maple", "Aster"} {
		if strings.Contains(string(kept.Assertion), hidden) {
			t.Errorf("%q is kept in the clear", hidden)
		}
	}
	plain, err := w.sealer.Open(t.Context(), kept.Tenant, "identity-assertion|"+kept.Tenant.Key()+"|"+attemptID,
		kept.Assertion)
	expect.NoError(t, err)
	var who struct{ Subject, Token string }
	expect.NoError(t, json.Unmarshal(plain, &who))
	if who.Subject != "p01" || who.Token != idToken {
		t.Errorf("sealed is %s", plain)
	}
}

// TestIdentityExpiresWithAttempt checks that an identity expires no later than its attempt, even if the token is
// valid for longer.
func TestIdentityExpiresWithAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lasts = 24 * time.Hour
	w.checkWindow(t, w.visitWith(http.MethodGet, w.success(), "es-MX,es;q=0.9,en;q=0.8", w.started.CookieValue.Reveal()),
		"Su identidad está confirmada", true)
	if kept := w.attempt(t); !kept.IdentityEnds.Equal(kept.ExpiresAt) {
		t.Errorf("the identity ends at %v, the attempt at %v", kept.IdentityEnds, kept.ExpiresAt)
	}
}

// TestCallbackShowsErrorInWindow checks that the window stays open and that its opener receives the displayed error.
// The error must contain the callback request's ID.
func TestCallbackShowsErrorInWindow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query   string
		refuses error
		lasts   time.Duration
		want    attempt.Ending
	}{
		"declined": {
			"&error=access_denied&error_description=evil", identity.Refused("access_denied", keyedtest.ErrTrouble), time.Minute,
			attempt.Ending{
				Error: "access_denied", Cause: "declined",
				Description: "The identity check was not completed. Nothing was shared, and you can try again whenever you like.",
			},
		},
		"a provider that does not answer": {
			"&code=c%2B1", identity.Unavailable(keyedtest.ErrTrouble), time.Minute,
			attempt.Ending{
				Error: "svc_server_error", Cause: "provider_unavailable",
				Description: "The identity service is not responding at the moment. Nothing was shared. Please try " +
					"again in a few minutes.",
			},
		},
		"a token that is not believed": {
			"&code=c%2B1", identity.NoToken(), time.Minute,
			attempt.Ending{
				Error: "svc_token_exchange", Cause: "token_invalid",
				Description: "The identity service's response could not be verified, so it was not used. Nothing was " +
					"shared. Please try again.",
			},
		},
		"an identity that has run out": {
			"&code=c%2B1", nil, 0,
			attempt.Ending{
				Error: "svc_token_exchange", Cause: "identity_expired",
				Description: "The identity check has expired. Nothing more was shared. Please verify your identity " +
					"once more.",
			},
		},
		"another issuer's answer": {
			"&code=c%2B1&iss=https%3A%2F%2Fother.example",
			identity.Authority{}.Check(identity.Return{Provider: "another"}), time.Minute,
			attempt.Ending{
				Error: "svc_invalid_request", Cause: "issuer_mismatch",
				Description: "The response did not come from the right identity service. Nothing was shared. Please " +
					"try again.",
			},
		},
		"our own failure that says too much": {
			"&code=c%2B1", fault.New(fault.Internal, fault.CodeUnavailable, "trouble at 10.0.0.7"), time.Minute,
			attempt.Ending{
				Error: "svc_server_error", Cause: "internal",
				Description: "Something went wrong on our side. Please try again.",
			},
		},
		"our own failure": {
			"&code=c%2B1", keyedtest.ErrTrouble, time.Minute,
			attempt.Ending{
				Error: "svc_server_error", Cause: "internal",
				Description: "Something went wrong on our side. Please try again.",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.refuses, w.lasts = c.refuses, c.lasts
			got := w.visit("?state=" + w.request.State + c.query)
			w.checkWindow(t, got, "You are not connected", false)
			page := strings.ReplaceAll(got.Body.String(), "&#39;", "'")
			if !strings.Contains(page, c.want.Description) || !strings.Contains(page, keyedtest.RequestID) ||
				strings.Contains(page, "evil") || strings.Contains(page, "trouble") {
				t.Errorf("the page says:\n%s", page)
			}
			c.want.RequestID = keyedtest.RequestID
			kept := w.attempt(t)
			if diff := cmp.Diff(c.want, kept.Ending); diff != "" || kept.Status != attempt.Failed {
				t.Errorf("it is %s, ended (-want +got):\n%s", kept.Status, diff)
			}
			if len(kept.Verifier)+len(kept.Assertion) != 0 || !kept.DueAt.IsZero() || len(w.enqueued) != 0 {
				t.Errorf("kept %+v, the worker was told of %q", kept, w.enqueued)
			}
			if line := w.log.String(); !strings.Contains(line, `"ended":"`+c.want.Cause+`"`) ||
				!strings.Contains(line, attemptID) {
				t.Errorf("the log line is %s", line)
			}
		})
	}
}

func TestCallbackForwardsQueryParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refuses = identity.Refused("access_denied", nil)
	w.visit("?state=" + w.request.State + "&error=access_denied&iss=https%3A%2F%2Fother.example")
	if len(w.back) != 1 || w.back[0].Error != "access_denied" || w.back[0].Issuer != "https://other.example" ||
		!w.back[0].Code.Empty() {
		t.Errorf("exchanged %+v", w.back)
	}
}

// TestCallbackFromWrongBrowserPreservesState checks that invalid requests leave the state valid for the browser that
// started the attempt.
func TestCallbackFromWrongBrowserPreservesState(t *testing.T) {
	t.Parallel()
	const incomplete = "This link is incomplete. Return to the application and try again."
	for name, c := range map[string]struct {
		query  func(*world) string
		cookie string
		says   string
	}{
		"no cookie":        {(*world).success, "", ""},
		"another's cookie": {(*world).success, "other", ""},
		"an unknown state": {func(*world) string { return "?state=x&code=c%2B1" }, "own", ""},
		"no state":         {func(*world) string { return "?code=c%2B1" }, "own", incomplete},
		"nothing":          {func(*world) string { return "" }, "own", incomplete},
		"a state twice": {
			func(w *world) string { return w.success() + "&state=y" }, "own",
			"state must not be repeated.",
		},
		"a code twice": {
			func(w *world) string { return w.success() + "&code=y" }, "own",
			"code must not be repeated.",
		},
		"an issuer twice": {
			func(w *world) string { return w.success() + "&iss=y" }, "own",
			"iss must not be repeated.",
		},
		"two errors": {
			func(w *world) string { return w.success() + "&error=y&error=z" }, "own",
			"error must not be repeated.",
		},
		"a control character": {
			func(w *world) string { return w.success() + "%00" + "&error=%00" }, "own",
			"error must be text without control characters.",
		},
		"a query that is none": {func(*world) string { return "?state=%zz" }, "own", "The query string is malformed."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			cookie := c.cookie
			if cookie == "own" {
				cookie = w.started.CookieValue.Reveal()
			}
			w.checkErrorPage(t, w.visitWith(http.MethodGet, c.query(w), "", cookie), 400, "svc_invalid_request", c.says)
			if kept := w.attempt(t); kept.Status != attempt.Open || len(kept.Verifier) == 0 || len(w.back) != 0 {
				t.Errorf("kept %+v, exchanged %+v", kept, w.back)
			}
			w.log.Reset()
			w.checkWindow(t, w.visit(w.success()), "Your identity is confirmed", true)
		})
	}
}

// TestStateIsSingleUseAndExpires also checks that a repeated callback does not change the attempt.
func TestStateIsSingleUseAndExpires(t *testing.T) {
	t.Parallel()
	again := newWorld(t)
	again.visit(again.success())
	before := again.attempt(t)
	again.enqueued = nil
	again.checkErrorPage(t, again.visit(again.success()), 400, "svc_invalid_request", "")
	if diff := cmp.Diff(before, again.attempt(t)); diff != "" || len(again.back) != 1 {
		t.Errorf("exchanged %d times, kept (-before +after):\n%s", len(again.back), diff)
	}
	late := newWorld(t)
	late.now = late.now.Add(30 * time.Minute)
	late.checkErrorPage(t, late.visit(late.success()), 400, "svc_invalid_request", "")
	if len(late.back) != 0 || late.attempt(t).Status != attempt.Open {
		t.Errorf("exchanged %+v, kept %+v", late.back, late.attempt(t))
	}
}

// TestCallbackShowsErrorPageWhenStoreFails checks that the provider is not called if the attempt can't be read. If the
// result can't be stored, the page must display an error.
func TestCallbackShowsErrorPageWhenStoreFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change    func(*rows)
		status    int
		code      string
		exchanged int
	}{
		"no state can be taken":    {func(r *rows) { r.untaken = keyedtest.ErrTrouble }, 500, "svc_server_error", 0},
		"no attempt can be read":   {func(r *rows) { r.unread = keyedtest.ErrTrouble }, 500, "svc_server_error", 0},
		"no identity can be kept":  {func(r *rows) { r.unsaved = keyedtest.ErrTrouble }, 500, "svc_server_error", 1},
		"somebody else was faster": {func(r *rows) { r.unsaved = fault.Stale() }, 503, "svc_unavailable", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.change(&w.rows)
			w.checkErrorPage(t, w.visit(w.success()), c.status, c.code, "")
			w.rows.unread = nil
			if kept := w.attempt(t); kept.Status != attempt.Open || len(w.back) != c.exchanged {
				t.Errorf("kept %+v, exchanged %d times", kept, len(w.back))
			}
		})
	}
	w := newWorld(t)
	w.refuses, w.rows.unsaved = identity.Refused("access_denied", nil), keyedtest.ErrTrouble
	w.checkWindow(t, w.visit("?state="+w.request.State+"&error=access_denied"), "You are not connected", false)
	if !strings.Contains(w.log.String(), `"unstored"`) {
		t.Errorf("the log does not tell of an end that nobody else hears of: %s", w.log.String())
	}
}

func TestCallbackShowsErrorPageWhenRateLimited(t *testing.T) {
	t.Parallel()
	w := newLimited(t, fullBuckets{})
	got := w.visit(w.success())
	w.checkErrorPage(t, got, http.StatusTooManyRequests, "svc_rate_limited", "Too many requests.")
	if got.Header().Get("Retry-After") != "2" || w.attempt(t).Status != attempt.Open {
		t.Errorf("headers %v, kept %+v", got.Header(), w.attempt(t))
	}
}

func TestCallbackRejectsOtherMethods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for method, want := range map[string]int{http.MethodPost: 405, http.MethodPut: 405, http.MethodOptions: 204} {
		got := w.visitWith(method, w.success(), "", w.started.CookieValue.Reveal())
		if got.Code != want || got.Header().Get("Allow") != "GET, HEAD, OPTIONS" || len(w.back) != 0 {
			t.Errorf("%s: %d with Allow %q", method, got.Code, got.Header().Get("Allow"))
		}
	}
}
