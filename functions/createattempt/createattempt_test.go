package createattempt_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"recordbridge/functions/createattempt"
	"recordbridge/shared/catalog"
	"recordbridge/shared/fault"
	"recordbridge/shared/flow"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
)

const (
	publicID  = "public_test_0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b"
	requestID = "11111111-1111-4111-8111-111111111111"
)

var caller = org.Caller{
	Tenant:         org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"},
	AllowedOrigins: []string{"https://app.example"},
}

type directory struct{}

func (directory) ByPublicID(_ context.Context, id string) (org.Caller, error) {
	if id != publicID {
		return org.Caller{}, fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "No.")
	}
	return caller, nil
}

// creator remembers what was asked for, and answers err or an attempt.
type creator struct {
	asked []flow.Request
	err   error
}

func (c *creator) Create(_ context.Context, r flow.Request) (flow.Prepared, error) {
	c.asked = append(c.asked, r)
	if c.err != nil {
		return flow.Prepared{}, c.err
	}
	return flow.Prepared{
		AttemptID: "a0000000-0000-4000-8000-0000000000aa", Token: c.token(r), Start: secret.New("start-1"),
		ExpiresAt:  time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC),
		EndpointID: "e1", PortalID: "p1", BrandID: "b1",
	}, nil
}

// token is none where the widget has its own.
func (*creator) token(r flow.Request) secret.Text {
	if r.TokenHash != "" {
		return secret.Text{}
	}
	return secret.New("token-1")
}

func (c *creator) post(t *testing.T, method, query, body string) *httptest.ResponseRecorder {
	t.Helper()
	handler := createattempt.New(createattempt.Deps{
		API: httpapi.New(httpapi.Options{
			Logger: slog.New(slog.DiscardHandler), Now: time.Now, IDs: func() string { return requestID },
		}),
		Auth: httpapi.PublicAuth{Public: directory{}}, Flows: c, BaseURL: "https://api.example/v1",
	})
	r := httptest.NewRequest(method, createattempt.Route+query, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", "https://app.example")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func TestAnAttemptIsMadeWithAllThatAWidgetGives(t *testing.T) {
	t.Parallel()
	var c creator
	w := c.post(t, http.MethodPost, "?public_id="+publicID, `{"endpoint_id":"e","brand_id":"b","portal_id":"p","external_id":"x","external_state":"s",
		"request_id":"r","reconnect_org_connection_id":"c","redirect_uri":"https://evil.example/","PublicID":"other"}`)
	want := `{"success":true,"data":{"attempt_id":"a0000000-0000-4000-8000-0000000000aa","attempt_token":"token-1",` +
		`"connect_url":"https://api.example/v1/bridge/connect?attempt=start-1","expires_at":"2026-03-04T05:06:07Z","endpoint_id":"e1","portal_id":"p1","brand_id":"b1"}}`
	if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != want {
		t.Errorf("got %d %s\nwant %s", w.Code, got, want)
	}
	if got := w.Header().Get("Access-Control-Allow-Origin"); got != "https://app.example" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", w.Header())
	}
	asked := []flow.Request{{
		Caller: caller, Reconnect: "c", EndpointID: "e", BrandID: "b", PortalID: "p", ExternalID: "x", ExternalState: "s", RequestID: "r",
	}}
	same := gocmp.Comparer(func(a, b org.VerifiedRedirect) bool { return a == b })
	if diff := gocmp.Diff(asked, c.asked, same); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestAWidgetThatHasItsOwnTokenGetsNone(t *testing.T) {
	t.Parallel()
	var c creator
	w := c.post(t, http.MethodPost, "?public_id="+publicID, `{"endpoint_id":"e","attempt_id":"own","token_hash":"hash"}`)
	want := `{"success":true,"data":{"attempt_id":"a0000000-0000-4000-8000-0000000000aa",` +
		`"connect_url":"https://api.example/v1/bridge/connect?attempt=start-1","expires_at":"2026-03-04T05:06:07Z","endpoint_id":"e1","portal_id":"p1","brand_id":"b1"}}`
	if got := strings.TrimSpace(w.Body.String()); got != want || c.asked[0].AttemptID != "own" || c.asked[0].TokenHash != "hash" {
		t.Errorf("got %s, asked %+v", got, c.asked)
	}
}

func TestAnAttemptGetsARequestID(t *testing.T) {
	t.Parallel()
	var c creator
	c.post(t, http.MethodPost, "?public_id="+publicID, `{"endpoint_id":"e"}`)
	if len(c.asked) != 1 || c.asked[0].RequestID != requestID {
		t.Errorf("asked for %+v", c.asked)
	}
}

func TestWhatIsWrongShowsAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, query, body string
		err                 error
		status              int
		code                string
	}{
		"an unknown endpoint":  {http.MethodPost, "?public_id=" + publicID, "{}", catalog.MissingEndpoint(), 400, "svc_invalid_request"},
		"a portal that is off": {http.MethodPost, "?public_id=" + publicID, "{}", fault.New(fault.Unavailable, fault.CodeUnavailable, "Off."), 503, "svc_unavailable"},
		"our own failure":      {http.MethodPost, "?public_id=" + publicID, "{}", errors.New("trouble"), 500, "svc_server_error"},
		"an id that is taken":  {http.MethodPost, "?public_id=" + publicID, "{}", fault.New(fault.Conflict, fault.CodeInvalidRequest, "No."), 409, "svc_invalid_request"},
		"no public id":         {http.MethodPost, "", "{}", nil, 400, "svc_invalid_request"},
		"an unknown public id": {http.MethodPost, "?public_id=x", "{}", nil, 401, "svc_unauthorized_client"},
		"no body":              {http.MethodPost, "?public_id=" + publicID, "", nil, 400, "svc_invalid_request"},
		"no string":            {http.MethodPost, "?public_id=" + publicID, `{"endpoint_id":1}`, nil, 400, "svc_invalid_request"},
		"another method":       {http.MethodGet, "?public_id=" + publicID, "{}", nil, 405, "svc_method_not_allowed"},
	} {
		flows := creator{err: c.err}
		w := flows.post(t, c.method, c.query, c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), `"error":"`+c.code+`"`) || w.Header().Get("WWW-Authenticate") != "" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if (c.err == nil) != (len(flows.asked) == 0) {
			t.Errorf("%s: asked %d times", name, len(flows.asked))
		}
	}
}
