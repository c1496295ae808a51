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

type starter struct {
	asked []flow.Request
	left  []string
	err   error
}

func (s *starter) Start(_ context.Context, r flow.Request) (binding.Started, error) {
	s.asked = append(s.asked, r)
	if s.err != nil {
		return binding.Started{}, s.err
	}
	return binding.Started{
		URL: authorize, CookieName: "attempt-1", CookieValue: secret.New("binding"),
		CookieAge: 30 * time.Minute,
	}, nil
}

func (s *starter) Leave(_ context.Context, start secret.Text) (binding.Started, error) {
	s.left = append(s.left, start.Reveal())
	if s.err != nil {
		return binding.Started{}, s.err
	}
	return binding.Started{
		URL: authorize, CookieName: "attempt-2", CookieValue: secret.New("binding"),
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

func TestConnectRedirectsToPortalAndSetsCookie(t *testing.T) {
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

func TestConnectUsesDefaultRedirectURIAndRequestID(t *testing.T) {
	t.Parallel()
	var s starter
	wantRedirect(t, s.visit(t, http.MethodGet, url.Values{"public_id": {oneURI}, "endpoint_id": {"endpoint"}}), authorize)
	if got := s.asked[0]; got.Redirect.URI() != returnURI || got.RequestID != keyedtest.RequestID {
		t.Errorf("asked for %s with request id %q", got.Redirect.URI(), got.RequestID)
	}
}

func TestConnectRedirectsToSearchPageWithoutEndpoint(t *testing.T) {
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

// TestConnectExpiresOldestCookiesOverLimit covers both ways to start an attempt, and checks that unrelated cookies are
// preserved.
func TestConnectExpiresOldestCookiesOverLimit(t *testing.T) {
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

// fullBuckets implements httpapi.Buckets and rejects every request.
type fullBuckets struct{}

func (fullBuckets) Take(context.Context, string, ratelimit.Limit, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{RetryAfter: 2 * time.Second}, nil
}

func TestConnectRejectsOtherMethods(t *testing.T) {
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
