package connect_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"recordbridge/functions/connect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/infra/testkit/starttest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	oneURI    = "public_test_0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"
	twoURIs   = "public_test_0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b"
	broken    = "public_test_0c0c0c0c-0c0c-4c0c-8c0c-0c0c0c0c0c0c"
	returnURI = "https://app.example/return?keep=1"
	otherURI  = "https://app.example/other"
	authorize = "https://ehr.example/authorize?state=s"
)

var errTrouble = errors.New("trouble at 10.0.0.7")

func tenant() org.Tenant {
	return org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}
}

// directory knows two credentials.
type directory struct{}

func (directory) ByPublicID(_ context.Context, publicID string) (org.Caller, error) {
	switch publicID {
	case oneURI:
		return org.Caller{Tenant: tenant(), RedirectURIs: []string{returnURI}}, nil
	case twoURIs:
		return org.Caller{Tenant: tenant(), RedirectURIs: []string{otherURI, returnURI}}, nil
	case broken:
		return org.Caller{}, errTrouble
	}
	return org.Caller{}, fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "No.")
}

// starter remembers what was asked for, and answers err or an attempt.
type starter struct {
	asked []flow.Request
	left  []string // start values
	err   error
}

func (s *starter) Start(_ context.Context, r flow.Request) (binding.Started, error) {
	s.asked = append(s.asked, r)
	if s.err != nil {
		return binding.Started{}, s.err
	}
	return binding.Started{
		URL: authorize, CookieName: "__Host-attempt-1", CookieValue: secret.New("binding"),
		CookieAge: 30 * time.Minute,
	}, nil
}

func (s *starter) Leave(_ context.Context, start secret.Text) (binding.Started, error) {
	s.left = append(s.left, start.Reveal())
	if s.err != nil {
		return binding.Started{}, s.err
	}
	return binding.Started{
		URL: authorize, CookieName: "__Host-attempt-2", CookieValue: secret.New("binding"),
		CookieAge: 20 * time.Minute,
	}, nil
}

func (s *starter) visit(t *testing.T, method string, query url.Values) *httptest.ResponseRecorder {
	t.Helper()
	return s.send(t, httpapi.Limiter{}, httptest.NewRequest(method, connect.Route+"?"+query.Encode(), http.NoBody))
}

func (s *starter) send(t *testing.T, limiter httpapi.Limiter, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	handler := connect.New(connect.Deps{
		API: keyedtest.NewAPI(), Auth: httpapi.PublicAuth{Own: ownhosts.Own(), Public: directory{}}, Limiter: limiter,
		Flows: s, BaseURL: "https://api.example/v1",
	})
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func wantRedirect(t *testing.T, w *httptest.ResponseRecorder, want string) {
	t.Helper()
	if got := w.Header().Get("Location"); w.Code != http.StatusFound || got != want || w.Body.Len() != 0 {
		t.Errorf("got %d to %s with %q\nwant 302 to %s", w.Code, got, w.Body, want)
	}
}

func TestConnectSendsTheBrowserToThePortalWithItsCookie(t *testing.T) {
	t.Parallel()
	var s starter
	w := s.visit(t, http.MethodGet, url.Values{
		"public_id": {twoURIs}, "endpoint_id": {"endpoint"}, "brand_id": {"brand"}, "portal_id": {"portal"},
		"redirect_uri": {returnURI},
		"external_id":  {"patient 7"}, "external_state": {"visit&9"}, "request_id": {"my-request"}, "later": {"ignored"},
	})
	wantRedirect(t, w, authorize)
	wantCookie := "__Host-attempt-1=binding; Path=/; Max-Age=1800; HttpOnly; Secure; SameSite=Lax"
	if got := w.Header().Values("Set-Cookie"); len(got) != 1 || got[0] != wantCookie {
		t.Errorf("cookies %q, want %q", got, wantCookie)
	}
	for name, want := range map[string]string{
		"X-Request-Id": keyedtest.RequestID, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"Access-Control-Allow-Origin": "",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("header %s: %q, want %q", name, got, want)
		}
	}
	redirect, err := org.MatchRedirect(ownhosts.Own(), []string{returnURI}, returnURI)
	if err != nil {
		t.Fatal(err)
	}
	want := []flow.Request{{
		Caller: org.Caller{Tenant: tenant(), RedirectURIs: []string{otherURI, returnURI}}, Redirect: redirect,
		EndpointID: "endpoint", BrandID: "brand", PortalID: "portal",
		ExternalID: "patient 7", ExternalState: "visit&9", RequestID: "my-request",
	}}
	same := gocmp.Comparer(func(a, b org.VerifiedRedirect) bool { return a == b })
	if diff := gocmp.Diff(want, s.asked, same); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestConnectFillsInTheOnlyRedirectAndARequestID(t *testing.T) {
	t.Parallel()
	var s starter
	wantRedirect(t, s.visit(t, http.MethodGet, url.Values{"public_id": {oneURI}, "endpoint_id": {"endpoint"}}), authorize)
	if got := s.asked[0]; got.Redirect.URI() != returnURI || got.RequestID != keyedtest.RequestID {
		t.Errorf("asked for %s with request id %q", got.Redirect.URI(), got.RequestID)
	}
}

func TestWithoutAnEndpointThePatientPicksOneFirst(t *testing.T) {
	t.Parallel()
	const page = "https://api.example/v1/widget/connect?"
	for name, c := range map[string]struct{ asked, want url.Values }{
		"with all that there is": {
			url.Values{
				"public_id": {twoURIs}, "redirect_uri": {returnURI}, "brand_id": {"b"}, "portal_id": {"p"},
				"external_id": {"patient 7"}, "external_state": {"s&9"},
				"request_id": {"r"}, "reconnect_org_connection_id": {"c"}, "lang": {"es"}, "email": {"a@b.example"},
				"endpoint_id": {""},
			},
			url.Values{
				"public_id": {twoURIs}, "redirect_uri": {returnURI}, "brand_id": {"b"}, "portal_id": {"p"},
				"external_id": {"patient 7"}, "external_state": {"s&9"},
				"request_id": {"r"}, "reconnect_org_connection_id": {"c"}, "lang": {"es"},
			},
		},
		"with the only redirect": {
			url.Values{"public_id": {oneURI}},
			url.Values{"public_id": {oneURI}, "redirect_uri": {returnURI}},
		},
	} {
		var s starter
		w := s.visit(t, http.MethodGet, c.asked)
		wantRedirect(t, w, page+c.want.Encode())
		if len(s.asked) != 0 || len(w.Header().Values("Set-Cookie")) != 0 {
			t.Errorf("%s: %d attempts were begun, cookies %v", name, len(s.asked), w.Header().Values("Set-Cookie"))
		}
	}
	var s starter
	w := s.visit(t, http.MethodGet, url.Values{"public_id": {oneURI}, "external_id": {strings.Repeat("x", 513)}})
	if got := w.Header().Get("Location"); !strings.HasPrefix(got, "https://app.example/return?error=svc_invalid_request") {
		t.Errorf("what cannot be returned is told at the end of a search: %s", got)
	}
}

func TestWhatIsNotProvenEndsAsAPageAndNeverAsARedirect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query  url.Values
		status int
		code   string
	}{
		"no public id": {url.Values{"redirect_uri": {returnURI}}, 400, "svc_invalid_request"},
		"an unknown public id": {
			url.Values{"public_id": {"public_test_x"}, "redirect_uri": {returnURI}},
			400,
			"svc_unauthorized_client",
		},
		"two public ids": {
			url.Values{"public_id": {oneURI, twoURIs}, "redirect_uri": {returnURI}},
			400,
			"svc_invalid_request",
		},
		"another redirect URI": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {otherURI}},
			400,
			"svc_invalid_request",
		},
		"a longer redirect URI": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {returnURI + "&x=1"}},
			400,
			"svc_invalid_request",
		},
		"a script as redirect": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"javascript:alert(1)"}},
			400,
			"svc_invalid_request",
		},
		"an encoded redirect URI": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example/%72eturn?keep=1"},
		}, 400, "svc_invalid_request"},
		"encoded twice": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {url.QueryEscape(returnURI)}},
			400,
			"svc_invalid_request",
		},
		"a user before the host": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example@evil.example/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"user information": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://me@app.example/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"a fragment": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {returnURI + "#x"}},
			400,
			"svc_invalid_request",
		},
		"a host below": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://evil.app.example/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"a host around": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example.evil.example/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"a path below": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example/return/x?keep=1"},
		}, 400, "svc_invalid_request"},
		"a path with dots": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example/x/../return?keep=1"},
		}, 400, "svc_invalid_request"},
		"a backslash": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {`https://app.example\@evil.example/return?keep=1`},
		}, 400, "svc_invalid_request"},
		"another case": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"https://app.example/Return?keep=1"}},
			400, "svc_invalid_request",
		},
		"a trailing dot": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"https://app.example./return?keep=1"}},
			400, "svc_invalid_request",
		},
		"no scheme": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"//app.example/return?keep=1"}},
			400,
			"svc_invalid_request",
		},
		"a path alone": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"/return?keep=1"}},
			400,
			"svc_invalid_request",
		},
		"two slashes": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"https://app.example//return?keep=1"}},
			400, "svc_invalid_request",
		},
		"a host in capitals": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"https://APP.example/return?keep=1"}},
			400, "svc_invalid_request",
		},
		"a scheme in capitals": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"HTTPS://app.example/return?keep=1"}},
			400, "svc_invalid_request",
		},
		"without TLS": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"http://app.example/return?keep=1"}},
			400, "svc_invalid_request",
		},
		"another query": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example/return?keep=1&next=https://evil.example"},
		}, 400, "svc_invalid_request"},
		"no query": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"https://app.example/return"}},
			400,
			"svc_invalid_request",
		},
		"a slash at the end": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"https://app.example/return/?keep=1"}},
			400, "svc_invalid_request",
		},
		"a letter that looks so": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://\u0430pp.example/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"a full-width dot": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app\uff0eexample/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"blanks around": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {" " + returnURI}},
			400,
			"svc_invalid_request",
		},
		"another's redirect URI": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {otherURI + "?"}},
			400,
			"svc_invalid_request",
		},
		"a port": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example:443/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"two redirect URIs": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {returnURI, returnURI}},
			400,
			"svc_invalid_request",
		},
		"none of several":         {url.Values{"public_id": {twoURIs}}, 400, "svc_invalid_request"},
		"our own failure":         {url.Values{"public_id": {broken}, "redirect_uri": {returnURI}}, 500, "svc_server_error"},
		"markup in what was sent": {url.Values{"public_id": {"<script>"}}, 400, "svc_unauthorized_client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s starter
			w := s.visit(t, http.MethodGet, c.query)
			if w.Code != c.status || w.Header().Get("Location") != "" || len(w.Header().Values("Set-Cookie")) != 0 ||
				len(s.asked) != 0 {
				t.Errorf("got %d to %q, %d attempts", w.Code, w.Header().Get("Location"), len(s.asked))
			}
			if got := w.Header().Get("Content-Type"); got != "text/html; charset=utf-8" ||
				w.Header().Get("WWW-Authenticate") != "" {
				t.Errorf("Content-Type %q, WWW-Authenticate %q", got, w.Header().Get("WWW-Authenticate"))
			}
			if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") ||
				strings.Contains(policy, "script-src") {
				t.Errorf("policy %q", policy)
			}
			page := w.Body.String()
			if !strings.Contains(page, c.code) || !strings.Contains(page, keyedtest.RequestID) {
				t.Errorf("the page shows neither %s nor the request id:\n%s", c.code, page)
			}
			if strings.Contains(page, "<script") || strings.Contains(page, "app.example") || strings.Contains(page, "10.0.0.7") {
				t.Errorf("the page repeats what was sent or what failed:\n%s", page)
			}
		})
	}
}

func TestErrorsAfterTheProofGoBackByRedirect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err               error
		state             string
		code, description string
	}{
		"an unknown endpoint": {catalog.MissingEndpoint(), "visit&9", "svc_invalid_request", "endpoint_id is not known."},
		"without a state":     {catalog.MissingEndpoint(), "", "svc_invalid_request", "endpoint_id is not known."},
		"a portal that is down": {
			fault.New(fault.Unavailable, fault.CodeUnavailable, "The health system did not answer."), "s",
			"svc_server_error", "The health system did not answer.",
		},
		"our own failure": {errTrouble, "s", "svc_server_error", "Something went wrong on our side. Please try again."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := starter{err: c.err}
			w := s.visit(t, http.MethodGet, url.Values{
				"public_id": {oneURI}, "redirect_uri": {returnURI}, "external_id": {"p 7"}, "external_state": {c.state},
				"request_id": {"mine"}, "endpoint_id": {"endpoint"},
			})
			want := url.Values{
				"keep": {"1"}, "error": {c.code}, "error_description": {c.description}, "request_id": {keyedtest.RequestID},
				"external_id": {"p 7"},
			}
			if c.state != "" {
				want.Set("external_state", c.state)
			}
			wantRedirect(t, w, "https://app.example/return?"+want.Encode())
			if got := w.Header().Values("Set-Cookie"); len(got) != 0 {
				t.Errorf("cookies %q of an attempt that was not begun", got)
			}
		})
	}
}

// TestManyCookiesExpireOldest covers both ways to leave, and spares cookies that are not an attempt's.
func TestManyCookiesExpireOldest(t *testing.T) {
	t.Parallel()
	for _, r := range []*http.Request{
		httptest.NewRequest(http.MethodGet, connect.Route+"?endpoint_id=endpoint&public_id="+oneURI, http.NoBody),
		starttest.Request(t, connect.Route, starttest.Body("start-1")),
	} {
		r.AddCookie(&http.Cookie{Name: "session", Value: "x"})
		for i := range 21 {
			r.AddCookie(&http.Cookie{Name: "__Host-attempt-" + string(rune('a'+i)), Value: string(rune('a'+i)) + ".x"})
		}
		var s starter
		var gone []string
		for _, cookie := range s.send(t, httpapi.Limiter{}, r).Result().Cookies() {
			if cookie.MaxAge < 0 && cookie.Value == "" && cookie.Path == "/" && cookie.Secure {
				gone = append(gone, cookie.Name)
			}
		}
		if diff := gocmp.Diff([]string{"__Host-attempt-a", "__Host-attempt-b"}, gone); diff != "" {
			t.Errorf("%s: cookies that go (-want +got):\n%s", r.Method, diff)
		}
	}
}

// fullBuckets refuse every request.
type fullBuckets struct{}

func (fullBuckets) Take(context.Context, string, ratelimit.Limit, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{RetryAfter: 2 * time.Second}, nil
}

func TestConnectHasTwoMethods(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]int{
		http.MethodPut: 405, http.MethodDelete: 405, http.MethodOptions: 204, http.MethodHead: 302,
	} {
		var s starter
		w := s.visit(t, method, url.Values{"public_id": {oneURI}})
		wantAllow := ""
		if want != http.StatusFound {
			wantAllow = "GET, HEAD, POST, OPTIONS"
		}
		if w.Code != want || cmp.Or(w.Header().Get("Allow"), "") != wantAllow {
			t.Errorf("%s: %d with Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
}
