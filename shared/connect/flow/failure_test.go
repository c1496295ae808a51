package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// dataOf returns the data from a conclusion's only event, which must have the given type.
func dataOf(t *testing.T, c flow.Conclusion, want webhook.Type) map[string]any {
	t.Helper()
	if len(c.Events) != 1 || c.Events[0].Type != want {
		t.Fatalf("%d events, want one %s", len(c.Events), want)
	}
	var body struct {
		Data map[string]any `json:"data"`
	}
	if err := json.Unmarshal(c.Events[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	return body.Data
}

// wantTold checks that a failed attempt's stored outcome and event match the browser's error, including its cause and
// recommended action.
func wantTold(t *testing.T, w *world, err error, cause string) map[string]any {
	t.Helper()
	c, shown := conclusionOf(t, w), fault.Of(err)
	if c.Error != string(shown.Code.InBrowser()) || c.Description != shown.Public || c.Cause != cause ||
		c.RequestID != "return-1" {
		t.Errorf("kept %q %q %q %q, the browser was told %q %q", c.Error, c.Description, c.Cause, c.RequestID, shown.Code,
			shown.Public)
	}
	data := dataOf(t, c, webhook.ConnectionFailed)
	if data["cause"] != cause || data["error"] != c.Error || data["error_description"] != c.Description ||
		data["request_id"] != "return-1" {
		t.Errorf("told %v, want the cause %s", data, cause)
	}
	if action, _ := data["suggested_action"].(string); len(action) < 20 {
		t.Errorf("suggested action %q", action)
	}
	for _, name := range []string{"error_description", "suggested_action"} {
		for _, r := range fmt.Sprint(data[name]) {
			if r >= utf8.RuneSelf || r < ' ' {
				t.Errorf("%s is not printable ASCII: %q", name, data[name])
			}
		}
	}
	if len(c.Description) > 200 {
		t.Errorf("the description has %d characters", len(c.Description))
	}
	if len(w.enqueued) != 1 || w.enqueued[0] != c.Events[0].ID ||
		c.Events[0].ID != webhook.EventID(tenant, webhook.ConnectionFailed, c.Attempt.ID, 0) {
		t.Errorf("enqueued %v, event %s", w.enqueued, c.Events[0].ID)
	}
	return data
}

func TestFailedAttemptEventCarriesCause(t *testing.T) {
	t.Parallel()
	returned := func(code string) func(*world, *flow.Return) {
		return func(_ *world, r *flow.Return) { r.Error, r.Code = code, secret.Text{} }
	}
	answered := func(err error) func(*world, *flow.Return) {
		return func(w *world, _ *flow.Return) { w.exchange = func(context.Context) error { return err } }
	}
	for cause, happens := range map[string]func(*world, *flow.Return){
		"issuer_mismatch":         func(_ *world, r *flow.Return) { r.Issuer = "https://evil.example" },
		"no_code":                 func(_ *world, r *flow.Return) { r.Code = secret.Text{} },
		"invalid_scope":           returned("invalid_scope"),
		"server_error":            returned("server_error"),
		"temporarily_unavailable": returned("temporarily_unavailable"),
		"portal_refused":          returned("<b>their own</b>"),
		"redirect_refused":        returned("auth_invalid_redirect_uri"),
		"invalid_request":         returned("invalid_request"),
		"wrong_callback":          func(_ *world, r *flow.Return) { r.Registration = "another" },
		"client_secret_encoding":  answered(&flow.PortalError{Code: "invalid_client", AmbiguousBasic: true}),
		"invalid_client":          answered(&flow.PortalError{Code: "invalid_client"}),
		"invalid_grant":           answered(&flow.PortalError{Code: "invalid_grant"}),
		"token_exchange":          answered(errors.New("an id_token of somebody else")),
		"no_answer":               answered(fmt.Errorf("token request: %w", context.DeadlineExceeded)),
		"client_unproven":         answered(fault.New(fault.Unavailable, fault.CodeUnavailable, "The key is not there.")),
		"internal":                func(w *world, _ *flow.Return) { w.broken = "Seal" },
	} {
		t.Run(cause, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			r := w.start(t, request(t)).back()
			happens(w, &r)
			_, err := w.completer(t).Complete(t.Context(), r)
			if err == nil {
				t.Fatal("it succeeded")
			}
			data := wantTold(t, w, err, cause)
			want := map[string]any{
				"endpoint_id": endpointID, "portal_id": portalID, "brand_id": brandID, "platform_type": "sandbox",
				"external_id": "patient-7", "external_state": "visit-9", "request_id": "return-1",
			}
			for _, name := range []string{"error", "error_description", "cause", "suggested_action"} {
				want[name] = data[name]
			}
			if diff := cmp.Diff(want, data); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFailureSuggestsRetryWhenTransient checks that patients are not advised to retry if only a change of registration
// can help.
func TestFailureSuggestsRetryWhenTransient(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]bool{
		"server_error": true, "temporarily_unavailable": true,
		"auth_invalid_redirect_uri": false, "redirect_uri_mismatch": false, "invalid_request": false,
		"unsupported_response_type": false,
		"invalid_scope":             false, "unauthorized_client": false, "their own": false,
	} {
		w := newWorld()
		r := w.start(t, request(t)).back()
		r.Error, r.Code = sent, secret.Text{}
		_, err := w.completer(t).Complete(t.Context(), r)
		if got := strings.Contains(fault.Of(err).Public, "try again"); got != want {
			t.Errorf("%s: the browser is told %q", sent, fault.Of(err).Public)
		}
	}
}

func TestPatientDenialDoesNotEmitFailureEvent(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := w.start(t, request(t)).back()
	r.Error = "access_denied"
	_, err := w.completer(t).Complete(t.Context(), r)
	wantFault(t, err, fault.Upstream, "access_denied")
	c := conclusionOf(t, w)
	if c.Error != "access_denied" || c.Cause != "declined" {
		t.Errorf("the attempt ended with %q, cause %q", c.Error, c.Cause)
	}
	if data := dataOf(t, c, webhook.ConnectionSucceeded); data["connection_status"] != "rejected" {
		t.Errorf("told %v", data)
	}
}

func TestCompleteReturnsErrorWhenStoreFails(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]fault.Code{
		"access_denied": "access_denied", "invalid_scope": "invalid_scope",
		"odd": fault.CodeTokenExchange,
	} {
		w := newWorld()
		r := w.start(t, request(t)).back()
		r.Error, w.broken = sent, "ConcludeAttempt"
		done, err := w.completer(t).Complete(t.Context(), r)
		wantFault(t, err, fault.Upstream, want)
		if done.Redirect.URI() != redirectURI || len(w.enqueued) != 0 {
			t.Errorf("%s: completed %+v, enqueued %v", sent, done, w.enqueued)
		}
	}
}

func TestCompleteRecordsAndReportsGrantedScope(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		// The scope grants no read access to patient resources.
		w.set.Scope, w.set.ConsentExpiresAt = "openid offline_access", time.Now().Add(90*24*time.Hour)
		done, err := w.completer(t).Complete(t.Context(), w.start(t, request(t)).back())
		if err != nil {
			t.Fatal(err)
		}
		c := conclusionOf(t, w)
		if c.Connection.Status != "authorized" || c.Connection.Scope != w.set.Scope ||
			!c.Connection.ConsentExpiresAt.Equal(w.set.ConsentExpiresAt) {
			t.Errorf("connection %s with %q until %v", c.Connection.Status, c.Connection.Scope, c.Connection.ConsentExpiresAt)
		}
		ends := w.set.ConsentExpiresAt.UTC().Format(time.RFC3339)
		data := dataOf(t, c, webhook.ConnectionSucceeded)
		if data["consent_expires_at"] != ends || data["scope"] != w.set.Scope {
			t.Errorf("told %v", data)
		}
		if done.Result.Get("consent_expires_at") != ends || done.Result.Get("scope") != w.set.Scope {
			t.Errorf("result %v", done.Result)
		}
	})
}

func TestCompleteReportsNoFailureWhenWriteResponseIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := w.start(t, request(t)).back()
	// The write succeeds but its response is lost; the attempt stays completed.
	w.meddle = func() {
		for id, attempt := range w.attempts {
			attempt.Status = flow.Done
			w.attempts[id] = attempt
		}
	}
	if _, err := w.completer(t).Complete(t.Context(), r); err == nil {
		t.Error("it succeeded")
	}
	if len(w.concluded) != 0 || len(w.enqueued) != 0 {
		t.Errorf("%d conclusions, enqueued %v", len(w.concluded), w.enqueued)
	}
}
