package cancelattempt_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/cancelattempt"
	"recordbridge/infra/testkit/browsertest"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const attemptID = "a0000000-0000-4000-8000-0000000000aa"

type flows struct {
	progress flow.Progress
	err      error
}

func (f flows) Cancel(_ context.Context, of org.Tenant, id string, token secret.Text, requestID string,
) (flow.Progress, error) {
	if !known(of, id, token, requestID) {
		return flow.Progress{}, fault.Missing("Attempt not found.")
	}
	return f.progress, f.err
}

type facilities struct {
	progress attempt.Progress
	err      error
}

func (f facilities) Cancel(_ context.Context, of org.Tenant, id string, token secret.Text, requestID string,
) (attempt.Progress, error) {
	if !known(of, id, token, requestID) {
		return attempt.Progress{}, fault.Missing("Attempt not found.")
	}
	return f.progress, f.err
}

func known(of org.Tenant, id string, token secret.Text, requestID string) bool {
	return of == keyedtest.Tenants()[keyedtest.PublicA] && id == attemptID && token.Equal(secret.New("token-1")) &&
		requestID == keyedtest.RequestID
}

func send(t *testing.T, d cancelattempt.Deps, method, path string, authorization ...string) *httptest.ResponseRecorder {
	t.Helper()
	d.API, d.Auth = keyedtest.NewAPI(), browsertest.Auth()
	mux := http.NewServeMux()
	for _, route := range []string{cancelattempt.Route, cancelattempt.TEFCARoute} {
		mux.Handle(route, cancelattempt.New(d))
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path+browsertest.Page, http.NoBody)
	r.Header["Authorization"] = authorization
	r.Header.Set("Origin", browsertest.Origin)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, r)
	return answer
}

func pathOf(route, id string) string { return strings.Replace(route, "{attemptId}", id, 1) }

func TestCancelAttemptReturnsProgress(t *testing.T) {
	t.Parallel()
	for want, progress := range map[string]flow.Progress{
		`{"attempt_id":"` + attemptID + `","status":"expired"}`: {AttemptID: attemptID, Status: flow.Expired},
		`{"attempt_id":"` + attemptID + `","status":"done","result":{"org_connection_id":"c"}}`: {
			AttemptID: attemptID, Status: flow.Done, Result: url.Values{"org_connection_id": {"c"}},
		},
		`{"attempt_id":"` + attemptID + `","status":"failed","error":{"error":"access_denied","error_description":"d",` +
			`"request_id":"r","cause":"cancelled","suggested_action":"a"}}`: {
			AttemptID: attemptID, Status: flow.Failed, Failure: &binding.Failure{
				Error: "access_denied", Description: "d", RequestID: "r", Cause: "cancelled", SuggestedAction: "a",
			},
		},
	} {
		w := send(t, cancelattempt.Deps{Flows: flows{progress: progress}}, http.MethodDelete,
			pathOf(cancelattempt.Route, attemptID), "Bearer token-1")
		browsertest.CheckAnswer(t, w, `{"success":true,"data":`+want+`}`)
	}
}

func TestCancelAttemptReturnsTEFCAProgress(t *testing.T) {
	t.Parallel()
	found := attempt.Progress{
		Attempt: attempt.Attempt{ID: attemptID, IdentityEnds: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)},
		Status:  attempt.Located,
	}
	w := send(t, cancelattempt.Deps{TEFCA: facilities{progress: found}}, http.MethodDelete,
		pathOf(cancelattempt.TEFCARoute, attemptID), "Bearer token-1")
	browsertest.CheckAnswer(t, w, `{"success":true,"data":{"attempt_id":"`+attemptID+`","status":"located",`+
		`"identity_expires_at":"2026-03-04T05:06:07Z","facilities":[]}}`)
}

func TestCancelAttemptHidesAttemptFromCallerWithoutToken(t *testing.T) {
	t.Parallel()
	found := cancelattempt.Deps{Flows: flows{}, TEFCA: facilities{}}
	want := keyedtest.FailureBody("svc_not_found", "Attempt not found.")
	for _, route := range []string{cancelattempt.Route, cancelattempt.TEFCARoute} {
		for name, c := range map[string]struct {
			id      string
			headers []string
		}{
			"no header":          {attemptID, nil},
			"a guess":            {attemptID, []string{"Bearer token-2"}},
			"another scheme":     {attemptID, []string{"Basic token-1"}},
			"an unknown attempt": {keyedtest.PublicA, []string{"Bearer token-1"}},
		} {
			w := send(t, found, http.MethodDelete, pathOf(route, c.id), c.headers...)
			if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusNotFound || got != want ||
				w.Header().Get("WWW-Authenticate") != "" {
				t.Errorf("%s, %s: %d %s", route, name, w.Code, got)
			}
		}
		broken := cancelattempt.Deps{Flows: flows{err: keyedtest.ErrTrouble}, TEFCA: facilities{err: keyedtest.ErrTrouble}}
		if w := send(t, broken, http.MethodDelete, pathOf(route, attemptID), "Bearer token-1"); w.Code !=
			http.StatusInternalServerError {
			t.Errorf("%s: our own failure: %d", route, w.Code)
		}
		if w := send(t, found, http.MethodPost, pathOf(route, attemptID), "Bearer token-1"); w.Code !=
			http.StatusMethodNotAllowed {
			t.Errorf("%s: POST: %d", route, w.Code)
		}
	}
}
