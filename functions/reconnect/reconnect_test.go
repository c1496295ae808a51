package reconnect_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"recordbridge/functions/reconnect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	publicID  = "public_test_0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b"
	connID    = "c0000000-0000-4000-8000-000000000001"
	returnURI = "https://app.example/return?keep=1"
	otherURI  = "https://app.example/other"
	authorize = "https://ehr.example/authorize?state=s"
)

var caller = org.Caller{
	Tenant:       org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"},
	RedirectURIs: []string{returnURI, otherURI},
}

type directory struct{}

func (directory) ByPublicID(_ context.Context, id string) (org.Caller, error) {
	if id != publicID {
		return org.Caller{}, fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "No.")
	}
	return caller, nil
}

type starter struct {
	asked []flow.Request
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

func (s *starter) visit(t *testing.T, method string, query url.Values) *httptest.ResponseRecorder {
	t.Helper()
	return s.send(t, httptest.NewRequest(method, reconnect.Route+"?"+query.Encode(), http.NoBody))
}

func (s *starter) send(t *testing.T, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	handler := reconnect.New(reconnect.Deps{
		API:  keyedtest.NewAPI(),
		Auth: httpapi.PublicAuth{Own: ownhosts.Own(), Public: directory{}}, Flows: s,
	})
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func whole() url.Values {
	return url.Values{
		"public_id": {publicID}, "redirect_uri": {returnURI}, "reconnect_org_connection_id": {connID},
		"external_id": {"patient 7"}, "external_state": {"visit&9"}, "request_id": {"my-request"},
	}
}

func TestReconnectRedirectsToPortalAndSetsCookie(t *testing.T) {
	t.Parallel()
	var s starter
	w := s.visit(t, http.MethodGet, whole())
	if got := w.Header().Get("Location"); w.Code != http.StatusFound || got != authorize {
		t.Errorf("got %d to %s", w.Code, got)
	}
	wantCookie := "__Host-attempt-1=binding; Path=/; Max-Age=1800; HttpOnly; Secure; SameSite=Lax"
	if got := w.Header().Values("Set-Cookie"); len(got) != 1 || got[0] != wantCookie {
		t.Errorf("cookies %q, want %q", got, wantCookie)
	}
	redirect, err := org.MatchRedirect(ownhosts.Own(), []string{returnURI}, returnURI)
	if err != nil {
		t.Fatal(err)
	}
	want := []flow.Request{{
		Caller: caller, Redirect: redirect, Reconnect: connID,
		ExternalID: "patient 7", ExternalState: "visit&9", RequestID: "my-request",
	}}
	same := gocmp.Comparer(func(a, b org.VerifiedRedirect) bool { return a == b })
	if diff := gocmp.Diff(want, s.asked, same); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestReconnectExpiresOldestCookiesOverLimit(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, reconnect.Route+"?"+whole().Encode(), http.NoBody)
	for i := range 20 {
		r.AddCookie(&http.Cookie{Name: "__Host-attempt-" + string(rune('a'+i)), Value: string(rune('a'+i)) + ".x"})
	}
	var s starter
	got := s.send(t, r).Header().Values("Set-Cookie")
	if len(got) != 2 || got[0] != "__Host-attempt-a=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax" ||
		!strings.HasPrefix(got[1], "__Host-attempt-1=binding;") {
		t.Errorf("cookies %q", got)
	}
}

func TestReconnectUsesDefaultRequestIDAndIgnoresEndpoint(t *testing.T) {
	t.Parallel()
	var s starter
	query := whole()
	query.Del("request_id")
	query.Set("endpoint_id", "e0000000-0000-4000-8000-000000000001")
	s.visit(t, http.MethodGet, query)
	if len(s.asked) != 1 || s.asked[0].RequestID != keyedtest.RequestID || s.asked[0].EndpointID != "" {
		t.Errorf("asked for %+v", s.asked)
	}
}

func TestReconnectRedirectsErrors(t *testing.T) {
	t.Parallel()
	unknown := fault.BadRequest("reconnect_org_connection_id is unknown.")
	for name, c := range map[string]struct {
		id          string
		err         error
		code, shown string
	}{
		"no connection":  {"", nil, "svc_invalid_request", "reconnect_org_connection_id is required."},
		"an unknown one": {connID, unknown, "svc_invalid_request", unknown.Public},
		"our own failure": {
			connID, errors.New("trouble at 10.0.0.7"), "svc_server_error",
			"Something went wrong on our side. Please try again.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, query := starter{err: c.err}, whole()
			query.Set("reconnect_org_connection_id", c.id)
			w := s.visit(t, http.MethodGet, query)
			want := url.Values{
				"keep": {"1"}, "error": {c.code}, "error_description": {c.shown}, "request_id": {keyedtest.RequestID},
				"external_id": {"patient 7"}, "external_state": {"visit&9"},
			}
			if got := w.Header().Get("Location"); w.Code != http.StatusFound ||
				got != "https://app.example/return?"+want.Encode() {
				t.Errorf("got %d to %s", w.Code, got)
			}
			if got := w.Header().Values("Set-Cookie"); len(got) != 0 || (c.id == "") != (len(s.asked) == 0) {
				t.Errorf("cookies %q, asked %d times", got, len(s.asked))
			}
		})
	}
}

func TestReconnectRedirectsInvalidParameterError(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(url.Values){
		"two connections":     func(q url.Values) { q.Add("reconnect_org_connection_id", connID) },
		"a control character": func(q url.Values) { q.Set("external_state", "a\r\nb") },
	} {
		var s starter
		query := whole()
		change(query)
		location, err := url.Parse(s.visit(t, http.MethodGet, query).Header().Get("Location"))
		if err != nil || location.Host != "app.example" || location.Query().Get("error") != "svc_invalid_request" ||
			len(s.asked) != 0 {
			t.Errorf("%s: got to %v (%v), asked %d times", name, location, err, len(s.asked))
		}
	}
}

func TestReconnectShowsErrorPageWithoutVerifiedRedirectURI(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(url.Values){
		"no public id":         func(q url.Values) { q.Del("public_id") },
		"an unknown public id": func(q url.Values) { q.Set("public_id", "public_live_x") },
		"none of several":      func(q url.Values) { q.Del("redirect_uri") },
		"another redirect URI": func(q url.Values) { q.Set("redirect_uri", "https://evil.example/return?keep=1") },
		"user information": func(q url.Values) {
			q.Set("redirect_uri",
				"https://app.example@evil.example/return?keep=1")
		},
		"a backslash": func(q url.Values) {
			q.Set("redirect_uri",
				`https://evil.example\@app.example/return?keep=1`)
		},
		"a host around": func(q url.Values) {
			q.Set("redirect_uri",
				"https://app.example.evil.example/return?keep=1")
		},
		"encoded":                func(q url.Values) { q.Set("redirect_uri", url.QueryEscape(returnURI)) },
		"a fragment":             func(q url.Values) { q.Set("redirect_uri", returnURI+"#") },
		"two redirect URIs":      func(q url.Values) { q.Add("redirect_uri", otherURI) },
		"a script as connection": func(q url.Values) { q.Set("public_id", "<script>") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s starter
			query := whole()
			change(query)
			w := s.visit(t, http.MethodGet, query)
			if w.Code != http.StatusBadRequest || w.Header().Get("Location") != "" || len(s.asked) != 0 {
				t.Errorf("got %d to %q, asked %d times", w.Code, w.Header().Get("Location"), len(s.asked))
			}
			if page := w.Body.String(); strings.Contains(page, "evil") || strings.Contains(page, "<script") ||
				!strings.Contains(page, keyedtest.RequestID) {
				t.Errorf("page:\n%s", page)
			}
		})
	}
}

func TestReconnectRejectsOtherMethods(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]int{http.MethodPost: 405, http.MethodOptions: 204, http.MethodHead: 302} {
		var s starter
		if w := s.visit(t, method, whole()); w.Code != want {
			t.Errorf("%s: %d, want %d", method, w.Code, want)
		}
	}
}
