// Package keyedtest tests endpoints that an organisation's backend calls with its key. It provides an API with a fixed
// clock and request ID, three key pairs, and Exchange, which compares complete responses. Only tests import this
// package.
package keyedtest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Public IDs that Keys accepts, and the ID of every request.
const (
	PublicA   = "public_test_0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"
	PublicB   = "public_test_0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b"
	LiveA     = "public_live_0c0c0c0c-0c0c-4c0c-8c0c-0c0c0c0c0c0c"
	RequestID = "11111111-1111-4111-8111-111111111111"
)

// Error bodies shared by several responses.
const (
	Unauthorized = `{"success":false,"error":"svc_unauthorized_client","error_description":"The public ID or private ` +
		`key is missing or wrong.","request_id":"` + RequestID + `"}`
	ServerError = `{"success":false,"error":"svc_server_error","error_description":"Something went wrong on our ` +
		`side. Please try again.","request_id":"` + RequestID + `"}`
)

// ErrTrouble is an internal error whose text clients must not see.
var ErrTrouble = errors.New("trouble at 10.0.0.7")

// Tenants returns the owner of each key pair, by public ID.
func Tenants() map[string]org.Tenant {
	return map[string]org.Tenant{
		PublicA: {Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"},
		PublicB: {Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000002"},
		LiveA:   {Mode: org.Live, OrgID: "a0000000-0000-4000-8000-000000000001"},
	}
}

// Keys authenticates every known public ID with the private key "key".
type Keys struct{}

// Authenticate implements httpapi.KeyAuthenticator.
func (Keys) Authenticate(_ context.Context, publicID string, key secret.Text) (org.Caller, error) {
	tenant, ok := Tenants()[publicID]
	if !ok || !key.Equal(secret.New("key")) {
		return org.Caller{}, fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "No.")
	}
	return org.Caller{Tenant: tenant, CredentialID: publicID}, nil
}

// NewAPI returns an API that does not log. The API's clock is Moment, and its request ID is RequestID.
func NewAPI() *httpapi.API {
	return httpapi.New(httpapi.Options{
		Logger: slog.New(slog.DiscardHandler), Now: Moment, IDs: func() string { return RequestID },
	})
}

// Moment returns the fixed time used in tests.
func Moment() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

// Exchange is a request with its complete expected response.
type Exchange struct {
	Method string // HTTP method; GET if empty
	Path   string
	User   string // public ID; empty if there is none
	Key    string // private key; defaults to "key"
	Body   string
	Status int
	Want   string            // expected body
	Header map[string]string // additional headers; an empty value removes a header
}

// Check sends the request to a route's handler and compares the complete response with the expected one.
func (e Exchange) Check(tb testing.TB, route string, handler http.Handler) {
	tb.Helper()
	mux := http.NewServeMux()
	mux.Handle(route, handler)
	r := httptest.NewRequestWithContext(tb.Context(), cmp.Or(e.Method, http.MethodGet), e.Path, strings.NewReader(e.Body))
	if e.Body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if e.User != "" {
		r.SetBasicAuth(e.User, cmp.Or(e.Key, "key"))
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	if got := strings.TrimSuffix(w.Body.String(), "\n"); w.Code != e.Status || got != e.Want {
		tb.Errorf("got %d %s\nwant %d %s", w.Code, got, e.Status, e.Want)
	}
	want := map[string]string{"Cache-Control": "no-store", "X-Request-Id": RequestID, "Access-Control-Allow-Origin": ""}
	if e.Want != "" {
		want["Content-Type"] = "application/json"
	}
	if w.Code == http.StatusUnauthorized {
		want["WWW-Authenticate"] = `Basic realm="recordbridge", charset="UTF-8"`
	}
	maps.Copy(want, e.Header)
	for name, value := range want {
		if got := strings.Join(w.Header().Values(name), ", "); got != value {
			tb.Errorf("header %s: %q, want %q", name, got, value)
		}
	}
}

// CheckReader checks a read-only route's authentication and methods. PublicA may read path. The route must reject
// requests that use the method refused. CheckReader expects other functions to serve the methods in others. The cases
// run as parallel subtests.
func CheckReader(t *testing.T, route, path, refused string, newHandler func() http.Handler, others ...string) {
	t.Helper()
	methods := slices.Concat(others, []string{http.MethodGet, http.MethodHead})
	slices.Sort(methods)
	list := strings.Join(append(methods, http.MethodOptions), ", ")
	allowed := FailureBody("svc_method_not_allowed", "This method is not allowed for this URL. Allowed methods: "+list+".")
	allow := map[string]string{"Allow": list}
	for name, e := range map[string]Exchange{
		"no key":      {Status: 401, Want: Unauthorized},
		"a wrong key": {User: PublicA, Key: "other", Status: 401, Want: Unauthorized},
		"a stranger":  {User: "public_test_x", Status: 401, Want: Unauthorized},
		refused:       {Method: refused, User: PublicA, Status: 405, Want: allowed, Header: allow},
		"HEAD": {
			Method: http.MethodHead, User: PublicA, Status: 200,
			Header: map[string]string{"Content-Type": "application/json"},
		},
		"OPTIONS": {Method: http.MethodOptions, Status: 204, Header: allow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Path = path
			e.Check(t, route, newHandler())
		})
	}
}

// FailureBody returns an error envelope with the given code and description.
func FailureBody(code, description string) string {
	return `{"success":false,"error":"` + code + `","error_description":"` + description + `","request_id":"` +
		RequestID + `"}`
}
