// Package browsertest tests endpoints that web pages call with a public ID (httpapi.Browser), using the callers from
// package keyedtest. Only tests import this package.
package browsertest

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	// Origin is the origin of PublicA's pages, sent with every request.
	Origin = "https://app.example"
	// Page is the query string sent by pages of the organisation PublicA.
	Page = "?public_id=" + keyedtest.PublicA
)

// Directory finds the owner of a public ID.
type Directory struct{}

// ByPublicID implements httpapi.PublicFinder.
func (Directory) ByPublicID(_ context.Context, publicID string) (org.Caller, error) {
	tenant, ok := keyedtest.Tenants()[publicID]
	if !ok {
		return org.Caller{}, fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "No.")
	}
	caller := org.Caller{Tenant: tenant}
	if publicID == keyedtest.PublicA {
		caller.AllowedOrigins = []string{Origin}
		caller.Brand = org.Brand{Name: "Alder Maple Clinic", LogoURI: "https://cdn.example/a.png", Accent: "#0a7d33"}
	}
	return caller, nil
}

// Auth returns an authenticator that uses Directory, without rate limits.
func Auth() httpapi.PublicAuth { return httpapi.PublicAuth{Public: Directory{}} }

// Send sends a request as a page in a browser would.
func Send(tb testing.TB, handler http.Handler, method, target, body string) *httptest.ResponseRecorder {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", Origin)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// CheckAnswer checks that the response has status 200 and the body want. It also checks that the page may read the
// response and that caches must not store it.
func CheckAnswer(tb testing.TB, w *httptest.ResponseRecorder, want string) {
	tb.Helper()
	if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != want {
		tb.Errorf("got %d %s\nwant 200 %s", w.Code, got, want)
	}
	if h := w.Header(); h.Get("Access-Control-Allow-Origin") != Origin || h.Get("Cache-Control") != "no-store" {
		tb.Errorf("headers %v", h)
	}
}

// Refusal is a request that must be rejected.
type Refusal struct {
	Method string // HTTP method; POST if empty
	Query  string // query string; Page if empty
	Body   string // request body; if Err is set, a valid body is sent instead
	Err    error  // the use case's error; nil if the use case must not be called
	Status int
	Code   string
}

// CheckRefusals checks that a route that accepts a body rejects the given refusals and those common to all such routes.
// taken is a valid body. newHandler returns the route's handler, with a use case that returns err, and a function that
// counts calls to the use case. The responses must not contain an email address, an error's text or a challenge.
func CheckRefusals(tb testing.TB, route, taken string, given map[string]Refusal,
	newHandler func(err error) (handler http.Handler, asked func() int),
) {
	tb.Helper()
	all := map[string]Refusal{
		"our own failure":      {Err: keyedtest.ErrTrouble, Status: 500, Code: "svc_server_error"},
		"no public id":         {Query: "?", Body: taken, Status: 400, Code: "svc_invalid_request"},
		"an unknown public id": {Query: "?public_id=x", Body: taken, Status: 401, Code: "svc_unauthorized_client"},
		"no body":              {Status: 400, Code: "svc_invalid_request"},
		"GET":                  {Method: http.MethodGet, Status: 405, Code: "svc_method_not_allowed"},
	}
	maps.Copy(all, given)
	for name, c := range all {
		if c.Err != nil {
			c.Body = taken
		}
		handler, asked := newHandler(c.Err)
		w := Send(tb, handler, cmp.Or(c.Method, http.MethodPost), route+cmp.Or(c.Query, Page), c.Body)
		if body := w.Body.String(); w.Code != c.Status || !strings.Contains(body, `"error":"`+c.Code+`"`) ||
			strings.Contains(body, "trouble") || strings.Contains(body, "@") {
			tb.Errorf("%s: got %d %s", name, w.Code, body)
		}
		if w.Header().Get("WWW-Authenticate") != "" {
			tb.Errorf("%s: the browser would ask for a password", name)
		}
		if (c.Err == nil) != (asked() == 0) {
			tb.Errorf("%s: asked %d times", name, asked())
		}
	}
}
