package flow_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/words/secret"
)

// signIns keeps the sign-in attempts in the request log.
type signIns struct {
	requestlog.Writer

	rows []requestlog.SignIn
}

func (s *signIns) PutSignIn(_ context.Context, row requestlog.SignIn) error {
	s.rows = append(s.rows, row)
	return nil
}

// want checks that the log contains only the given row, which needs no attempt ID, time or duration.
func (s *signIns) want(t *testing.T, row requestlog.SignIn) {
	t.Helper()
	row.Tenant, row.BrandID, row.PortalID, row.EndpointID = tenant, brandID, portalID, endpointID
	row.External = newKeyring(t).Sign(connection.ExternalText(tenant, "patient-7"))
	if diff := cmp.Diff([]requestlog.SignIn{row}, s.rows,
		cmpopts.IgnoreFields(requestlog.SignIn{}, "AttemptID", "At", "Duration")); diff != "" {
		t.Errorf("logged (-want +got):\n%s", diff)
	}
	for _, got := range s.rows {
		if got.AttemptID == "" || got.At.IsZero() || got.Duration < 0 || got.Duration > time.Minute {
			t.Errorf("logged %+v", got)
		}
	}
}

func (w *world) logging(t *testing.T) (flow.Completer, *signIns) {
	t.Helper()
	to, completer := &signIns{}, w.completer(t)
	completer.SignIns = requestlog.Recorder{Rows: to, Hashing: newKeyring(t)}
	return completer, to
}

func TestConnectionIsLoggedAsSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld()
	completer, to := w.logging(t)
	if _, err := completer.Complete(t.Context(), w.start(t, request(t)).back()); err != nil {
		t.Fatal(err)
	}
	to.want(t, requestlog.SignIn{
		Kind: requestlog.Connect, Outcome: requestlog.Connected, RequestID: "request-1",
		ConnectionID: conclusionOf(t, w).Connection.ID,
	})
}

func TestFailureIsLoggedAsSignInWithCause(t *testing.T) {
	t.Parallel()
	for cause, back := range map[string]func(flow.Return) flow.Return{
		"server_error": func(r flow.Return) flow.Return { r.Error, r.Code = "server_error", secret.Text{}; return r },
		"declined":     func(r flow.Return) flow.Return { r.Error, r.Code = "access_denied", secret.Text{}; return r },
	} {
		w := newWorld()
		completer, to := w.logging(t)
		if _, err := completer.Complete(t.Context(), back(w.start(t, request(t)).back())); err == nil {
			t.Fatal("it succeeded")
		}
		to.want(t, requestlog.SignIn{
			Kind: requestlog.Connect, Outcome: requestlog.Failed, Cause: cause, RequestID: "return-1",
			ConnectionID: conclusionOf(t, w).Connection.ID, // a refusal creates a rejected connection
		})
	}
}

func TestFailedReconnectIsLoggedWithConnection(t *testing.T) {
	t.Parallel()
	w := newWorld()
	conn := w.connected(t)
	completer, to := w.logging(t)
	r := w.start(t, reconnectRequest(t)).back()
	r.Error, r.Code = "invalid_scope", secret.Text{}
	if _, err := completer.Complete(t.Context(), r); err == nil {
		t.Fatal("it succeeded")
	}
	to.want(t, requestlog.SignIn{
		Kind: requestlog.Reconnect, Outcome: requestlog.Failed, Cause: "invalid_scope", RequestID: "return-1",
		ConnectionID: conn.ID,
	})
}

func TestUnstoredFailureIsNotLogged(t *testing.T) {
	t.Parallel()
	w := newWorld()
	completer, to := w.logging(t)
	r := w.start(t, request(t)).back()
	w.broken, r.Code = "ConcludeAttempt", secret.Text{}
	if _, err := completer.Complete(t.Context(), r); err == nil || len(to.rows) != 0 {
		t.Errorf("logged %+v, %v", to.rows, err)
	}
}

func TestCancellationIsLoggedOnce(t *testing.T) {
	t.Parallel()
	w, to := newWorld(), &signIns{}
	p := w.create(t, widgetRequest(t))
	canceler := flow.Canceler{
		Store: w, Now: time.Now, SignIns: requestlog.Recorder{Rows: to, Hashing: newKeyring(t)},
	}
	for _, id := range []string{"cancel-1", "cancel-2"} {
		if _, err := canceler.Cancel(t.Context(), tenant, p.AttemptID, p.Token, id); err != nil {
			t.Fatal(err)
		}
	}
	to.want(t, requestlog.SignIn{
		Kind: requestlog.Connect, Outcome: requestlog.Cancelled, Cause: "cancelled", RequestID: "cancel-1",
	})
}
