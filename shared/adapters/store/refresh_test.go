package store_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/org"
)

var (
	_ refresh.Store         = store.Refresh{}
	_ refresh.EndpointState = store.EndpointState{}
)

// connected stores an authorized connection with tokens and reads it back.
func (s stores) connected(t *testing.T) connection.Connection {
	t.Helper()
	s.connect(t, tenant)
	return s.connection(t)
}

func (s stores) connection(t *testing.T) connection.Connection {
	t.Helper()
	c, err := s.refresh.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	return c
}

// revoked returns c as it is after the health system has refused a refresh.
func revoked(c connection.Connection) connection.Connection {
	c.Status, c.Refresh = connection.Revoked, connection.RefreshState{Ended: "invalid_grant"}
	return c
}

func (s stores) raw(t *testing.T, table, pk, sk string) map[string]any {
	t.Helper()
	out, err := s.db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(s.names[table]), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: pk},
			"sk": &types.AttributeValueMemberS{Value: sk},
		},
	})
	expect.NoError(t, err)
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

// TestSaveConnectionKeepsUnrelatedAttributes checks that replacing a connection keeps every attribute, including
// attributes that were not read.
func TestSaveConnectionKeepsUnrelatedAttributes(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	c := s.connected(t)
	before := s.rawConnection(t)
	expect.NoError(t, s.refresh.SaveConnection(t.Context(), c))
	want := before
	want["rev"] = "number 2"
	if diff := cmp.Diff(want, s.rawConnection(t)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

func TestRevokeConnectionRemovesTokensAndDueTime(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	c := s.connected(t)
	expect.NoError(t, s.tokens.LeaseTokens(t.Context(), leased("worker", 1, time.Time{}), now))
	expect.NoError(t, s.refresh.RevokeConnection(t.Context(), revoked(c), 1, eventOf(tenant, eventID)))

	want := revoked(c)
	want.Rev++
	if diff := cmp.Diff(want, s.connection(t)); diff != "" {
		t.Errorf("connection (-want +got):\n%s", diff)
	}
	tombstone := map[string]any{"pk": tenant.Key() + "#CONN#" + connID, "sk": "TOKENS", "version": "number 2"}
	if diff := cmp.Diff(tombstone, s.rawTokens(t)); diff != "" {
		t.Errorf("what is left of the tokens (-want +got):\n%s", diff)
	}
	_, err := s.events.Event(t.Context(), tenant, eventID)
	expect.NoError(t, err)
	if got := s.dueConnections(t, now.Add(10000*time.Hour)); len(got) != 0 {
		t.Errorf("due: %v", got)
	}
}

// upstream stores a disconnected connection's tokens that await revocation.
func (s stores) upstream(tb testing.TB, of org.Tenant, sealed string) {
	tb.Helper()
	_, err := s.db.PutItem(tb.Context(), &dynamodb.PutItemInput{
		TableName: aws.String(s.names["TokensTable"]),
		Item: map[string]types.AttributeValue{
			"pk":     &types.AttributeValueMemberS{Value: of.Key() + "#UPSTREAM#" + connID},
			"sk":     &types.AttributeValueMemberS{Value: "META"},
			"sealed": &types.AttributeValueMemberB{Value: []byte(sealed)},
		},
	})
	expect.NoError(tb, err)
}

func TestRefreshIsTenantIsolated(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	c := s.connected(t)
	s.upstream(t, tenant, "sealed rest")
	row, tokens := s.rawConnection(t), s.rawTokens(t)
	for name, foreign := range foreignTenants() {
		theirs, event := c, eventOf(foreign, eventID)
		theirs.Tenant = foreign
		_, err := s.refresh.Connection(t.Context(), foreign, connID)
		expect.NotFound(t, "Connection of "+name, err)
		_, err = s.refresh.Upstream(t.Context(), foreign, connID)
		expect.NotFound(t, "Upstream of "+name, err)
		expect.Conflict(t, "SaveConnection of "+name, s.refresh.SaveConnection(t.Context(), theirs))
		expect.Conflict(t, "SaveConnection with an event of "+name, s.refresh.SaveConnection(t.Context(), theirs, event))
		expect.Conflict(t, "RevokeConnection of "+name, s.refresh.RevokeConnection(t.Context(), theirs, 1, event))
		expect.NoError(t, s.refresh.ForgetUpstream(t.Context(), foreign, connID, []byte("sealed rest")))
	}
	if diff := cmp.Diff(row, s.rawConnection(t)); diff != "" {
		t.Errorf("the connection changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(tokens, s.rawTokens(t)); diff != "" {
		t.Errorf("the tokens changed (-before +after):\n%s", diff)
	}
	_, err := s.refresh.Upstream(t.Context(), tenant, connID)
	expect.NoError(t, err)
}

// leased returns the row of a token set with the given version, leased to owner for one minute from now. started is the
// stored start time of the refresh.
func leased(owner string, version int64, started time.Time) tokens.Row {
	row := tokensOf(tenant)
	row.Version, row.LeaseOwner, row.LeaseUntil, row.RefreshStartedAt = version, owner, now.Add(time.Minute), started
	return row
}
