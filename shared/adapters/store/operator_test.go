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

// TestAnOperatorsListsHoldWhatThereIs: each of whichever owner, until the revision that was read is removed.
func TestAnOperatorsListsHoldWhatThereIs(t *testing.T) {
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
		expect.NoError(t, s.control.SaveClientAuth(t.Context(), c.Owner, c.Auth))
		clients[i].Auth.Rev = 1
	}
	for i, r := range places {
		expect.NoError(t, s.control.SaveRegistration(t.Context(), r.Owner, r.Registration))
		places[i].Registration.Rev = 1
	}
	check := func(wantClients []catalog.OwnedClient, wantPlaces []catalog.OwnedRegistration) {
		t.Helper()
		gotClients, err := s.control.ClientAuths(t.Context())
		expect.NoError(t, err)
		gotPlaces, err := s.control.Registrations(t.Context())
		expect.NoError(t, err)
		if diff := cmp.Diff(wantClients, gotClients) + cmp.Diff(wantPlaces, gotPlaces); diff != "" {
			t.Errorf("the lists (-want +got):\n%s", diff)
		}
	}
	check(clients, places)
	expect.NoError(t, s.control.SaveClientAuth(t.Context(), tenant, clients[1].Auth)) // by somebody else
	expect.Conflict(t, "removing what was changed", s.control.RemoveClientAuth(t.Context(), tenant, clients[1].Auth))
	expect.Conflict(t, "removing another owner's", s.control.RemoveClientAuth(t.Context(), tenant, clients[0].Auth))
	expect.Conflict(t, "removing at another place",
		s.control.RemoveRegistration(t.Context(), org.Tenant{}, places[2].Registration))
	expect.NoError(t, s.control.RemoveClientAuth(t.Context(), org.Tenant{}, clients[0].Auth))
	expect.NoError(t, s.control.RemoveRegistration(t.Context(), tenant, places[1].Registration))
	clients[1].Auth.Rev++
	check(clients[1:], []catalog.OwnedRegistration{places[0], places[2]})
}

func TestCredentialsAreListedByTenantAndRemovedAsTheyWereRead(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := credentialOf(tenant)
	expect.NoError(t, s.control.CreateOrganisation(t.Context(), organisationA())) // shares the partition
	expect.NoError(t, s.control.CreateCredential(t.Context(), want))
	for of, expected := range map[org.Tenant][]org.Credential{tenant: {want}, {Mode: org.Live, OrgID: orgA}: {}} {
		got, err := s.control.Credentials(t.Context(), of)
		expect.NoError(t, err)
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("those of %v (-want +got):\n%s", of, diff)
		}
	}
	expect.NoError(t, s.control.SaveCredential(t.Context(), want))
	expect.Conflict(t, "removing what was changed", s.control.RemoveCredential(t.Context(), want))
	want.Rev++
	expect.NoError(t, s.control.RemoveCredential(t.Context(), want))
	_, err := s.control.TenantOf(t.Context(), want.ID)
	expect.NotFound(t, "the public id of a removed credential", err)
}

// TestAMovedOrRemovedWebhookForgetsHowItFared: failures of one address say nothing of another.
func TestAMovedOrRemovedWebhookForgetsHowItFared(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	sub := webhook.Subscription{
		ID: hookID, Tenant: tenant, URL: "https://app.example/hook",
		Types: []webhook.Type{webhook.TestEvent}, CreatedAt: now, Rev: 1,
	}
	expect.NoError(t, s.control.CreateSubscription(t.Context(), sub))
	_, err := s.control.CountFailure(t.Context(), tenant, sub.ID, now)
	expect.NoError(t, err)
	sub.URL = "https://app.example/moved"
	expect.NoError(t, s.control.MoveSubscription(t.Context(), sub))
	expect.Conflict(t, "moving it again as it was", s.control.MoveSubscription(t.Context(), sub))
	got, err := s.control.Subscriptions(t.Context(), tenant)
	expect.NoError(t, err)
	if len(got) != 1 || got[0].URL != sub.URL || got[0].Health.Failures != 0 {
		t.Errorf("after the move: %+v", got)
	}
	_, err = s.control.CountFailure(t.Context(), tenant, sub.ID, now)
	expect.NoError(t, err)
	expect.Conflict(t, "removing it as it was", s.control.RemoveSubscription(t.Context(), sub))
	expect.NoError(t, s.control.RemoveSubscription(t.Context(), got[0]))
	expect.NoError(t, s.control.CreateSubscription(t.Context(), sub))
	if got, err = s.control.Subscriptions(t.Context(), tenant); err != nil || len(got) != 1 ||
		got[0].Health.Failures != 0 {
		t.Errorf("one with the same id, after the removal: %+v (%v)", got, err)
	}
}

func TestConnectionsAreFoundByTenantAndEndpointWhateverTheirState(t *testing.T) {
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
	expect.NoError(t, s.control.CreateOrganisation(t.Context(), organisationA()))
	all := store.ConnectedEndpoints{Control: s.control, Connections: s.conns}
	for mode, want := range map[string]bool{"test": true, "live": false} {
		got, err := all.ConnectedAt(t.Context(), mode, map[string]bool{"endpoint": true, "another": true})
		if err != nil || got["endpoint"] != want || got["another"] {
			t.Errorf("of all organisations in %s mode: %v (%v)", mode, got, err)
		}
	}
}
