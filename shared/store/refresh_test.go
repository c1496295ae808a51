package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connection"
	"recordbridge/shared/org"
	"recordbridge/shared/refresh"
	"recordbridge/shared/store"
	"recordbridge/shared/webhook"
)

var (
	_ refresh.Store         = store.Refresh{}
	_ refresh.EndpointState = store.EndpointState{}
)

// connected stores an authorized connection with tokens and returns it as it is read.
func (s stores) connected(t *testing.T) connection.Connection {
	t.Helper()
	s.connect(t, tenant)
	return s.connection(t)
}

func (s stores) connection(t *testing.T) connection.Connection {
	t.Helper()
	c, err := s.refresh.Connection(t.Context(), tenant, connID)
	must(t, err)
	return c
}

// revoked is the connection after a refusal.
func revoked(c connection.Connection) connection.Connection {
	c.Status, c.Refresh = connection.Revoked, connection.RefreshState{Ended: "invalid_grant"}
	return c
}

// raw reads a row as it is stored.
func (s stores) raw(t *testing.T, table, pk, sk string) map[string]any {
	t.Helper()
	out, err := s.db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(s.names[table]), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk}},
	})
	must(t, err)
	return plain(out.Item)
}

func (s stores) rawConnection(t *testing.T) map[string]any {
	t.Helper()
	return s.raw(t, "ConnectionTable", tenant.Key()+"#CONN#"+connID, "META")
}

func (s stores) rawTokens(t *testing.T) map[string]any {
	t.Helper()
	return s.raw(t, "TokensTable", tenant.Key()+"#CONN#"+connID, "TOKENS")
}

// A connection is replaced as a whole, so an attribute that is not read would be lost.
func TestSavingAConnectionLosesNoAttribute(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	c := s.connected(t)
	before := s.rawConnection(t)
	must(t, s.refresh.SaveConnection(t.Context(), c))
	want := before
	want["rev"] = "number 2"
	if diff := cmp.Diff(want, s.rawConnection(t)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

func TestASavedConnectionIsReadBackOneRevisionOn(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]webhook.Event{"alone": nil, "with an event": {eventOf(tenant, eventID)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStores(t)
			want := s.connected(t)
			want.ConsentExpiresAt, want.Scope, want.Generation = now.Add(48*time.Hour), "patient/Patient.read", 2
			want.Refresh = connection.RefreshState{RefreshAt: now.Add(time.Hour), Setbacks: 1}
			must(t, s.refresh.SaveConnection(t.Context(), want, events...))
			want.Rev++
			if diff := cmp.Diff(want, s.connection(t)); diff != "" {
				t.Errorf("connection (-want +got):\n%s", diff)
			}
			for _, event := range events {
				got, err := s.work.Event(t.Context(), tenant, event.ID)
				must(t, err)
				if diff := cmp.Diff(event, got); diff != "" {
					t.Errorf("event (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestOfChangesOfOneRevisionOneWins(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	c := s.connected(t)
	if won := race(t, 16, func(ctx context.Context, i int) error {
		mine := c
		mine.Refresh.Setbacks = 100 + i
		event := eventOf(tenant, fmt.Sprintf("e0000000-0000-4000-8000-0000000001%02d", i))
		switch i % 3 {
		case 0:
			return s.refresh.SaveConnection(ctx, mine)
		case 1:
			return s.refresh.SaveConnection(ctx, mine, event)
		}
		return s.refresh.RevokeConnection(ctx, revoked(mine), 1, event)
	}); won != 1 {
		t.Errorf("%d of 16 changes won, want 1", won)
	}
	if got := s.connection(t).Rev; got != c.Rev+1 {
		t.Errorf("revision %d, want %d", got, c.Rev+1)
	}
}

func TestAChangeThatIsRefusedLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	c := s.connected(t)
	taken := eventOf(tenant, eventID)
	must(t, s.work.CreateEvent(t.Context(), taken))
	row, tokens := s.rawConnection(t), s.rawTokens(t)
	fresh := eventOf(tenant, "e0000000-0000-4000-8000-000000000002")
	stale := c
	stale.Rev--
	none := c
	none.ID, none.Rev = "c0000000-0000-4000-8000-000000000009", 0

	wantConflict(t, "an event that is there", s.refresh.SaveConnection(t.Context(), c, fresh, taken))
	wantConflict(t, "another revision", s.refresh.SaveConnection(t.Context(), stale))
	wantConflict(t, "another revision, with an event", s.refresh.SaveConnection(t.Context(), stale, fresh))
	wantConflict(t, "a connection that is not there", s.refresh.SaveConnection(t.Context(), none))
	wantConflict(t, "revoking another revision", s.refresh.RevokeConnection(t.Context(), revoked(stale), 1, fresh))
	wantConflict(t, "revoking another version", s.refresh.RevokeConnection(t.Context(), revoked(c), 2, fresh))
	wantConflict(t, "revoking with an event that is there", s.refresh.RevokeConnection(t.Context(), revoked(c), 1, taken))

	if diff := cmp.Diff(row, s.rawConnection(t)); diff != "" {
		t.Errorf("the connection changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(tokens, s.rawTokens(t)); diff != "" {
		t.Errorf("the tokens changed (-before +after):\n%s", diff)
	}
	_, err := s.work.Event(t.Context(), tenant, fresh.ID)
	wantMissing(t, "the event of a refused change", err)
	_, err = s.refresh.Connection(t.Context(), tenant, none.ID)
	wantMissing(t, "the connection that was not there", err)
}

func TestARevokedConnectionHoldsNoTokensAndIsNeverDue(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	c := s.connected(t)
	must(t, s.tokens.LeaseTokens(t.Context(), leased("worker", 1, time.Time{}), now))
	must(t, s.refresh.RevokeConnection(t.Context(), revoked(c), 1, eventOf(tenant, eventID)))

	want := revoked(c)
	want.Rev++
	if diff := cmp.Diff(want, s.connection(t)); diff != "" {
		t.Errorf("connection (-want +got):\n%s", diff)
	}
	tombstone := map[string]any{"pk": tenant.Key() + "#CONN#" + connID, "sk": "TOKENS", "version": "number 2"}
	if diff := cmp.Diff(tombstone, s.rawTokens(t)); diff != "" {
		t.Errorf("what is left of the tokens (-want +got):\n%s", diff)
	}
	_, err := s.work.Event(t.Context(), tenant, eventID)
	must(t, err)
	if got := s.dueConnections(t, now.Add(10000*time.Hour)); len(got) != 0 {
		t.Errorf("due: %v", got)
	}
}

func TestAConnectionIsRevokedOnceWithOneEvent(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	c := s.connected(t)
	events := []webhook.Event{eventOf(tenant, eventID), eventOf(tenant, "e0000000-0000-4000-8000-000000000002")}
	if won := race(t, 16, func(ctx context.Context, i int) error {
		return s.refresh.RevokeConnection(ctx, revoked(c), 1, events[i%2])
	}); won != 1 {
		t.Errorf("%d of 16 revocations won, want 1", won)
	}
	again := s.connection(t)
	wantConflict(t, "revoking what is revoked", s.refresh.RevokeConnection(t.Context(), again, 1, events[0]))
	wantConflict(t, "ending a tombstone", s.refresh.RevokeConnection(t.Context(), again, 2, events[0]))
	told := 0
	for _, event := range events {
		if _, err := s.work.Event(t.Context(), tenant, event.ID); err == nil {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d events, want 1", told)
	}
}

// upstream stores what a disconnection leaves to be revoked.
func (s stores) upstream(t *testing.T, of org.Tenant, sealed string) {
	t.Helper()
	_, err := s.db.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String(s.names["TokensTable"]),
		Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: of.Key() + "#UPSTREAM#" + connID}, "sk": &types.AttributeValueMemberS{Value: "META"},
			"sealed": &types.AttributeValueMemberB{Value: []byte(sealed)},
		},
	})
	must(t, err)
}

func TestWhatIsLeftUpstreamIsReadUntilItIsForgotten(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	_, err := s.refresh.Upstream(t.Context(), tenant, connID)
	wantMissing(t, "nothing left", err)
	s.upstream(t, tenant, "sealed rest")
	got, err := s.refresh.Upstream(t.Context(), tenant, connID)
	must(t, err)
	if string(got) != "sealed rest" {
		t.Errorf("got %q", got)
	}
	must(t, s.refresh.ForgetUpstream(t.Context(), tenant, connID, []byte("sealed before")))
	if got, err = s.refresh.Upstream(t.Context(), tenant, connID); err != nil || string(got) != "sealed rest" {
		t.Errorf("who had seen another one has deleted it: %q, %v", got, err)
	}
	for range 2 {
		must(t, s.refresh.ForgetUpstream(t.Context(), tenant, connID, []byte("sealed rest")))
		_, err = s.refresh.Upstream(t.Context(), tenant, connID)
		wantMissing(t, "what was forgotten", err)
	}
	s.wantTokens(t, tokensOf(tenant))
}

func TestNoCareReachesAnotherTenant(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	c := s.connected(t)
	s.upstream(t, tenant, "sealed rest")
	row, tokens := s.rawConnection(t), s.rawTokens(t)
	for name, foreign := range foreignTenants() {
		theirs, event := c, eventOf(foreign, eventID)
		theirs.Tenant = foreign
		_, err := s.refresh.Connection(t.Context(), foreign, connID)
		wantMissing(t, "Connection of "+name, err)
		_, err = s.refresh.Upstream(t.Context(), foreign, connID)
		wantMissing(t, "Upstream of "+name, err)
		wantConflict(t, "SaveConnection of "+name, s.refresh.SaveConnection(t.Context(), theirs))
		wantConflict(t, "SaveConnection with an event of "+name, s.refresh.SaveConnection(t.Context(), theirs, event))
		wantConflict(t, "RevokeConnection of "+name, s.refresh.RevokeConnection(t.Context(), theirs, 1, event))
		must(t, s.refresh.ForgetUpstream(t.Context(), foreign, connID, []byte("sealed rest")))
	}
	if diff := cmp.Diff(row, s.rawConnection(t)); diff != "" {
		t.Errorf("the connection changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(tokens, s.rawTokens(t)); diff != "" {
		t.Errorf("the tokens changed (-before +after):\n%s", diff)
	}
	_, err := s.refresh.Upstream(t.Context(), tenant, connID)
	must(t, err)
}
