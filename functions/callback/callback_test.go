package callback_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/functions/callback"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const returnURI = "https://app.example/return?keep=1"

var errTrouble = errors.New("trouble at 10.0.0.7")

// completer is a fake callback.Completer that records its calls and always returns the same result.
type completer struct {
	done     flow.Completed
	err      error
	returned []string // state, code, issuer, error and cookie passed to each call
	requests []string // request IDs
}

func (c *completer) Complete(_ context.Context, r flow.Return) (flow.Completed, error) {
	c.returned = append(c.returned, r.State, r.Code.Reveal(), r.Issuer, r.Error, r.Cookie(binding.CookieName(r.State)))
	c.requests = append(c.requests, r.RequestID)
	return c.done, c.err
}

func (c *completer) visit(t *testing.T, limiter httpapi.Limiter, method, query,
	cookie string,
) *httptest.ResponseRecorder {
	t.Helper()
	return c.visitIn(t, "", limiter, method, query, cookie)
}

func (c *completer) visitIn(t *testing.T, languages string, limiter httpapi.Limiter, method, query,
	cookie string,
) *httptest.ResponseRecorder {
	t.Helper()
	handler := callback.New(callback.Deps{API: keyedtest.NewAPI(), Limiter: limiter, Flows: c})
	r := httptest.NewRequest(method, callback.Route+query, http.NoBody)
	r.Header.Set("Accept-Language", languages)
	if cookie != "" {
		r.AddCookie(&http.Cookie{
			Name: "__Host-" + binding.CookieName("s1"), Value: cookie, Secure: true, HttpOnly: true,
			SameSite: http.SameSiteLaxMode,
		})
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func proven() flow.Completed {
	return flow.Completed{Redirect: org.RestoreRedirect(ownhosts.Own(), returnURI), ExternalState: "visit&9"}
}

func wantEndedCookie(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	want := "__Host-" + binding.CookieName("s1") + "=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax"
	if got := w.Header().Values("Set-Cookie"); len(got) != 1 || got[0] != want {
		t.Errorf("cookies %q, want %q", got, want)
	}
}

func TestCallbackRedirectsResultToApplication(t *testing.T) {
	t.Parallel()
	done := proven()
	done.Result = url.Values{"org_connection_id": {"c1"}, "external_state": {"visit&9"}}
	c := completer{done: done}
	w := c.visit(t, httpapi.Limiter{}, http.MethodGet,
		"?state=s1&code=c%2B1&iss=https%3A%2F%2Fehr.example&session_state=x", "binding")
	want := "https://app.example/return?keep=1&org_connection_id=c1&external_state=visit%269"
	got, err := url.Parse(w.Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	wanted, _ := url.Parse(want)
	if w.Code != http.StatusFound || got.Host+got.Path != wanted.Host+wanted.Path || w.Body.Len() != 0 {
		t.Errorf("got %d to %s, want %s", w.Code, got, want)
	}
	if diff := cmp.Diff(wanted.Query(), got.Query()); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"s1", "c+1", "https://ehr.example", "", "binding"}, c.returned); diff != "" {
		t.Errorf("return (-want +got):\n%s", diff)
	}
	wantEndedCookie(t, w)
}

func TestCallbackRedirectsErrorToApplication(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err               error
		code, description string
	}{
		"the portal's own": {
			fault.New(fault.Upstream, "invalid_scope", "The patient portal refused the request."),
			"invalid_scope", "The patient portal refused the request.",
		},
		"our own failure": {errTrouble, "svc_server_error", "Something went wrong on our side. Please try again."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flows := completer{done: proven(), err: c.err}
			w := flows.visit(t, httpapi.Limiter{}, http.MethodGet, "?state=s1&error=any", "binding")
			want := url.Values{
				"keep": {"1"}, "error": {c.code}, "error_description": {c.description}, "request_id": {keyedtest.RequestID},
				"external_state": {"visit&9"},
			}
			if got := w.Header().Get("Location"); w.Code != http.StatusFound ||
				got != "https://app.example/return?"+want.Encode() {
				t.Errorf("got %d to %s", w.Code, got)
			}
			wantEndedCookie(t, w)
		})
	}
}

func TestCallbackShowsErrorPageWithoutVerifiedRedirectURI(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query  string
		err    error
		status int
		code   string
		asked  bool
	}{
		"a state that does not work": {
			"?state=s1&code=c", fault.BadRequest("This sign-in was used before."), 400,
			"svc_invalid_request", true,
		},
		"an empty fragment": {
			"?returned=fragment", fault.BadRequest("This link is incomplete."), 400,
			"svc_invalid_request", true,
		},
		"no state": {
			"?code=c", fault.BadRequest("This link is incomplete."), 400,
			"svc_invalid_request", true,
		},
		"our own failure":     {"?state=s1&code=c", errTrouble, 500, "svc_server_error", true},
		"a state twice":       {"?state=s1&state=s2&code=c", nil, 400, "svc_invalid_request", false},
		"a control character": {"?state=s1%00&code=c", nil, 400, "svc_invalid_request", false},
		"a malformed query":   {"?state=%zz", nil, 400, "svc_invalid_request", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flows := completer{err: c.err}
			w := flows.visit(t, httpapi.Limiter{}, http.MethodGet, c.query, "binding")
			if w.Code != c.status || w.Header().Get("Location") != "" ||
				w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
				t.Errorf("got %d to %q as %q", w.Code, w.Header().Get("Location"), w.Header().Get("Content-Type"))
			}
			if page := w.Body.String(); !strings.Contains(page, c.code) || !strings.Contains(page, keyedtest.RequestID) ||
				strings.Contains(page, "10.0.0.7") {
				t.Errorf("page:\n%s", page)
			}
			if (len(flows.returned) > 0) != c.asked {
				t.Errorf("the attempt was asked for: %q", flows.returned)
			}
		})
	}
}

func TestCallbackServesFragmentPageWithScriptAllowedByCSP(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{
		"nothing": "", "an empty query": "?", "only what is not read": "?error_description=x",
		"a state alone": "?state=s1", "a state and iss": "?state=s1&iss=https%3A%2F%2Fehr.example",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var flows completer
			w := flows.visit(t, httpapi.Limiter{}, http.MethodGet, query, "binding")
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" ||
				len(flows.returned) != 0 {
				t.Fatalf("got %d %q, returned %q", w.Code, w.Header().Get("Content-Type"), flows.returned)
			}
			script := expect.OwnPolicy(t, w.Header().Get("Content-Security-Policy"), w.Body.String())
			if !strings.Contains(script, `set("returned", "fragment")`) {
				t.Errorf("the script does not mark what it sends, so that it could run for ever:\n%s", script)
			}
			if strings.Contains(script, "http") || !strings.Contains(script, "window.location.pathname") {
				t.Errorf("the script does not stay on this address:\n%s", script)
			}
			if got := w.Header().Values("Set-Cookie"); len(got) != 0 {
				t.Errorf("cookies %q: the attempt is not over", got)
			}
		})
	}
}

func TestCallbackAcceptsParametersFromFragmentPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query string
		want  []string
	}{
		"a code": {"?state=s1&code=c&returned=fragment", []string{"s1", "c", "", "", "binding"}},
		"an error": {
			"?state=s1&error=access_denied&returned=fragment",
			[]string{"s1", "", "", "access_denied", "binding"},
		},
		"neither, the last time": {"?state=s1&returned=fragment", []string{"s1", "", "", "", "binding"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flows := completer{done: proven()}
			w := flows.visit(t, httpapi.Limiter{}, http.MethodGet, c.query, "binding")
			if diff := cmp.Diff(c.want, flows.returned); diff != "" || w.Code != http.StatusFound {
				t.Errorf("got %d, return (-want +got):\n%s", w.Code, diff)
			}
			if got := w.Header().Get("Location"); strings.Contains(got, "returned") {
				t.Errorf("the mark went on to %s", got)
			}
		})
	}
}

// fullBuckets implements httpapi.Buckets and rejects every request.
type fullBuckets struct{}

func (fullBuckets) Take(context.Context, string, ratelimit.Limit, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{RetryAfter: 2 * time.Second}, nil
}

func TestCallbackShowsErrorPageWhenRateLimited(t *testing.T) {
	t.Parallel()
	limiter := httpapi.Limiter{
		Buckets: fullBuckets{},
		Limit:   ratelimit.Limit{Name: "callback", Quota: 1, Window: time.Minute},
	}
	var flows completer
	w := flows.visit(t, limiter, http.MethodGet, "?state=s1&code=c", "binding")
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "2" || len(flows.returned) != 0 {
		t.Errorf("got %d, Retry-After %q, returned %q", w.Code, w.Header().Get("Retry-After"), flows.returned)
	}
}

func TestCallbackRejectsOtherMethods(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]int{http.MethodPost: 405, http.MethodPut: 405, http.MethodOptions: 204} {
		var flows completer
		w := flows.visit(t, httpapi.Limiter{}, method, "?state=s1&code=c", "binding")
		if w.Code != want || w.Header().Get("Allow") != "GET, HEAD, OPTIONS" || len(flows.returned) != 0 {
			t.Errorf("%s: %d with Allow %q, returned %q", method, w.Code, w.Header().Get("Allow"), flows.returned)
		}
	}
}

func TestCallbackPassesRegistrationFromPath(t *testing.T) {
	t.Parallel()
	for _, registration := range []string{"", "r1"} {
		var got flow.Return
		handler := callback.New(callback.Deps{API: keyedtest.NewAPI(), Flows: completing(func(r flow.Return) { got = r })})
		r := httptest.NewRequest(http.MethodGet, callback.Route+"?state=s1&code=c1", http.NoBody)
		r.SetPathValue("registration", registration)
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if got.Registration != registration || got.State != "s1" {
			t.Errorf("%q: got %+v", registration, got)
		}
	}
}

type completing func(r flow.Return)

func (c completing) Complete(_ context.Context, r flow.Return) (flow.Completed, error) {
	c(r)
	return flow.Completed{}, errTrouble
}
