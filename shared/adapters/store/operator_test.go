package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// TestOperatorListsContainAllEntries checks that lists contain every owner's entries. An entry remains listed until it
// is removed at its current revision.
func TestOperatorListsContainAllEntries(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	clients := []catalog.OwnedClient{
		{Auth: catalog.ClientAuth{ID: "a", Method: catalog.AuthPrivateKey}},
		{Owner: tenant, Auth: catalog.ClientAuth{
			ID: "b", Method: catalog.AuthSecretPost, Secret: []byte("sealed"),
			Origins: []string{"https://a.example"},
		}},
	}
	places := []catalog.OwnedRegistration{
		{Registration: catalog.Registration{Place: catalog.Place{EndpointID: "endpoint"}, ClientID: "one"}},
		{Owner: tenant, Registration: catalog.Registration{Place: catalog.Place{EndpointID: "endpoint"}, ClientID: "two"}},
		{Owner: tenant, Registration: catalog.Registration{
			Place:    catalog.Place{Mode: "test", PlatformType: "epic"},
			ClientID: "three",
		}},
	}
	for i, c := range clients {
		expect.NoError(t, s.clients.SaveClientAuth(t.Context(), c.Owner, c.Auth))
		clients[i].Auth.Rev = 1
	}
	for i, r := range places {
		expect.NoError(t, s.portals.SaveRegistration(t.Context(), r.Owner, r.Registration))
		places[i].Registration.Rev = 1
	}
	check := func(wantClients []catalog.OwnedClient, wantPlaces []catalog.OwnedRegistration) {
		t.Helper()
		gotClients, err := s.clients.ClientAuths(t.Context())
		expect.NoError(t, err)
		gotPlaces, err := s.portals.Registrations(t.Context())
		expect.NoError(t, err)
		if diff := cmp.Diff(wantClients, gotClients) + cmp.Diff(wantPlaces, gotPlaces); diff != "" {
			t.Errorf("the lists (-want +got):\n%s", diff)
		}
	}
	check(clients, places)
	expect.NoError(t, s.clients.SaveClientAuth(t.Context(), tenant, clients[1].Auth)) // simulates a concurrent write
	expect.Conflict(t, "removing what was changed", s.clients.RemoveClientAuth(t.Context(), tenant, clients[1].Auth))
	expect.Conflict(t, "removing another owner's", s.clients.RemoveClientAuth(t.Context(), tenant, clients[0].Auth))
	expect.Conflict(t, "removing at another place",
		s.portals.RemoveRegistration(t.Context(), org.Tenant{}, places[2].Registration))
	expect.NoError(t, s.clients.RemoveClientAuth(t.Context(), org.Tenant{}, clients[0].Auth))
	expect.NoError(t, s.portals.RemoveRegistration(t.Context(), tenant, places[1].Registration))
	clients[1].Auth.Rev++
	check(clients[1:], []catalog.OwnedRegistration{places[0], places[2]})
}

func TestCredentialsAreListedAndRemovedByTenant(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := credentialOf(tenant)
	expect.NoError(t, s.organisations.CreateOrganisation(t.Context(), organisationA())) // in the credential's partition
	expect.NoError(t, s.callers.CreateCredential(t.Context(), want))
	for of, expected := range map[org.Tenant][]org.Credential{tenant: {want}, {Mode: org.Live, OrgID: orgA}: {}} {
		got, err := s.callers.Credentials(t.Context(), of)
		expect.NoError(t, err)
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("those of %v (-want +got):\n%s", of, diff)
		}
	}
	expect.NoError(t, s.callers.SaveCredential(t.Context(), want))
	expect.Conflict(t, "removing what was changed", s.callers.RemoveCredential(t.Context(), want))
	want.Rev++
	expect.NoError(t, s.callers.RemoveCredential(t.Context(), want))
	_, err := s.callers.TenantOf(t.Context(), want.ID)
	expect.NotFound(t, "the public id of a removed credential", err)
}

// TestMoveAndRemoveSubscriptionResetHealth checks that a subscription's new URL doesn't inherit the old URL's failures.
func TestMoveAndRemoveSubscriptionResetHealth(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	sub := webhook.Subscription{
		ID: hookID, Tenant: tenant, URL: "https://app.example/hook",
		Types: []webhook.Type{webhook.TestEvent}, CreatedAt: now, Rev: 1,
	}
	expect.NoError(t, s.hooks.CreateSubscription(t.Context(), sub))
	_, err := s.hooks.CountFailure(t.Context(), tenant, sub.ID, now)
	expect.NoError(t, err)
	sub.URL = "https://app.example/moved"
	expect.NoError(t, s.hooks.MoveSubscription(t.Context(), sub))
	expect.Conflict(t, "moving it again as it was", s.hooks.MoveSubscription(t.Context(), sub))
	got, err := s.hooks.Subscriptions(t.Context(), tenant)
	expect.NoError(t, err)
	if len(got) != 1 || got[0].URL != sub.URL || got[0].Health.Failures != 0 {
		t.Errorf("after the move: %+v", got)
	}
	_, err = s.hooks.CountFailure(t.Context(), tenant, sub.ID, now)
	expect.NoError(t, err)
	expect.Conflict(t, "removing it as it was", s.hooks.RemoveSubscription(t.Context(), sub))
	expect.NoError(t, s.hooks.RemoveSubscription(t.Context(), got[0]))
	expect.NoError(t, s.hooks.CreateSubscription(t.Context(), sub))
	if got, err = s.hooks.Subscriptions(t.Context(), tenant); err != nil || len(got) != 1 ||
		got[0].Health.Failures != 0 {
		t.Errorf("one with the same id, after the removal: %+v (%v)", got, err)
	}
}

func TestHasConnectionsAtCountsEveryStatus(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	live := org.Tenant{Mode: org.Live, OrgID: orgA}
	for of, want := range map[org.Tenant]bool{tenant: true, live: false, {Mode: org.Test, OrgID: orgB}: false} {
		if got, err := s.conns.HasConnections(t.Context(), of); err != nil || got != want {
			t.Errorf("%v: %t (%v)", of, got, err)
		}
		for endpoint, there := range map[string]bool{"endpoint": want, "another": false} {
			if got, err := s.conns.HasConnectionsAt(t.Context(), of, endpoint); err != nil || got != there {
				t.Errorf("%v at %s: %t (%v)", of, endpoint, got, err)
			}
		}
	}
	expect.NoError(t, s.organisations.CreateOrganisation(t.Context(), organisationA()))
	all := store.ConnectedEndpoints{Organisations: s.organisations, Connections: s.conns}
	for mode, want := range map[string]bool{"test": true, "live": false} {
		got, err := all.ConnectedAt(t.Context(), mode, map[string]bool{"endpoint": true, "another": true})
		if err != nil || got["endpoint"] != want || got["another"] {
			t.Errorf("of all organisations in %s mode: %v (%v)", mode, got, err)
		}
	}
}
