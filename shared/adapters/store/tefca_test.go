package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

const verificationID = "3a1d5c90-2b7e-4c1f-8a52-7d0e9f6b4c21"

func (s stores) tefca() store.TEFCAConnections {
	return store.TEFCAConnections{
		TEFCA: store.TEFCA{Flow: store.Flow{DB: s.db, Table: s.names["FlowTable"]}, Work: s.work}, Ends: s.flow,
	}
}

func verificationOf(of org.Tenant) attempt.Attempt {
	return attempt.Attempt{
		ID: verificationID, Tenant: of, Status: attempt.Created, TokenHash: "token hash", Provider: "simulated",
		ExternalID: "x", ExternalState: "s",
		Look:      binding.Look{Language: "es", Organisation: "Alder", Logo: "https://cdn.example/a.png", Accent: "#0a7d33"},
		RequestID: "r", CreatedAt: now, ExpiresAt: now.Add(30 * time.Minute),
		Authority: identity.Authority{
			Provider: identity.Provider{
				ID: "simulated", Issuer: "https://id.example",
				Audiences: []string{"urn:oid:2.999.1"},
			},
			RedirectURI:   "https://api.example/back",
			TokenEndpoint: "https://id.example/token", KeySet: "https://id.example/jwks", IssRequired: true,
		},
		NonceHash: "nonce hash", Verifier: []byte("verifier"), Assertion: []byte("assertion"),
		IdentityEnds: now.Add(15 * time.Minute),
		Ending:       attempt.Ending{Error: "e", Description: "d", Cause: "c", RequestID: "q"},
		LeaseUntil:   now.Add(time.Minute), DueAt: now.Add(2 * time.Minute),
	}
}

func verificationTicket(of org.Tenant) binding.Ticket {
	return binding.Ticket{
		Hash: "start of " + of.Key(), Tenant: of, AttemptID: verificationID,
		ExpiresAt: now.Add(30 * time.Minute),
	}
}

func located(id string) attempt.Facility {
	return attempt.Facility{
		ID: id, Name: "n", City: "c", State: "WI", Match: tefca.Found, Access: tefca.Documents, Local: []byte("local"),
		Outcome: attempt.IsConnecting, Reason: "r",
		Connected: attempt.Connected{ConnectionID: "k", ConsentExpiresAt: now}, LeaseUntil: now,
		ExpiresAt: now.Add(30 * time.Minute),
	}
}

func TestTEFCAAttemptRoundTrips(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	rows, want := s.tefca(), verificationOf(tenant)
	expect.NoError(t, rows.CreateAttempt(t.Context(), want, verificationTicket(tenant)))
	want.Rev = 1
	got, err := rows.Attempt(t.Context(), tenant, verificationID)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attempt (-want +got):\n%s", diff)
	}
	for _, id := range []string{"urn:oid:2.999.1.1", "urn:oid:2.999.1.2"} {
		expect.NoError(t, rows.SaveFacility(t.Context(), tenant, verificationID, located(id)))
		expect.Conflict(t, "a facility that is there", rows.SaveFacility(t.Context(), tenant, verificationID, located(id)))
	}
	found, err := rows.Facilities(t.Context(), tenant, verificationID)
	expect.NoError(t, err)
	wanted := located("urn:oid:2.999.1.1")
	wanted.Rev = 1
	if diff := cmp.Diff(wanted, found[0]); diff != "" || len(found) != 2 {
		t.Errorf("%d facilities, the first (-want +got):\n%s", len(found), diff)
	}
	items := 0
	for shard := range store.DueShards {
		all, err := s.timers.Due(t.Context(), shard, now.Add(time.Hour))
		expect.NoError(t, err)
		for _, i := range all {
			if i.Kind == due.Attempt && i.ID == verificationID && i.Tenant == tenant {
				items++
			}
		}
	}
	if items != 1 {
		t.Errorf("the sweeper finds it %d times", items)
	}
}

// TestTEFCATicketsAndStatesAreSeparateFromPortalAttempts checks that start values and states issued in TEFCA mode are
// not valid for a portal attempt.
func TestTEFCATicketsAndStatesAreSeparateFromPortalAttempts(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	rows, a, ticket := s.tefca(), verificationOf(tenant), verificationTicket(tenant)
	expect.NoError(t, rows.CreateAttempt(t.Context(), a, ticket))
	expect.Conflict(t, "an id that is there",
		rows.CreateAttempt(t.Context(), a, binding.Ticket{
			Hash: "once more", Tenant: tenant, AttemptID: a.ID,
			ExpiresAt: a.ExpiresAt,
		}))
	_, err := s.flow.Ticket(t.Context(), ticket.Hash, now)
	expect.NotFound(t, "the start value at a portal", err)
	a.Rev, a.Status = 1, attempt.Open
	state := binding.State{Hash: "state", BindingHash: "cookie", Tenant: tenant, AttemptID: a.ID, ExpiresAt: a.ExpiresAt}
	expect.NoError(t, rows.OpenAttempt(t.Context(), ticket, a, state))
	a.Rev = 2
	expect.Conflict(t, "a start value that is used", rows.OpenAttempt(t.Context(), ticket, a, state))
	_, err = s.flow.TakeState(t.Context(), "state", "cookie", now)
	expect.NotFound(t, "the state at a portal", err)
	_, err = rows.TakeState(t.Context(), "state", "another", now)
	expect.NotFound(t, "the state in another browser", err)
	got, err := rows.TakeState(t.Context(), "state", "cookie", now)
	if expect.NoError(t, err); got != state {
		t.Errorf("the state is %+v", got)
	}
}

// TestTEFCAConcludeCreatesOneConnectionPerFacility checks that a failed conclusion creates none of a connection's rows.
func TestTEFCAConcludeCreatesOneConnectionPerFacility(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	rows, end := s.tefca(), s.concluding(t)
	const other = "c0000000-0000-4000-8000-000000000002"
	expect.NoError(t, rows.Conclude(t.Context(), end(connID)))
	second := end(other)
	expect.Conflict(t, "a facility that has changed", rows.Conclude(t.Context(), second))
	second.Facility.Rev = 2
	expect.Conflict(t, "a second connection", rows.Conclude(t.Context(), second))
	_, err := rows.Connection(t.Context(), tenant, other)
	expect.NotFound(t, "the second connection", err)
	known, _, err := rows.Known(t.Context(), tenant, "vault", "f")
	if expect.NoError(t, err); known != connID {
		t.Errorf("known is %q", known)
	}
	for _, of := range foreignTenants() {
		foreign, erased, unread := rows.Known(t.Context(), of, "vault", "f")
		expect.NoError(t, unread)
		all, unread := s.conns.PersonsConnections(t.Context(), of, "person")
		if expect.NoError(t, unread); foreign != "" || !erased.IsZero() || len(all) != 0 {
			t.Errorf("%v sees %q and %v", of, foreign, all)
		}
		_, unread = rows.Attempt(t.Context(), of, verificationID)
		expect.NotFound(t, "another's attempt", unread)
		if found, unread := rows.Facilities(t.Context(), of, verificationID); unread != nil || len(found) != 0 {
			t.Errorf("%v sees %v, %v", of, found, unread)
		}
		stolen := verificationOf(of)
		stolen.Rev = 1
		expect.Conflict(t, "another's attempt", rows.SaveAttempt(t.Context(), stolen))
	}
}

// TestRemoveConnectionRemovesTEFCALookupRows checks that the next attempt creates a new connection. An attempt that
// looked up the old connection before its erasure must not create a connection.
func TestRemoveConnectionRemovesTEFCALookupRows(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	rows, end := s.tefca(), s.concluding(t)
	expect.NoError(t, rows.Conclude(t.Context(), end(connID)))
	c, err := rows.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	c.Status = connection.Revoked
	expect.NoError(t, s.refresh.SaveConnection(t.Context(), c))
	for range 2 {
		expect.NoError(t, store.NewErasures(s.conns, s.work, s.tokens, s.db).RemoveConnection(t.Context(), tenant,
			connID, now))
	}
	known, erased, err := rows.Known(t.Context(), tenant, "vault", "f")
	expect.NoError(t, err)
	all, err := s.conns.PersonsConnections(t.Context(), tenant, "person")
	if expect.NoError(t, err); known != "" || !erased.Equal(now) || len(all) != 0 {
		t.Errorf("after the erasure there are %q, erased at %v, and %v", known, erased, all)
	}
	for _, of := range foreignTenants() {
		if _, foreign, unread := rows.Known(t.Context(), of, "vault", "f"); unread != nil || !foreign.IsZero() {
			t.Errorf("%v sees that something was erased at %v, %v", of, foreign, unread)
		}
	}
	next := end("c0000000-0000-4000-8000-000000000002")
	next.Facility.Rev = 2
	for what, read := range map[string]attempt.Conclusion{
		"named": {Known: connID}, "not there": {},
		"erased before": {Erased: now.Add(-time.Second)},
	} {
		next.Known, next.Erased = read.Known, read.Erased
		expect.Conflict(t, "one that was "+what+" when it was looked for", rows.Conclude(t.Context(), next))
	}
	next.Erased = erased
	expect.NoError(t, rows.Conclude(t.Context(), next))
	rest, err := s.db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(s.names["WorkTable"]),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: tenant.Key() + "#ERASED#vault"},
			"sk": &types.AttributeValueMemberS{Value: "f"},
		},
	})
	expect.NoError(t, err)
	want := map[string]any{
		"pk": tenant.Key() + "#ERASED#vault", "sk": "f",
		"erased_at": now.UTC().Format("2006-01-02T15:04:05.000000Z"),
		"ttl":       fmt.Sprint("number ", now.Add(90*time.Minute).Unix()),
	}
	if diff := cmp.Diff(want, plain(rest.Item)); diff != "" {
		t.Errorf("what remembers it (-want +got):\n%s", diff)
	}
}

// concluding stores an attempt with one facility. It returns a function that builds a conclusion in which the facility
// is connected as connection id.
func (s stores) concluding(t *testing.T) func(id string) attempt.Conclusion {
	t.Helper()
	expect.NoError(t, s.tefca().CreateAttempt(t.Context(), verificationOf(tenant), verificationTicket(tenant)))
	expect.NoError(t, s.tefca().SaveFacility(t.Context(), tenant, verificationID, located("f")))
	return func(id string) attempt.Conclusion {
		f, c, set := located("f"), connectionOf(tenant), tokensOf(tenant)
		f.Rev, f.Outcome = 1, attempt.IsConnected
		c.ID, c.Rev, c.DirectoryID, c.VaultKey, c.PersonKey = id, 0, "f", "vault", "person"
		set.ConnectionID, set.Version = id, 1
		return attempt.Conclusion{
			AttemptID: verificationID, Facility: f, Connection: c, Tokens: set,
			Events: []webhook.Event{eventOf(tenant, id)},
		}
	}
}
