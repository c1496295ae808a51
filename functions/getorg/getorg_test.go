package getorg_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/getorg"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	whole   = "public_test_0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"
	bare    = "0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b"
	broken  = "public_test_0c0c0c0c-0c0c-4c0c-8c0c-0c0c0c0c0c0c"
	halfway = "public_test_0d0d0d0d-0d0d-4d0d-8d0d-0d0d0d0d0d0d"
)

var errTrouble = errors.New("trouble at 10.0.0.7")

type directory struct{}

func (directory) ByPublicID(_ context.Context, publicID string) (org.Caller, error) {
	switch publicID {
	case whole:
		return org.Caller{AllowedOrigins: []string{"https://app.example"}}, nil
	case bare, halfway:
		return org.Caller{}, nil
	case broken:
		return org.Caller{}, errTrouble
	}
	return org.Caller{}, fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "No.")
}

func (directory) Organisation(_ context.Context, publicID string) (org.Organisation, error) {
	switch publicID {
	case whole:
		return org.Organisation{
			ID: "a0000000-0000-4000-8000-000000000001", Name: "Alder & Birch <Health>", LogoURI: "https://a.example/logo.svg",
			PrivacyPolicyURI: "https://a.example/privacy", WebsiteURI: "https://a.example/", Plan: org.Paid, Status: org.Active,
			TermsURI: "https://a.example/terms", Accent: "#1a5fb4",
			Look:    org.Look{Radius: new(0), Font: `"Segoe UI", serif`, ColorScheme: org.Dark},
			Purpose: org.Purpose{English: "We plan your care."}, CreatedAt: time.Unix(1, 0), Rev: 7,
		}, nil
	case bare:
		return org.Organisation{
			ID: "a0000000-0000-4000-8000-000000000002", Name: "B", Plan: org.Free,
			Status: org.Active,
		}, nil
	}
	return org.Organisation{}, errTrouble
}

func newHandler() http.Handler {
	return getorg.New(getorg.Deps{
		API:  keyedtest.NewAPI(),
		Auth: httpapi.PublicAuth{Own: ownhosts.Own(), Public: directory{}}, Organisations: directory{}, Own: ownhosts.Own(),
	})
}

func TestGetOrgReturnsOrganisationOrError(t *testing.T) {
	t.Parallel()
	stranger := keyedtest.FailureBody("svc_unauthorized_client", "public_id is unknown.")
	failed := keyedtest.FailureBody("svc_server_error", "Something went wrong on our side. Please try again.")
	allow := "GET, HEAD, OPTIONS"
	full := `{"success":true,"data":{"id":"a0000000-0000-4000-8000-000000000001","name":"Alder & Birch <Health>",` +
		`"logo_uri":"https://a.example/logo.svg","privacy_policy_uri":"https://a.example/privacy",` +
		`"website_uri":"https://a.example/","terms_uri":"https://a.example/terms","accent":"#1a5fb4","radius":0,` +
		`"font":"\"Segoe UI\", serif","color_scheme":"dark","purpose":"We plan your care.",` +
		`"purpose_es":"","plan":"paid","status":"active"}}`
	plain := `{"success":true,"data":{"id":"a0000000-0000-4000-8000-000000000002","name":"B","logo_uri":"",` +
		`"privacy_policy_uri":"",` +
		`"website_uri":"","terms_uri":"","accent":"","font":"","color_scheme":"auto","purpose":"","purpose_es":"",` +
		`"plan":"free","status":"active"}}`
	for name, c := range map[string]struct {
		method, query, origin string
		status                int
		want                  string
		cors, allow           string
	}{
		"from a registered origin": {
			query: "?public_id=" + whole, origin: "https://app.example", status: 200, want: full,
			cors: "https://app.example",
		},
		"from another origin": {query: "?public_id=" + whole, origin: "https://evil.example", status: 200, want: full},
		"without an origin":   {query: "?public_id=" + whole, status: 200, want: full},
		"a bare id, any origin": {
			query: "?public_id=" + bare, origin: "https://any.example", status: 200,
			want: plain, cors: "*",
		},
		"an unknown id": {query: "?public_id=public_test_x", status: 401, want: stranger, cors: "*"},
		"no id": {
			status: 400,
			want:   keyedtest.FailureBody("svc_invalid_request", "public_id is required."), cors: "*",
		},
		"an id twice": {
			query: "?public_id=a&public_id=b", status: 400,
			want: keyedtest.FailureBody("svc_invalid_request", "public_id must not be repeated."), cors: "*",
		},
		"our own failure":       {query: "?public_id=" + broken, status: 500, want: failed, cors: "*"},
		"our own failure later": {query: "?public_id=" + halfway, status: 500, want: failed, cors: "*"},
		"POST": {
			method: http.MethodPost, query: "?public_id=" + whole, status: 405, cors: "*", allow: allow,
			want: keyedtest.FailureBody("svc_method_not_allowed",
				"This method is not allowed for this URL. Allowed methods: GET, HEAD, OPTIONS."),
		},
		"HEAD": {method: http.MethodHead, query: "?public_id=" + bare, status: 200, cors: "*"},
		"OPTIONS": {
			method: http.MethodOptions, query: "?public_id=" + whole, origin: "https://app.example", status: 204,
			cors: "https://app.example", allow: allow,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(cmp.Or(c.method, http.MethodGet), getorg.Route+c.query, http.NoBody)
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			w := httptest.NewRecorder()
			newHandler().ServeHTTP(w, r)
			if got := strings.TrimSuffix(w.Body.String(), "\n"); w.Code != c.status || got != c.want {
				t.Errorf("got %d %s\nwant %d %s", w.Code, got, c.status, c.want)
			}
			for header, want := range map[string]string{
				"Access-Control-Allow-Origin": c.cors, "Access-Control-Allow-Credentials": "", "Allow": c.allow,
				"WWW-Authenticate": "", "X-Request-Id": keyedtest.RequestID,
			} {
				if got := w.Header().Get(header); got != want {
					t.Errorf("header %s: %q, want %q", header, got, want)
				}
			}
		})
	}
}
