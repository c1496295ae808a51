package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/org"
)

func createdOf(of org.Tenant) flow.Attempt {
	a := attemptOf(of)
	a.Status, a.NonceHash, a.Verifier, a.RedirectURI = flow.Created, "", nil, ""
	return a
}

func ticketOf(of org.Tenant) binding.Ticket {
	return binding.Ticket{
		Hash: "start of " + of.Key(), Tenant: of, AttemptID: attemptOf(of).ID,
		ExpiresAt: now.Add(30 * time.Minute),
	}
}

// opened returns the created attempt with the fields set by the redirect to the portal.
func opened(of org.Tenant) flow.Attempt {
	a := createdOf(of)
	a.NonceHash, a.Verifier = "nonce hash", []byte("sealed")
	return a
}

func TestCreateAttemptRoundTripsAttemptAndTicket(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.CreateAttempt(t.Context(), createdOf(tenant), ticketOf(tenant)))
	got, err := s.flow.Attempt(t.Context(), tenant, createdOf(tenant).ID)
	expect.NoError(t, err)
	if diff := cmp.Diff(createdOf(tenant), got); diff != "" {
		t.Errorf("attempt (-want +got):\n%s", diff)
	}
	ticket, err := s.flow.Ticket(t.Context(), ticketOf(tenant).Hash, now)
	expect.NoError(t, err)
	if diff := cmp.Diff(ticketOf(tenant), ticket); diff != "" {
		t.Errorf("ticket (-want +got):\n%s", diff)
	}
	expect.Conflict(t, "creating it again", s.flow.CreateAttempt(t.Context(), createdOf(tenant), ticketOf(tenant)))
	other := ticketOf(tenant)
	other.Hash = "another start"
	stranger := createdOf(tenant)
	stranger.TokenHash = "hash of another token"
	expect.Conflict(t, "its id again", s.flow.CreateAttempt(t.Context(), stranger, other))
	_, err = s.flow.Ticket(t.Context(), other.Hash, now)
	expect.NotFound(t, "the start value of an attempt that was refused", err)
}

func TestCreateAttemptIsIdempotentUntilAttemptIsOpened(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.CreateAttempt(t.Context(), createdOf(tenant), ticketOf(tenant)))
	again, second := createdOf(tenant), ticketOf(tenant)
	again.EndpointID, second.Hash = "picked anew in between", "second start"
	expect.NoError(t, s.flow.CreateAttempt(t.Context(), again, second))
	got, err := s.flow.Attempt(t.Context(), tenant, again.ID)
	expect.NoError(t, err)
	if diff := cmp.Diff(again, got); diff != "" {
		t.Errorf("attempt (-want +got):\n%s", diff)
	}
	expect.NoError(t, s.flow.OpenAttempt(t.Context(), second, opened(tenant), stateOf(tenant)))
	third := ticketOf(tenant)
	third.Hash = "third start"
	expect.Conflict(t, "making one again that has been left with", s.flow.CreateAttempt(t.Context(), again, third))
}

func TestTicketIsReturnedUntilExpiry(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.CreateAttempt(t.Context(), createdOf(tenant), ticketOf(tenant)))
	_, err := s.flow.Ticket(t.Context(), ticketOf(tenant).Hash, ticketOf(tenant).ExpiresAt.Add(-time.Microsecond))
	expect.NoError(t, err)
	_, err = s.flow.Ticket(t.Context(), ticketOf(tenant).Hash, ticketOf(tenant).ExpiresAt)
	expect.NotFound(t, "the moment it expires", err)
	_, err = s.flow.Ticket(t.Context(), "made up", now)
	expect.NotFound(t, "an unknown ticket", err)
}

func TestOpenAttemptDeletesTicket(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.CreateAttempt(t.Context(), createdOf(tenant), ticketOf(tenant)))
	expect.NoError(t, s.flow.OpenAttempt(t.Context(), ticketOf(tenant), opened(tenant), stateOf(tenant)))
	want := opened(tenant)
	want.Status = flow.Open
	got, err := s.flow.Attempt(t.Context(), tenant, want.ID)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attempt (-want +got):\n%s", diff)
	}
	_, err = s.flow.Ticket(t.Context(), ticketOf(tenant).Hash, now)
	expect.NotFound(t, "the ticket", err)
	state, err := s.flow.TakeState(t.Context(), stateOf(tenant).Hash, "binding", now)
	expect.NoError(t, err)
	if state.AttemptID != want.ID {
		t.Errorf("the state is of %s", state.AttemptID)
	}
	expect.NoError(t, s.flow.ConcludeAttempt(t.Context(), conclusionOf(tenant)))
}

func TestOpenAttemptSucceedsOnlyOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.CreateAttempt(t.Context(), createdOf(tenant), ticketOf(tenant)))
	won := expect.Winners(t, 10, func(ctx context.Context, i int) error {
		state := stateOf(tenant)
		state.Hash = taskNumber(i)
		return s.flow.OpenAttempt(ctx, ticketOf(tenant), opened(tenant), state)
	})
	if won != 1 {
		t.Errorf("%d of 10 opened the attempt, want 1", won)
	}
}

func TestOpenAttemptIsAtomic(t *testing.T) {
	t.Parallel()
	foreign, other := org.Tenant{Mode: org.Live, OrgID: orgA}, ticketOf(tenant)
	other.Hash = "made up"
	taken := stateOf(org.Tenant{Mode: org.Test, OrgID: orgB})
	for name, c := range map[string]struct {
		ticket  binding.Ticket
		attempt flow.Attempt
		state   binding.State
	}{
		"an unknown ticket":        {other, opened(tenant), stateOf(tenant)},
		"another tenant's attempt": {ticketOf(tenant), opened(foreign), stateOf(tenant)},
		"a state that exists":      {ticketOf(tenant), opened(tenant), taken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStores(t)
			expect.NoError(t, s.flow.CreateAttempt(t.Context(), createdOf(tenant), ticketOf(tenant)))
			blocker := attemptOf(taken.Tenant)
			expect.NoError(t, s.flow.BeginAttempt(t.Context(), blocker, taken))
			expect.Conflict(t, "the opening", s.flow.OpenAttempt(t.Context(), c.ticket, c.attempt, c.state))
			expect.NoError(t, s.flow.OpenAttempt(t.Context(), ticketOf(tenant), opened(tenant), stateOf(tenant)))
		})
	}
}

func TestConcludeAttemptRequiresOpenAttempt(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.CreateAttempt(t.Context(), createdOf(tenant), ticketOf(tenant)))
	expect.Conflict(t, "the conclusion", s.flow.ConcludeAttempt(t.Context(), conclusionOf(tenant)))
}
