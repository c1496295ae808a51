package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	requestID = "11111111-1111-4111-8111-111111111111"
	publicID  = "public_test_0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"
	goodKey   = "private_test_goodkey"
	backURI   = "https://app.example.org/back?keep=1"
)

var errStoreDown = errors.New("store down at 10.0.0.7")

// directory is an organisation store with one credential.
type directory struct {
	origins []string
	err     error
}

func (d directory) Authenticate(_ context.Context, id string, key secret.Text) (org.Caller, error) {
	if d.err != nil {
		return org.Caller{}, d.err
	}
	if id != publicID || !key.Equal(secret.New(goodKey)) {
		return org.Caller{}, fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "No such key.")
	}
	return d.caller(), nil
}

func (d directory) ByPublicID(_ context.Context, id string) (org.Caller, error) {
	if d.err != nil {
		return org.Caller{}, d.err
	}
	if id != publicID {
		return org.Caller{}, fault.Missing("No such public id.")
	}
	return d.caller(), nil
}

func (d directory) caller() org.Caller {
	return org.Caller{
		Tenant:       org.Tenant{Mode: org.Test, OrgID: "org-1"},
		CredentialID: "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a", AllowedOrigins: d.origins,
		RedirectURIs: []string{backURI, "https://app.example.org/other"},
	}
}

type edge struct {
	*httpapi.API

	log *bytes.Buffer
}

func newEdge() edge {
	var log bytes.Buffer
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	return edge{log: &log, API: httpapi.New(httpapi.Options{
		Logger: logx.New(&log),
		Now:    func() time.Time { return now },
		IDs:    func() string { return requestID },
	})}
}

type (
	nothing = struct{}
	echo    struct {
		Text string `json:"text"`
	}
)

// keyed returns a handler whose GET and POST endpoints return err or, if err is nil, "hello".
func keyed(api edge, err error) http.Handler {
	f := func(context.Context, org.Caller, nothing) (echo, error) { return echo{Text: "hello"}, err }
	endpoint := httpapi.Keyed(httpapi.KeyAuth{Keys: directory{}}, f)
	return api.Serve("/things/{id}", httpapi.Methods{http.MethodGet: endpoint, http.MethodPost: endpoint})
}

func browser(api edge, d directory) http.Handler {
	f := func(context.Context, org.Caller, nothing) (echo, error) { return echo{Text: "hello"}, nil }
	return api.Serve("/brand", httpapi.Methods{http.MethodGet: httpapi.Browser(httpapi.PublicAuth{Public: d}, f)})
}

func newRequest(method, target, body string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

func withKey(r *http.Request) *http.Request {
	r.SetBasicAuth(publicID, goodKey)
	return r
}

func do(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func wantBody(t *testing.T, w *httptest.ResponseRecorder, status int, body string) {
	t.Helper()
	if w.Code != status || strings.TrimSuffix(w.Body.String(), "\n") != body {
		t.Errorf("got %d %s\nwant %d %s", w.Code, w.Body, status, body)
	}
}

func wantHeader(t *testing.T, w *httptest.ResponseRecorder, name, want string) {
	t.Helper()
	if got := strings.Join(w.Header().Values(name), " | "); got != want {
		t.Errorf("header %s: got %q, want %q", name, got, want)
	}
}
