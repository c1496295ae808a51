package flow_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// codes maps a portal's error codes to the codes reported to the application (docs/openapi.yaml).
func codes() map[string]fault.Code {
	return map[string]fault.Code{
		"invalid_client": "invalid_client", "invalid_grant": "invalid_grant", "unauthorized_client": "unauthorized_client",
		"unsupported_grant_type": "unsupported_grant_type", "invalid_scope": "invalid_scope",
		"invalid_request": fault.CodeTokenExchange, "server_error": fault.CodeTokenExchange,
		"temporarily_unavailable":   fault.CodeTokenExchange,
		"unsupported_response_type": fault.CodeTokenExchange, "INVALID_GRANT": fault.CodeTokenExchange,
		"<script>alert(1)</script>": fault.CodeTokenExchange, "svc_server_error": fault.CodeTokenExchange,
	}
}

func TestCallbackForwardsOnlyDefinedPortalErrors(t *testing.T) {
	t.Parallel()
	for sent, want := range codes() {
		t.Run(sent, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			r := w.start(t, request(t)).back()
			r.Error, r.Code = sent, secret.Text{}
			wantFailedAttempt(t, w, r, want)
			if len(w.grants) != 0 {
				t.Errorf("%d exchanges of no code", len(w.grants))
			}
		})
	}
}

func TestExchangeForwardsOnlyDefinedPortalErrors(t *testing.T) {
	t.Parallel()
	for sent, want := range codes() {
		t.Run(sent, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.exchange = func(context.Context) error { return &flow.PortalError{Code: sent} }
			wantFailedAttempt(t, w, w.start(t, request(t)).back(), want)
		})
	}
}

func wantFailedAttempt(t *testing.T, w *world, r flow.Return, want fault.Code) {
	t.Helper()
	done, err := w.completer(t).Complete(t.Context(), r)
	wantFault(t, err, fault.Upstream, want)
	wantNoConnection(t, w)
	if done.Redirect.URI() != redirectURI || done.ExternalID != "patient-7" || done.ExternalState != "visit-9" ||
		done.Result != nil {
		t.Errorf("completed %+v", done)
	}
	if got := conclusionOf(t, w); got.Error != string(want) || got.Attempt.RequestID != "request-1" {
		t.Errorf("the attempt ended with %q, want %q", got.Error, want)
	}
	if _, err := w.completer(t).Complete(t.Context(), r); !errors.Is(err, fault.Invalid) {
		t.Errorf("a second return: %v, want invalid", err)
	}
}

func TestPatientDenialStoresRejectedConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		r := w.start(t, request(t)).back()
		r.Error = "access_denied"
		done, err := w.completer(t).Complete(t.Context(), r)
		wantFault(t, err, fault.Upstream, "access_denied")
		if done.Redirect.URI() != redirectURI || done.ExternalState != "visit-9" || done.Result != nil || len(w.grants) != 0 {
			t.Errorf("completed %+v after %d exchanges", done, len(w.grants))
		}
		c := conclusionOf(t, w)
		want := connection.Connection{
			ID: c.Connection.ID, Tenant: tenant, Status: connection.Rejected, BrandID: brandID, PortalID: portalID,
			EndpointID: endpointID, PlatformType: "sandbox", Generation: 1, CreatedAt: time.Now(),
			ExternalID: "patient-7", External: external(t, "patient-7"),
		}
		if diff := cmp.Diff(want, c.Connection); diff != "" || len(c.Tokens.Sealed) != 0 {
			t.Errorf("%d bytes of tokens, connection (-want +got):\n%s", len(c.Tokens.Sealed), diff)
		}
		if err := c.Connection.Exportable(); fault.Of(err).Code != fault.CodeConnectionNotExportable {
			t.Errorf("exportable: %v", err)
		}
		wantConnectionEvent(t, w, map[string]any{
			"org_connection_id": want.ID, "endpoint_id": endpointID, "portal_id": portalID, "brand_id": brandID,
			"connection_status": "rejected", "platform_type": "sandbox", "request_id": "return-1",
			"external_id": "patient-7", "external_state": "visit-9",
		})
	})
}

func TestCallbackWithoutCodeAndErrorIsInvalid(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := w.start(t, request(t)).back()
	r.Code = secret.Text{}
	done, err := w.completer(t).Complete(t.Context(), r)
	wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
	wantNoConnection(t, w)
	if done.Redirect.URI() != redirectURI || len(w.grants) != 0 {
		t.Errorf("completed %+v after %d exchanges", done, len(w.grants))
	}
}

func TestExchangeTimesOutAfterTwentySeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.exchange = func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		r := w.start(t, request(t)).back()
		started := time.Now()
		wantFailedAttempt(t, w, r, fault.CodeTokenExchange)
		if got := time.Since(started); got != 20*time.Second {
			t.Errorf("waited %v, want 20 s", got)
		}
	})
}

func TestExchangeReportsOtherFailuresAsTokenExchangeError(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.exchange = func(context.Context) error { return errors.New("connection reset by 10.0.0.7") }
	wantFailedAttempt(t, w, w.start(t, request(t)).back(), fault.CodeTokenExchange)
}

func TestCompleteDiscardsConnectionOnInternalError(t *testing.T) {
	t.Parallel()
	for broken, proven := range map[string]bool{
		"TakeState": false, "Attempt": false, "Open": true, "Seal": true, "ConcludeAttempt": true,
	} {
		for _, refusal := range []string{"", "access_denied"} {
			if refusal != "" && proven {
				continue // a refusal seals no data and is reported even if storing it fails
			}
			t.Run(broken+" "+refusal, func(t *testing.T) {
				t.Parallel()
				w := newWorld()
				r := w.start(t, request(t)).back()
				r.Error, w.broken = refusal, broken
				done, err := w.completer(t).Complete(t.Context(), r)
				wantFault(t, err, fault.Internal, fault.CodeServerError)
				if !errors.Is(err, errTrouble) || (done.Redirect.URI() != "") != proven || done.Result != nil {
					t.Errorf("got %v, completed %+v", err, done)
				}
				wantNoConnection(t, w)
			})
		}
	}
}
