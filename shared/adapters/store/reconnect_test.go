package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// reconnecting starts a second attempt for a connection. It returns the attempt's conclusion, in which the connection
// has revision rev and the tokens have the given version.
func (s stores) reconnecting(t *testing.T, id string, rev, version int64) flow.Conclusion {
	t.Helper()
	attempt, state := attemptOf(tenant), stateOf(tenant)
	attempt.ID, attempt.Reconnect, state.AttemptID, state.Hash = id, connID, id, "state of "+id
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attempt, state))
	conn, row := connectionOf(tenant), tokensOf(tenant)
	conn.Rev, conn.Generation, conn.Refresh = rev, 2, connection.RefreshState{RefreshAt: now.Add(time.Hour)}
	row.Sealed, row.Version = []byte("sealed anew"), version
	return flow.Conclusion{
		Attempt: attempt, Connection: conn, Tokens: row,
		Events: []webhook.Event{eventOf(tenant, "e0000000-0000-4000-8000-0000000000"+id[34:])},
	}
}

const secondAttempt = "a0000000-0000-4000-8000-000000000022"

func TestReconnectReplacesConnectionAndTokens(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	leased := tokensOf(tenant)
	leased.LeaseOwner, leased.LeaseUntil = "owner", now.Add(time.Minute)
	expect.NoError(t, s.tokens.LeaseTokens(t.Context(), leased, now))

	end := s.reconnecting(t, secondAttempt, 1, 2)
	expect.NoError(t, s.flow.ConcludeAttempt(t.Context(), end))
	conn, err := s.conns.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	end.Connection.Rev = 2
	if diff := cmp.Diff(end.Connection, conn); diff != "" {
		t.Errorf("connection (-want +got):\n%s", diff)
	}
	row, err := s.tokens.Tokens(t.Context(), tenant, connID)
	expect.NoError(t, err)
	if diff := cmp.Diff(end.Tokens, row); diff != "" {
		t.Errorf("tokens, without the lease (-want +got):\n%s", diff)
	}
}

func TestReconnectContinuesTokenVersionFromTombstone(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	conn, err := s.conns.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	conn.Status = connection.Revoked
	expect.NoError(t, s.refresh.RevokeConnection(t.Context(), conn, 1,
		eventOf(tenant, "e0000000-0000-4000-8000-0000000000aa")))
	ended, err := s.flow.TokenVersion(t.Context(), tenant, connID)
	expect.NoError(t, err)
	s.upstream(t, tenant, "sealed rest")

	expect.NoError(t, s.flow.ConcludeAttempt(t.Context(), s.reconnecting(t, secondAttempt, 2, ended+1)))
	row, err := s.tokens.Tokens(t.Context(), tenant, connID)
	expect.NoError(t, err)
	if string(row.Sealed) != "sealed anew" || row.Version != ended+1 {
		t.Errorf("tokens %q of version %d", row.Sealed, row.Version)
	}
	_, err = s.refresh.Upstream(t.Context(), tenant, connID)
	expect.NotFound(t, "what was left of the old grant", err)
}

func TestReconnectStartsAtVersionOneForRejectedConnection(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant)))
	rejected := connectionOf(tenant)
	rejected.Status = connection.Rejected
	expect.NoError(t, s.flow.ConcludeAttempt(t.Context(),
		flow.Conclusion{Attempt: attemptOf(tenant), Error: "access_denied", Connection: rejected}))
	expect.NoError(t, s.flow.ConcludeAttempt(t.Context(), s.reconnecting(t, secondAttempt, 1, 1)))
}

func TestReconnectFailsAfterConcurrentChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rev, version int64 }{
		"another revision":      {2, 2},
		"an older version":      {1, 1},
		"a version of later":    {1, 3},
		"both have moved on":    {7, 7},
		"no revision: a create": {0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStores(t)
			s.connect(t, tenant)
			s.upstream(t, tenant, "sealed rest")
			end := s.reconnecting(t, secondAttempt, c.rev, c.version)
			expect.Conflict(t, "the reconnect", s.flow.ConcludeAttempt(t.Context(), end))
			conn, err := s.conns.Connection(t.Context(), tenant, connID)
			expect.NoError(t, err)
			row, err := s.tokens.Tokens(t.Context(), tenant, connID)
			expect.NoError(t, err)
			if conn.Generation != 1 || conn.Rev != 1 || string(row.Sealed) != "sealed one" {
				t.Errorf("generation %d, revision %d, tokens %q", conn.Generation, conn.Rev, row.Sealed)
			}
			_, err = s.refresh.Upstream(t.Context(), tenant, connID)
			expect.NoError(t, err)
			attempt, err := s.flow.Attempt(t.Context(), tenant, secondAttempt)
			expect.NoError(t, err)
			if attempt.Status != flow.Open {
				t.Errorf("the attempt is %s", attempt.Status)
			}
		})
	}
}

func TestRefreshAndReconnectAreMutuallyExclusive(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	end := s.reconnecting(t, secondAttempt, 1, 2)
	won := expect.Winners(t, 2, func(ctx context.Context, i int) error {
		if i == 0 {
			return s.flow.ConcludeAttempt(ctx, end)
		}
		return s.tokens.RotateTokens(ctx, tokens.Row{
			Tenant: tenant, ConnectionID: connID,
			Sealed: []byte("rotated"), Version: 2,
		})
	})
	if won != 1 {
		t.Errorf("%d of two stored version 2", won)
	}
}

func TestTokenVersionContinuesAfterConnectionEnds(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := func(of org.Tenant, want int64) {
		t.Helper()
		got, err := s.flow.TokenVersion(t.Context(), of, connID)
		expect.NoError(t, err)
		if got != want {
			t.Errorf("version %d, want %d", got, want)
		}
	}
	want(tenant, 0)
	s.connect(t, tenant)
	want(tenant, 1)
	conn, err := s.conns.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	expect.NoError(t, s.refresh.RevokeConnection(t.Context(), conn, 1,
		eventOf(tenant, "e0000000-0000-4000-8000-0000000000aa")))
	want(tenant, 2)
	for _, foreign := range foreignTenants() {
		want(foreign, 0)
	}
}

func TestReconnectFailsWhenConnectionIsSavedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	end := s.reconnecting(t, secondAttempt, 1, 2)
	conn, err := s.conns.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	expect.NoError(t, s.refresh.SaveConnection(t.Context(), conn)) // increments the revision, but not the tokens' version
	expect.Conflict(t, "the reconnect", s.flow.ConcludeAttempt(t.Context(), end))
}
