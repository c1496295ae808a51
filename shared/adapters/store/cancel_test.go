package store_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/org"
)

func cancellation() flow.Ending {
	return flow.Ending{Error: "access_denied", Description: "Cancelled.", Cause: "cancelled", RequestID: "cancel-1"}
}

func TestCancelAttemptFailsCreatedOrOpenAttempt(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]bool{"created": false, "open": true} {
		s := newStores(t)
		expect.NoError(t, s.flow.CreateAttempt(t.Context(), createdOf(tenant), ticketOf(tenant)))
		want := createdOf(tenant)
		if open {
			expect.NoError(t, s.flow.OpenAttempt(t.Context(), ticketOf(tenant), opened(tenant), stateOf(tenant)))
			want.NonceHash = opened(tenant).NonceHash
		}
		expect.NoError(t, s.flow.CancelAttempt(t.Context(), want, cancellation()))
		want.Status, want.Ending = flow.Failed, cancellation()
		got, err := s.flow.Attempt(t.Context(), tenant, want.ID)
		expect.NoError(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		expect.Conflict(t, "cancelling again", s.flow.CancelAttempt(t.Context(), want, cancellation()))
		expect.Conflict(t, "opening", s.flow.OpenAttempt(t.Context(), ticketOf(tenant), opened(tenant), stateOf(tenant)))
		expect.Conflict(t, "concluding", s.flow.ConcludeAttempt(t.Context(), conclusionOf(tenant)))
		expect.Conflict(t, "creating again", s.flow.CreateAttempt(t.Context(), createdOf(tenant), ticketOf(tenant)))
	}
}

func TestCancelAttemptLeavesOtherAttemptsUnchanged(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant)))
	foreign := attemptOf(org.Tenant{Mode: org.Live, OrgID: tenant.OrgID})
	foreign.ID = attemptOf(tenant).ID
	expect.Conflict(t, "another mode's", s.flow.CancelAttempt(t.Context(), foreign, cancellation()))
	expect.NoError(t, s.flow.ConcludeAttempt(t.Context(), conclusionOf(tenant)))
	before, err := s.flow.Attempt(t.Context(), tenant, foreign.ID)
	expect.NoError(t, err)
	expect.Conflict(t, "one that is done", s.flow.CancelAttempt(t.Context(), attemptOf(tenant), cancellation()))
	after, err := s.flow.Attempt(t.Context(), tenant, foreign.ID)
	expect.NoError(t, err)
	if diff := cmp.Diff(before, after); diff != "" || after.Status != flow.Done {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// TestCancelAttemptAndConcludeAttemptHaveOneWinner checks that, of several concurrent cancellations and completions of
// an attempt, only one succeeds.
func TestCancelAttemptAndConcludeAttemptHaveOneWinner(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant)))
	won := expect.Winners(t, 10, func(ctx context.Context, i int) error {
		if i%2 == 0 {
			return s.flow.CancelAttempt(ctx, attemptOf(tenant), cancellation())
		}
		return s.flow.ConcludeAttempt(ctx, conclusionOf(tenant))
	})
	if won != 1 {
		t.Errorf("%d of 10 ended the attempt, want 1", won)
	}
	got, err := s.flow.Attempt(t.Context(), tenant, attemptOf(tenant).ID)
	expect.NoError(t, err)
	_, err = s.conns.Connection(t.Context(), tenant, conclusionOf(tenant).Connection.ID)
	if made := err == nil; made != (got.Status == flow.Done) {
		t.Errorf("the attempt is %s, and a connection exists: %t", got.Status, made)
	}
}
