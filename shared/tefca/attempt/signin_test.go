package attempt_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/records"
)

// signIns keeps the sign-in attempts in the request log.
type signIns struct {
	requestlog.Writer

	mu   sync.Mutex
	rows []requestlog.SignIn
}

func (s *signIns) PutSignIn(_ context.Context, row requestlog.SignIn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(s.rows, row)
	return nil
}

// logged makes the world's worker log sign-in attempts.
func (w *world) logged() *signIns {
	to := &signIns{}
	w.worker.SignIns = requestlog.Recorder{Rows: to, Hashing: w.worker.Hashing}
	return to
}

// row returns the row of a TEFCA attempt of patient-7.
func (w *world) row(outcome requestlog.Outcome, cause, requestID string) requestlog.SignIn {
	return requestlog.SignIn{
		Tenant: tenant, AttemptID: attemptID, At: w.time(), Kind: requestlog.TEFCA, Outcome: outcome, Cause: cause,
		RequestID: requestID, Duration: w.time().Sub(start),
		External: w.worker.Hashing.Sign(connection.ExternalText(tenant, "patient-7")),
	}
}

func TestFacilitiesAreLoggedAsSignIns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := w.logged()
	w.read["bad"] = func() (records.Content, error) { return records.Content{}, fmt.Errorf("read: %w", tefca.ErrTooLarge) }
	w.located(t, attemptID, "patient-7", "bad", "good")
	w.choose(t, attemptID, "bad", "good")
	w.pass(time.Minute)
	w.look(t, attemptID)
	good, bad := w.row(requestlog.Connected, "", "request-1"), w.row(requestlog.Failed, "too_large", "request-1")
	good.DirectoryID, bad.DirectoryID = "good", "bad"
	good.ConnectionID = w.facilities(t, attemptID)["good"].Connected.ConnectionID
	slices.SortFunc(to.rows, func(a, b requestlog.SignIn) int { return len(a.DirectoryID) - len(b.DirectoryID) })
	if diff := cmp.Diff([]requestlog.SignIn{bad, good}, to.rows); diff != "" || good.ConnectionID == "" {
		t.Errorf("logged (-want +got):\n%s", diff)
	}
}

func TestFailedLocateIsLoggedAsSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := w.logged()
	w.verified(t, attemptID, "patient-7")
	w.locate = func(context.Context, func(tefca.Facility) error) error { return tefca.ErrUnavailable }
	w.look(t, attemptID)
	want := []requestlog.SignIn{w.row(requestlog.Failed, "network_unavailable", "request-1")}
	if diff := cmp.Diff(want, to.rows); diff != "" {
		t.Errorf("logged (-want +got):\n%s", diff)
	}
}

func TestFailedVerificationIsLoggedAsSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to, completer := w.logged(), w.completer()
	completer.SignIns = w.worker.SignIns
	back := w.left(t, attemptID, "patient-7")
	w.lasts = 0
	if _, err := completer.Complete(t.Context(), back); err == nil {
		t.Fatal("it succeeded")
	}
	want := []requestlog.SignIn{w.row(requestlog.Failed, "identity_expired", "return-1")}
	if diff := cmp.Diff(want, to.rows); diff != "" {
		t.Errorf("logged (-want +got):\n%s", diff)
	}
}

func TestCancelledVerificationIsLoggedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to, canceler := w.logged(), w.canceler()
	canceler.SignIns = w.worker.SignIns
	_, err := w.create(t.Context(), attemptID, wanted("patient-7"))
	expect.NoError(t, err)
	for _, id := range []string{"cancel-1", "cancel-2"} {
		_, err = canceler.Cancel(t.Context(), tenant, attemptID, pageToken(), id)
		expect.NoError(t, err)
	}
	want := []requestlog.SignIn{w.row(requestlog.Cancelled, "cancelled", "cancel-1")}
	if diff := cmp.Diff(want, to.rows); diff != "" {
		t.Errorf("logged (-want +got):\n%s", diff)
	}
}
