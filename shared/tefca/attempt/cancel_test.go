package attempt_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func (w *world) canceler() attempt.Canceler { return attempt.Canceler{Store: w.rows, Now: w.time} }

func (w *world) cancel(t *testing.T, requestID string) attempt.Progress {
	t.Helper()
	got, err := w.canceler().Cancel(t.Context(), tenant, attemptID, pageToken(), requestID)
	expect.NoError(t, err)
	return got
}

// wantCancelled checks the progress of an attempt that request cancel-1 cancelled.
func wantCancelled(t *testing.T, got attempt.Progress) {
	t.Helper()
	want := &binding.Failure{
		Error: "access_denied", Description: "The patient cancelled the sign-in. Nothing was shared.",
		RequestID: "cancel-1", ExternalState: "visit-9", Cause: "cancelled",
		SuggestedAction: "No action needed. The patient can start again at any time.",
	}
	if diff := cmp.Diff(want, got.Failure); diff != "" || got.Status != attempt.Failed || len(got.Facilities) != 0 {
		t.Errorf("status %s, failure (-want +got):\n%s", got.Status, diff)
	}
	if got.Attempt.Verifier != nil || got.Attempt.Assertion != nil || !got.Attempt.DueAt.IsZero() {
		t.Errorf("the attempt holds %+v", got.Attempt)
	}
}

func TestCancelEndsAttemptBeforeWindowOpens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, err := w.create(t.Context(), attemptID, wanted("patient-7"))
	expect.NoError(t, err)
	wantCancelled(t, w.cancel(t, "cancel-1"))
	wantCancelled(t, w.cancel(t, "cancel-2"))
	if _, err = w.starter().Leave(t.Context(), made.Start); !binding.IsCancelled(err) {
		t.Errorf("leaving: %v", err)
	}
}

func TestCancelEndsAttemptAtProvider(t *testing.T) {
	t.Parallel()
	for _, sent := range []string{"", "access_denied"} {
		w := newWorld(t)
		back := w.left(t, attemptID, "patient-7")
		back.Error = sent
		wantCancelled(t, w.cancel(t, "cancel-1"))
		w.exchange = func(context.Context, identity.Return) error {
			t.Error("the provider was asked")
			return nil
		}
		done, err := w.completer().Complete(t.Context(), back)
		if !done.Known || !binding.IsCancelled(err) || len(w.enqueued) != 0 {
			t.Errorf("known %t, %v, enqueued %v", done.Known, err, w.enqueued)
		}
	}
}

func TestCompleteDiscardsIdentityWhenCancelledDuringExchange(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{"success": nil, "failure": errTrouble} {
		w := newWorld(t)
		back := w.left(t, attemptID, "patient-7")
		w.exchange = func(ctx context.Context, _ identity.Return) error {
			got, err := w.canceler().Cancel(ctx, tenant, attemptID, pageToken(), "cancel-1")
			expect.NoError(t, err)
			wantCancelled(t, got)
			return failure
		}
		done, err := w.completer().Complete(t.Context(), back)
		if !done.Known || !binding.IsCancelled(err) || len(w.enqueued) != 0 {
			t.Errorf("%s: known %t, %v, enqueued %v", name, done.Known, err, w.enqueued)
		}
		wantCancelled(t, w.cancel(t, "cancel-2"))
	}
}

func TestLeaveFailsWhenCancelledConcurrently(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, err := w.create(t.Context(), attemptID, wanted("patient-7"))
	expect.NoError(t, err)
	starter := w.starter()
	starter.Party = begins{world: w, meanwhile: func() { wantCancelled(t, w.cancel(t, "cancel-1")) }}
	if _, err = starter.Leave(t.Context(), made.Start); !binding.IsCancelled(err) {
		t.Errorf("leaving: %v", err)
	}
	wantCancelled(t, w.cancel(t, "cancel-2"))
}

// begins is an identity provider that calls a function before each sign-in begins.
type begins struct {
	*world

	meanwhile func()
}

func (b begins) Begin(ctx context.Context, p identity.Provider,
	r identity.Request,
) (string, identity.Authority, error) {
	b.meanwhile()
	return b.world.Begin(ctx, p, r)
}

func TestCancelLeavesVerifiedOrExpiredAttemptUnchanged(t *testing.T) {
	t.Parallel()
	verified, located, expired := newWorld(t), newWorld(t), newWorld(t)
	verified.verified(t, attemptID, "patient-7")
	located.located(t, attemptID, "patient-7", "a", "b")
	expired.left(t, attemptID, "patient-7")
	expired.pass(binding.Lifetime)
	for _, c := range []struct {
		status attempt.Status
		w      *world
	}{{attempt.Locating, verified}, {attempt.Located, located}, {attempt.Expired, expired}} {
		w, status := c.w, c.status
		before := w.attempt(t, attemptID)
		want, err := w.watcher().Progress(t.Context(), tenant, attemptID, pageToken())
		expect.NoError(t, err)
		got := w.cancel(t, "cancel-1")
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(secret.Text{})); diff != "" || got.Status != status {
			t.Errorf("want %s (-want +got):\n%s", status, diff)
		}
		if diff := cmp.Diff(before, w.attempt(t, attemptID), cmp.AllowUnexported(secret.Text{})); diff != "" {
			t.Errorf("%s (-before +after):\n%s", status, diff)
		}
	}
}

func TestCancelHidesAttemptFromCallerWithoutToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.create(t.Context(), attemptID, wanted("patient-7"))
	expect.NoError(t, err)
	for name, c := range map[string]struct {
		tenant org.Tenant
		id     string
		token  secret.Text
	}{
		"wrong token":        {tenant, attemptID, secret.New("guess")},
		"no token":           {tenant, attemptID, secret.Text{}},
		"other organisation": {org.Tenant{Mode: tenant.Mode, OrgID: attemptID}, attemptID, pageToken()},
		"other mode":         {org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}, attemptID, pageToken()},
		"unknown":            {tenant, tenant.OrgID, pageToken()},
		"no ID":              {tenant, "x", pageToken()},
	} {
		_, err := w.canceler().Cancel(t.Context(), c.tenant, c.id, c.token, "cancel-1")
		refused(t, name, err, fault.NotFound, "")
		if got := w.attempt(t, attemptID).Status; got != attempt.Created {
			t.Errorf("%s: the attempt is %s", name, got)
		}
	}
}
