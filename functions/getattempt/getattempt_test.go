package getattempt_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/getattempt"
	"recordbridge/shared/fault"
	"recordbridge/shared/flow"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
)

const (
	publicID  = "public_test_0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b"
	requestID = "11111111-1111-4111-8111-111111111111"
	attemptID = "a0000000-0000-4000-8000-0000000000aa"
)

var tenant = org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}

type directory struct{}

func (directory) ByPublicID(_ context.Context, id string) (org.Caller, error) {
	if id != publicID {
		return org.Caller{}, fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "No.")
	}
	return org.Caller{Tenant: tenant, AllowedOrigins: []string{"https://app.example"}}, nil
}

// watcher knows one attempt by its id, tenant and token.
type watcher struct {
	progress flow.Progress
	err      error
}

func (w watcher) Progress(_ context.Context, of org.Tenant, id string, token secret.Text) (flow.Progress, error) {
	if of != tenant || id != attemptID || !token.Equal(secret.New("token-1")) {
		return flow.Progress{}, fault.Missing("There is no such attempt.")
	}
	return w.progress, w.err
}

func (w watcher) get(t *testing.T, method, id string, authorization ...string) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(getattempt.Route, getattempt.New(getattempt.Deps{
		API: httpapi.New(httpapi.Options{
			Logger: slog.New(slog.DiscardHandler), Now: time.Now, IDs: func() string { return requestID },
		}),
		Auth: httpapi.PublicAuth{Public: directory{}}, Flows: w,
	}))
	r := httptest.NewRequest(method, "/bridge/attempts/"+id+"?public_id="+publicID, http.NoBody)
	r.Header["Authorization"] = authorization
	r.Header.Set("Origin", "https://app.example")
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, r)
	return answer
}

func TestAWidgetSeesHowItsAttemptStands(t *testing.T) {
	t.Parallel()
	for want, progress := range map[string]flow.Progress{
		`{"attempt_id":"` + attemptID + `","status":"open"}`: {AttemptID: attemptID, Status: flow.Open},
		`{"attempt_id":"` + attemptID + `","status":"done","result":{"org_connection_id":"c","scope":"a b"}}`: {
			AttemptID: attemptID, Status: flow.Done, Result: url.Values{"org_connection_id": {"c"}, "scope": {"a b"}},
		},
		`{"attempt_id":"` + attemptID + `","status":"failed","error":{"error":"e","error_description":"d","request_id":"r",` +
			`"external_state":"s","cause":"c","suggested_action":"a"}}`: {AttemptID: attemptID, Status: flow.Failed, Failure: &flow.Failure{
			Error: "e", Description: "d", RequestID: "r", ExternalState: "s", Cause: "c", SuggestedAction: "a",
		}},
	} {
		for _, header := range []string{"Bearer token-1", "bearer token-1", "BEARER  token-1 "} {
			w := watcher{progress: progress}.get(t, http.MethodGet, attemptID, header)
			envelope := `{"success":true,"data":` + want + `}`
			if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != envelope {
				t.Errorf("got %d %s\nwant %s", w.Code, got, envelope)
			}
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != "https://app.example" || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", w.Header())
			}
		}
	}
}

func TestWithoutTheRightTokenThereIsNoAttempt(t *testing.T) {
	t.Parallel()
	found := watcher{progress: flow.Progress{AttemptID: attemptID, Status: flow.Open}}
	want := `{"success":false,"error":"svc_not_found","error_description":"There is no such attempt.","request_id":"` + requestID + `"}`
	for name, c := range map[string]struct {
		id      string
		headers []string
	}{
		"no header":          {attemptID, nil},
		"an empty one":       {attemptID, []string{""}},
		"a guess":            {attemptID, []string{"Bearer token-2"}},
		"no scheme":          {attemptID, []string{"token-1"}},
		"another scheme":     {attemptID, []string{"Basic token-1"}},
		"the scheme alone":   {attemptID, []string{"Bearer"}},
		"an unknown attempt": {publicID, []string{"Bearer token-1"}},
	} {
		w := found.get(t, http.MethodGet, c.id, c.headers...)
		if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusNotFound || got != want || w.Header().Get("WWW-Authenticate") != "" {
			t.Errorf("%s: %d %s", name, w.Code, got)
		}
	}
	if w := found.get(t, http.MethodGet, attemptID, "Bearer token-1", "Bearer token-2"); w.Code != http.StatusBadRequest {
		t.Errorf("two headers: %d", w.Code)
	}
	if w := (watcher{err: errors.New("trouble")}).get(t, http.MethodGet, attemptID, "Bearer token-1"); w.Code != http.StatusInternalServerError {
		t.Errorf("our own failure: %d", w.Code)
	}
	if w := found.get(t, http.MethodPost, attemptID, "Bearer token-1"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}
