package getconnection_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/getconnection"
	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
)

const (
	publicA   = "public_test_0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"
	publicB   = "public_test_0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b"
	liveA     = "public_live_0c0c0c0c-0c0c-4c0c-8c0c-0c0c0c0c0c0c"
	requestID = "11111111-1111-4111-8111-111111111111"
)

// The error bodies that several answers share.
const (
	unauthorized = `{"success":false,"error":"svc_unauthorized_client","error_description":"The public id or the private key is missing or wrong.","request_id":"` + requestID + `"}`
	serverError  = `{"success":false,"error":"svc_server_error","error_description":"Something went wrong on our side. Please try again.","request_id":"` + requestID + `"}`
)

var errTrouble = errors.New("trouble at 10.0.0.7")

// tenants are who the keys of the tests belong to.
func tenants() map[string]org.Tenant {
	return map[string]org.Tenant{
		publicA: {Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"},
		publicB: {Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000002"},
		liveA:   {Mode: org.Live, OrgID: "a0000000-0000-4000-8000-000000000001"},
	}
}

// keys authenticates every public id with the private key "key".
type keys struct{}

func (keys) Authenticate(_ context.Context, publicID string, key secret.Text) (org.Caller, error) {
	tenant, ok := tenants()[publicID]
	if !ok || !key.Equal(secret.New("key")) {
		return org.Caller{}, fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "No.")
	}
	return org.Caller{Tenant: tenant, CredentialID: publicID}, nil
}

func newAPI() *httpapi.API {
	return httpapi.New(httpapi.Options{
		Logger: slog.New(slog.DiscardHandler), Now: aMoment, IDs: func() string { return requestID },
	})
}

func aMoment() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

// exchange is a request and the whole answer to it.
type exchange struct {
	method string // GET when empty
	path   string
	user   string // public id, none when empty
	key    string // "key" when empty
	body   string
	status int
	want   string            // body
	header map[string]string // further headers; an empty value is one that is absent
}

func (e exchange) check(t *testing.T, handler http.Handler) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(getconnection.Route, handler)
	r := httptest.NewRequest(cmp.Or(e.method, http.MethodGet), e.path, strings.NewReader(e.body))
	if e.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if e.user != "" {
		r.SetBasicAuth(e.user, cmp.Or(e.key, "key"))
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	if got := strings.TrimSuffix(w.Body.String(), "\n"); w.Code != e.status || got != e.want {
		t.Errorf("got %d %s\nwant %d %s", w.Code, got, e.status, e.want)
	}
	want := map[string]string{"Cache-Control": "no-store", "X-Request-Id": requestID, "Access-Control-Allow-Origin": ""}
	if e.want != "" {
		want["Content-Type"] = "application/json"
	}
	if w.Code == http.StatusUnauthorized {
		want["WWW-Authenticate"] = `Basic realm="recordbridge", charset="UTF-8"`
	}
	maps.Copy(want, e.header)
	for name, value := range want {
		if got := strings.Join(w.Header().Values(name), ", "); got != value {
			t.Errorf("header %s: %q, want %q", name, got, value)
		}
	}
}

func failureBody(code, description string) string {
	return `{"success":false,"error":"` + code + `","error_description":"` + description + `","request_id":"` + requestID + `"}`
}
