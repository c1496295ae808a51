package getattempt_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"recordbridge/functions/getattempt"
	"recordbridge/infra/testkit/browsertest"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const attemptID = "a0000000-0000-4000-8000-0000000000aa"

type watcher struct {
	progress flow.Progress
	err      error
}

func (w watcher) Progress(_ context.Context, of org.Tenant, id string, token secret.Text) (flow.Progress, error) {
	if of != keyedtest.Tenants()[keyedtest.PublicA] || id != attemptID || !token.Equal(secret.New("token-1")) {
		return flow.Progress{}, fault.Missing("Attempt not found.")
	}
	return w.progress, w.err
}

func (w watcher) get(t *testing.T, method, id string, authorization ...string) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(getattempt.Route, getattempt.New(
		getattempt.Deps{API: keyedtest.NewAPI(), Auth: browsertest.Auth(), Flows: w}))
	r := httptest.NewRequest(method, "/bridge/attempts/"+id+browsertest.Page, http.NoBody)
	r.Header["Authorization"] = authorization
	r.Header.Set("Origin", browsertest.Origin)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, r)
	return answer
}

func TestGetAttemptReturnsStatus(t *testing.T) {
	t.Parallel()
	for want, progress := range map[string]flow.Progress{
		`{"attempt_id":"` + attemptID + `","status":"open"}`: {AttemptID: attemptID, Status: flow.Open},
		`{"attempt_id":"` + attemptID + `","status":"done","result":{"org_connection_id":"c","scope":"a b"},` +
			`"patient_initials":"A. S."}`: {
			AttemptID: attemptID, Status: flow.Done, Result: url.Values{"org_connection_id": {"c"}, "scope": {"a b"}},
			Initials: "A. S.",
		},
		`{"attempt_id":"` + attemptID + `","status":"failed","error":{"error":"e","error_description":"d","request_id":"r",` +
			`"external_state":"s","cause":"c","suggested_action":"a"}}`: {
			AttemptID: attemptID, Status: flow.Failed,
			Failure: &binding.Failure{
				Error: "e", Description: "d", RequestID: "r", ExternalState: "s", Cause: "c", SuggestedAction: "a",
			},
		},
	} {
		for _, header := range []string{"Bearer token-1", "bearer token-1", "BEARER  token-1 "} {
			w := watcher{progress: progress}.get(t, http.MethodGet, attemptID, header)
			browsertest.CheckAnswer(t, w, `{"success":true,"data":`+want+`}`)
		}
	}
}

func TestGetAttemptHidesAttemptFromCallerWithoutToken(t *testing.T) {
	t.Parallel()
	found := watcher{progress: flow.Progress{AttemptID: attemptID, Status: flow.Open}}
	want := keyedtest.FailureBody("svc_not_found", "Attempt not found.")
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
		"an unknown attempt": {keyedtest.PublicA, []string{"Bearer token-1"}},
	} {
		w := found.get(t, http.MethodGet, c.id, c.headers...)
		if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusNotFound || got != want ||
			w.Header().Get("WWW-Authenticate") != "" {
			t.Errorf("%s: %d %s", name, w.Code, got)
		}
	}
	if w := found.get(t, http.MethodGet, attemptID, "Bearer token-1", "Bearer token-2"); w.Code != http.StatusBadRequest {
		t.Errorf("two headers: %d", w.Code)
	}
	if w := (watcher{err: keyedtest.ErrTrouble}).get(t, http.MethodGet, attemptID,
		"Bearer token-1"); w.Code != http.StatusInternalServerError {
		t.Errorf("our own failure: %d", w.Code)
	}
	if w := found.get(t, http.MethodPost, attemptID, "Bearer token-1"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}
