package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// Connections is the store that refresh.Worker requires. The store holds connections, tokens and events.
type Connections interface {
	refresh.Store
	tokens.Store
	Event(ctx context.Context, tenant org.Tenant, id string) (webhook.Event, error)
}

// Held is a connection store's initial content: an authorized connection, the first version of its tokens, and an
// earlier connection's tokens that must still be revoked upstream.
type Held struct {
	Connection connection.Connection
	Tokens     tokens.Row
	Upstream   []byte
}

// Refreshes tests a store against the requirements of refresh.Worker. Each revision must be replaced at most once, with
// either all of its events or none. Revoked tokens must not be restored.
func Refreshes(t *testing.T, open func(testing.TB, Held) Connections) {
	t.Helper()
	held := Held{
		Connection: connection.Connection{
			ID: connID, Tenant: tenantA(), Status: connection.Authorized, BrandID: "brand", PortalID: "portal",
			EndpointID:   "endpoint",
			PlatformType: "sandbox", DirectoryID: "urn:oid:2.999.1.7", Scope: "patient/*.read",
			ConsentExpiresAt: now().Add(time.Hour), Generation: 1, CreatedAt: now(),
		},
		Tokens: tokensOf(), Upstream: []byte("sealed rest"),
	}
	begun := func(tb testing.TB) Connections {
		tb.Helper()
		return open(tb, held)
	}
	run(t, begun, map[string]func(subject[Connections]){
		"a saved connection is read back one revision on": savedOneOn,
		"of changes of one revision one wins":             oneChange,
		"a change that is refused leaves nothing":         refusedLeavesNothing,
		"a connection is revoked once, with one event":    revokedOnce,
		"what has ended is not revived":                   notRevived,
		"of a rotation and a revocation one wins":         rotatedOrRevoked,
		"what is left upstream is read until forgotten":   upstreamUntilForgotten,
		"a connection is its tenant's":                    connectionOfTenant,
	})
}

func connectionIn(t *testing.T, s Connections) connection.Connection {
	t.Helper()
	c, err := s.Connection(t.Context(), tenantA(), connID)
	expect.NoError(t, err)
	return c
}

func wantConnection(t *testing.T, s Connections, want connection.Connection) {
	t.Helper()
	if diff := cmp.Diff(want, connectionIn(t, s)); diff != "" {
		t.Errorf("connection (-want +got):\n%s", diff)
	}
}

func wantNoEvent(t *testing.T, s Connections, id string) {
	t.Helper()
	_, err := s.Event(t.Context(), tenantA(), id)
	expect.NotFound(t, "the event of what was refused", err)
}

func revoked(c connection.Connection) connection.Connection {
	c.Status = connection.Revoked
	return c
}

func savedOneOn(c subject[Connections]) {
	t, s := c.t, c.store
	want := connectionIn(t, s)
	for _, events := range [][]webhook.Event{nil, {eventOf(eventID)}} {
		want.ConsentExpiresAt, want.Generation = want.ConsentExpiresAt.Add(time.Hour), want.Generation+1
		expect.NoError(t, s.SaveConnection(t.Context(), want, events...))
		want.Rev++
		wantConnection(t, s, want)
	}
	got, err := s.Event(t.Context(), tenantA(), eventID)
	expect.NoError(t, err)
	if diff := cmp.Diff(eventOf(eventID), got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func oneChange(c subject[Connections]) {
	t, s := c.t, c.store
	seen := connectionIn(t, s)
	if won := expect.Winners(t, 16, func(ctx context.Context, i int) error {
		event := eventOf(fmt.Sprintf("e0000000-0000-4000-8000-0000000001%02d", i))
		switch i % 3 {
		case 0:
			return s.SaveConnection(ctx, seen)
		case 1:
			return s.SaveConnection(ctx, seen, event)
		}
		return s.RevokeConnection(ctx, revoked(seen), 1, event)
	}); won != 1 {
		t.Errorf("%d of 16 changes won, want 1", won)
	}
	if got := connectionIn(t, s).Rev; got != seen.Rev+1 {
		t.Errorf("revision %d, want %d", got, seen.Rev+1)
	}
}

func refusedLeavesNothing(c subject[Connections]) {
	t, s := c.t, c.store
	taken, fresh := eventOf(eventID), eventOf("e0000000-0000-4000-8000-000000000002")
	expect.NoError(t, s.SaveConnection(t.Context(), connectionIn(t, s), taken))
	seen := connectionIn(t, s)
	stale, none := seen, seen
	stale.Rev--
	none.ID, none.Rev = "c0000000-0000-4000-8000-000000000009", 0

	expect.Conflict(t, "an event that is there", s.SaveConnection(t.Context(), seen, fresh, taken))
	expect.Conflict(t, "another revision", s.SaveConnection(t.Context(), stale))
	expect.Conflict(t, "another revision, with an event", s.SaveConnection(t.Context(), stale, fresh))
	expect.Conflict(t, "a connection that is not there", s.SaveConnection(t.Context(), none))
	expect.Conflict(t, "revoking another revision", s.RevokeConnection(t.Context(), revoked(stale), 1, fresh))
	expect.Conflict(t, "revoking another version", s.RevokeConnection(t.Context(), revoked(seen), 2, fresh))
	expect.Conflict(t, "revoking with an event that is there", s.RevokeConnection(t.Context(), revoked(seen), 1, taken))

	wantConnection(t, s, seen)
	wantTokens(t, s, tokensOf())
	wantNoEvent(t, s, fresh.ID)
	_, err := s.Connection(t.Context(), tenantA(), none.ID)
	expect.NotFound(t, "the connection that was not there", err)
}

func revokedOnce(c subject[Connections]) {
	t, s := c.t, c.store
	seen := connectionIn(t, s)
	events := []webhook.Event{eventOf(eventID), eventOf("e0000000-0000-4000-8000-000000000002")}
	if won := expect.Winners(t, 16, func(ctx context.Context, i int) error {
		return s.RevokeConnection(ctx, revoked(seen), 1, events[i%2])
	}); won != 1 {
		t.Errorf("%d of 16 revocations won, want 1", won)
	}
	want := revoked(seen)
	want.Rev++
	wantConnection(t, s, want)
	missing(t, s, tenantA(), connID)
	again := eventOf("e0000000-0000-4000-8000-000000000003")
	expect.Conflict(t, "revoking what is revoked", s.RevokeConnection(t.Context(), want, 1, again))
	expect.Conflict(t, "ending a tombstone", s.RevokeConnection(t.Context(), want, 2, again))
	told := 0
	for _, event := range events {
		if _, err := s.Event(t.Context(), tenantA(), event.ID); err == nil {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d events, want 1", told)
	}
}

// A refresh that was in progress when the tokens were revoked must not restore them, even if it guesses the tombstone's
// version.
func notRevived(c subject[Connections]) {
	t, s := c.t, c.store
	expect.NoError(t, s.LeaseTokens(t.Context(), leased("worker", 1, time.Time{}), now()))
	expect.NoError(t, s.RevokeConnection(t.Context(), revoked(connectionIn(t, s)), 1, eventOf(eventID)))
	for version := range int64(4) {
		what := fmt.Sprintf("version %d: ", version)
		fresh := tokens.Row{Tenant: tenantA(), ConnectionID: connID, Sealed: []byte("sealed two"), Version: version + 1}
		expect.Conflict(t, what+"rotating", s.RotateTokens(t.Context(), fresh))
		expect.Conflict(t, what+"leasing", s.LeaseTokens(t.Context(), leased("another", version, time.Time{}),
			now().Add(time.Hour)))
		expect.Conflict(t, what+"releasing", s.ReleaseTokens(t.Context(), leased("worker", version, time.Time{})))
		missing(t, s, tenantA(), connID)
	}
}

// If a rotation and a revocation race, only the first one takes effect.
func rotatedOrRevoked(c subject[Connections]) {
	t, s := c.t, c.store
	seen := connectionIn(t, s)
	next := tokens.Row{Tenant: tenantA(), ConnectionID: connID, Sealed: []byte("sealed two"), Version: 2}
	if won := expect.Winners(t, 16, func(ctx context.Context, i int) error {
		if i%2 == 0 {
			return s.RotateTokens(ctx, next)
		}
		return s.RevokeConnection(ctx, revoked(seen), 1, eventOf(eventID))
	}); won != 1 {
		t.Errorf("%d of 16 won, want 1", won)
	}
	row, err := s.Tokens(t.Context(), tenantA(), connID)
	status := connectionIn(t, s).Status
	if held := err == nil && string(row.Sealed) == "sealed two"; held != (status == connection.Authorized) {
		t.Errorf("tokens are held: %v, but the connection is %s", held, status)
	}
}

func upstreamUntilForgotten(c subject[Connections]) {
	t, s := c.t, c.store
	const elsewhere = "c0000000-0000-4000-8000-000000000009"
	wantNothingLeft(t, s, elsewhere)
	for _, seen := range []string{"", "sealed before"} {
		if seen != "" {
			expect.NoError(t, s.ForgetUpstream(t.Context(), tenantA(), connID, []byte(seen)))
		}
		got, err := s.Upstream(t.Context(), tenantA(), connID)
		if err != nil || string(got) != "sealed rest" {
			t.Errorf("after forgetting %q: %q, %v", seen, got, err)
		}
	}
	for range 2 {
		expect.NoError(t, s.ForgetUpstream(t.Context(), tenantA(), connID, []byte("sealed rest")))
		wantNothingLeft(t, s, connID)
	}
	wantTokens(t, s, tokensOf())
}

func wantNothingLeft(t *testing.T, s Connections, id string) {
	t.Helper()
	_, err := s.Upstream(t.Context(), tenantA(), id)
	expect.NotFound(t, "what "+id+" has left upstream", err)
}

func connectionOfTenant(c subject[Connections]) {
	t, s := c.t, c.store
	seen := connectionIn(t, s)
	for _, other := range others() {
		theirs, event := seen, eventOf(eventID)
		theirs.Tenant, event.Tenant = other, other
		_, err := s.Connection(t.Context(), other, connID)
		expect.NotFound(t, "reading as another", err)
		_, err = s.Upstream(t.Context(), other, connID)
		expect.NotFound(t, "reading what is left as another", err)
		expect.Conflict(t, "saving as another", s.SaveConnection(t.Context(), theirs))
		expect.Conflict(t, "saving with an event as another", s.SaveConnection(t.Context(), theirs, event))
		expect.Conflict(t, "revoking as another", s.RevokeConnection(t.Context(), theirs, 1, event))
		expect.NoError(t, s.ForgetUpstream(t.Context(), other, connID, []byte("sealed rest")))
	}
	wantConnection(t, s, seen)
	wantTokens(t, s, tokensOf())
	_, err := s.Upstream(t.Context(), tenantA(), connID)
	expect.NoError(t, err)
}
