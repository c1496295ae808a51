package refresh_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// disconnect applies a DELETE request to c.
func disconnect(c *connection.Connection) {
	c.Status = connection.Revoked
	c.Refresh = connection.RefreshState{Ended: "disconnected", RefreshAt: start, UpstreamUntil: start.Add(day)}
}

// leave disconnects the connection and stores set, sealed for the upstream revocation.
func (b *bench) leave(t *testing.T, set tokens.Set) {
	t.Helper()
	b.change(disconnect)
	sealed, err := plainSealer{}.Seal(t.Context(), tenant, refresh.UpstreamBinding(tenant, connID),
		refresh.EncodeUpstream(set))
	expect.NoError(t, err)
	b.store.upstream[connID] = sealed
}

func TestWorkerRevokesUpstreamAndDeletesTokens(t *testing.T) {
	t.Parallel()
	full := setOf("refresh 1")
	full.RevocationEndpoint, full.ClientAuthID, full.Scope = "https://ehr.example/revoke", "auth", "patient/*.read"
	bare := tokens.Set{
		RevocationEndpoint: full.RevocationEndpoint, TokenEndpoint: full.TokenEndpoint, FHIRBase: full.FHIRBase,
		ClientID: full.ClientID, ClientAuthID: full.ClientAuthID,
	}
	onlyRefresh, onlyAccess, noRefresh := bare, bare, full
	onlyRefresh.RefreshToken, onlyAccess.AccessToken, noRefresh.RefreshToken = full.RefreshToken, full.AccessToken,
		secret.Text{}
	for name, test := range map[string]struct{ had, want tokens.Set }{
		"by its refresh token":                            {full, onlyRefresh},
		"by its access token where there is nothing else": {noRefresh, onlyAccess},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench()
			b.leave(t, test.had)
			want := b.now()
			want.Rev, want.Refresh = want.Rev+1, connection.RefreshState{Ended: "disconnected"}
			if diff := cmp.Diff(want, b.look(t)); diff != "" {
				t.Errorf("connection (-want +got):\n%s", diff)
			}
			b.look(t) // simulates a duplicate message
			reveal := cmp.Comparer(func(a, b secret.Text) bool { return a.Reveal() == b.Reveal() })
			if diff := cmp.Diff([]tokens.Set{test.want}, b.revoked, reveal); diff != "" {
				t.Errorf("revoked (-want +got):\n%s", diff)
			}
			if len(b.store.upstream) != 0 || b.asked != 0 || len(b.store.events) != 0 {
				t.Errorf("left: %d rows; %d refreshes, %d events", len(b.store.upstream), b.asked, len(b.store.events))
			}
		})
	}
}

func TestWorkerRetriesUpstreamRevocationUntilDeadline(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.leave(t, setOf("refresh 1"))
	b.revoke = errTheir
	b.look(t)
	var waits []time.Duration
	for !b.now().Refresh.UpstreamUntil.IsZero() {
		waits = append(waits, b.now().DueAt().Sub(b.at))
		if len(b.store.upstream) != 1 {
			t.Fatalf("forgotten at %v", b.at)
		}
		b.at = b.now().DueAt()
		b.look(t)
	}
	want := []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}
	if diff := cmp.Diff(want, waits[:4]); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	if !b.at.Equal(start.Add(day)) || len(b.store.upstream) != 0 || len(b.revoked) != len(waits) ||
		!b.now().DueAt().IsZero() {
		t.Errorf("ended at %v after %d tries, %d rows left, due at %v", b.at, len(b.revoked), len(b.store.upstream),
			b.now().DueAt())
	}
}

func TestUpstreamRevocationHonoursRequestedWait(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]time.Duration{"30s": time.Minute, "2h": 2 * time.Hour, "48h": day} {
		b := newBench()
		b.leave(t, setOf("refresh 1"))
		wait, err := time.ParseDuration(asked)
		expect.NoError(t, err)
		b.revoke = fault.New(fault.Unavailable, fault.CodeUnavailable, "Later.").After(wait)
		if got := b.look(t).DueAt().Sub(start); got != want {
			t.Errorf("asked to wait %s: tried again after %v, want %v", asked, got, want)
		}
	}
}

func TestWorkerRetriesEveryUpstreamFailure(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		how     func(*bench)
		isError bool
	}{
		"the row cannot be read":   {func(b *bench) { b.store.fails["Upstream"] = errOurs }, false},
		"the row cannot be opened": {func(b *bench) { b.opener.err = errOurs }, false},
		"the row was moved":        {func(b *bench) { b.store.upstream[connID] = []byte("elsewhere\n{}") }, false},
		"the row is no document": {func(b *bench) {
			b.store.upstream[connID] = []byte(
				refresh.UpstreamBinding(tenant, connID) + "\nx")
		}, false},
		"the row cannot be forgotten": {func(b *bench) { b.store.fails["ForgetUpstream"] = errOurs }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench()
			b.leave(t, setOf("refresh 1"))
			test.how(b)
			err := b.worker().Process(t.Context(), tenant, connID)
			if errors.Is(err, errOurs) != test.isError {
				t.Errorf("Process = %v", err)
			}
			if got := b.now().Refresh.UpstreamUntil; !got.Equal(start.Add(day)) {
				t.Errorf("upstream until %v", got)
			}
			b.store.fails, b.opener.err, b.at = map[string]error{}, nil, start.Add(day)
			if got := b.look(t); !got.Refresh.UpstreamUntil.IsZero() || len(b.store.upstream) != 0 {
				t.Errorf("a day later: until %v, %d rows", got.Refresh.UpstreamUntil, len(b.store.upstream))
			}
		})
	}
}

// TestWorkerSkipsRevocationWhenUpstreamTokensAreMissing covers a crash after the row with the tokens was deleted, but
// before the connection was updated.
func TestWorkerSkipsRevocationWhenUpstreamTokensAreMissing(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.change(disconnect)
	if got := b.look(t); !got.DueAt().IsZero() || !got.Refresh.UpstreamUntil.IsZero() || len(b.revoked) != 0 {
		t.Errorf("due at %v, until %v, %d revocations", got.DueAt(), got.Refresh.UpstreamUntil, len(b.revoked))
	}
}

func TestUpstreamRevocationPreservesConcurrentReconnect(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.leave(t, setOf("refresh 1"))
	b.store.meanwhile = func() {
		b.change(func(c *connection.Connection) {
			c.Status, c.Generation, c.Refresh = connection.Authorized, c.Generation+1,
				connection.RefreshState{RefreshAt: start.Add(7 * day)}
		})
	}
	if got := b.look(t); got.Status != connection.Authorized || !got.Refresh.RefreshAt.Equal(start.Add(7*day)) {
		t.Errorf("connection %+v", got)
	}
}

func TestUpstreamRevocationWaitsWithoutCountingWhenAWSFails(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.leave(t, setOf("refresh 1"))
	b.revoke = errOutage
	got := b.look(t)
	if wait := got.Refresh.RefreshAt.Sub(b.at); got.Refresh.Failures != 0 || wait != 2*time.Minute {
		t.Errorf("%d failures, due again after %v", got.Refresh.Failures, wait)
	}
}
