package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/org"
)

func TestRegistrationAtRequiresExactOwnerAndPlace(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	everybody := org.Tenant{}
	endpoint, platform := catalog.Place{EndpointID: "endpoint"}, catalog.Place{Mode: "test", PlatformType: "epic"}
	for _, row := range []struct {
		owner org.Tenant
		r     catalog.Registration
	}{
		{everybody, catalog.Registration{Place: platform, ClientID: "everybody's"}},
		{tenant, catalog.Registration{Place: endpoint, ClientID: "own", AuthID: "auth", Scope: "openid", Callback: "c1"}},
	} {
		expect.NoError(t, s.portals.SaveRegistration(t.Context(), row.owner, row.r))
		row.r.Rev = 1
		got, err := s.portals.RegistrationAt(t.Context(), row.owner, row.r.Place)
		expect.NoError(t, err)
		if diff := cmp.Diff(row.r, got); diff != "" {
			t.Errorf("registration (-want +got):\n%s", diff)
		}
	}
	for name, elsewhere := range map[string]struct {
		owner org.Tenant
		place catalog.Place
	}{
		"everybody's at the endpoint":       {everybody, endpoint},
		"the tenant's own at the platform":  {tenant, platform},
		"another tenant's":                  {org.Tenant{Mode: org.Test, OrgID: orgB}, endpoint},
		"the same tenant's, other mode":     {org.Tenant{Mode: org.Live, OrgID: orgA}, endpoint},
		"everybody's at the live platforms": {everybody, catalog.Place{Mode: "live", PlatformType: "epic"}},
	} {
		_, err := s.portals.RegistrationAt(t.Context(), elsewhere.owner, elsewhere.place)
		expect.NotFound(t, name, err)
	}
}

func TestClientAuthOfRequiresExactOwner(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := catalog.ClientAuth{
		ID: "shared", Method: catalog.AuthSecretPost, Secret: []byte("sealed"),
		Origins: []string{"https://auth.example"},
	}
	expect.NoError(t, s.clients.SaveClientAuth(t.Context(), org.Tenant{}, want))
	_, err := s.clients.ClientAuthOf(t.Context(), tenant, want.ID)
	expect.NotFound(t, "everybody's as the tenant's own", err)
	want.Rev = 1
	got, err := s.clients.ClientAuthOf(t.Context(), org.Tenant{}, want.ID)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("client (-want +got):\n%s", diff)
	}
	want.Secret = []byte("another")
	expect.NoError(t, s.clients.SaveClientAuth(t.Context(), org.Tenant{}, want))
	expect.Conflict(t, "replacing the revision again", s.clients.SaveClientAuth(t.Context(), org.Tenant{}, want))
	_, err = s.clients.ClientAuthOf(t.Context(), tenant, want.ID)
	expect.NotFound(t, "everybody's as the tenant's own, after a change", err)
}

func TestEndpointRoundTripsPins(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := catalog.Endpoint{
		ID: "pinned", FHIRBase: "https://fhir.example/r4", Mode: "test", Status: catalog.EndpointActive,
		OwnRegistration: true,
		Pins: catalog.Pins{
			Issuer: "https://auth.example/i", Authorization: "https://a.example", Token: "https://t.example",
			Keys:       "https://k.example",
			Revocation: "https://r.example", Introspection: "https://n.example",
		},
	}
	expect.NoError(t, s.portals.SaveEndpoint(t.Context(), want))
	want.Rev = 1
	got, err := s.portals.Endpoint(t.Context(), want.ID)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("endpoint (-want +got):\n%s", diff)
	}
	expect.NoError(t, s.portals.SaveEndpoint(t.Context(), got))
	listed, err := s.portals.Endpoints(t.Context())
	expect.NoError(t, err)
	if diff := cmp.Diff([]string{want.ID}, listed); diff != "" {
		t.Errorf("the list after a change (-want +got):\n%s", diff)
	}
}

func TestPlatformRegistrationSkipsEndpointWithOwnRegistration(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	for _, r := range []catalog.Registration{
		{Place: catalog.Place{Mode: "test", PlatformType: "smart"}, ClientID: "all"},
		{Place: catalog.Place{EndpointID: "own"}, ClientID: "own"},
	} {
		expect.NoError(t, s.portals.SaveRegistration(t.Context(), org.Tenant{}, r))
	}
	covered := catalog.Endpoint{ID: "covered", Mode: "test", PlatformType: "smart"}
	got, err := s.portals.Registration(t.Context(), org.Tenant{}, covered)
	if err != nil || got.ClientID != "all" {
		t.Errorf("a row of before: %+v (%v)", got, err)
	}
	covered.OwnRegistration = true
	_, err = s.portals.Registration(t.Context(), org.Tenant{}, covered)
	expect.NotFound(t, "one that its platform's registration does not cover", err)
	covered.ID = "own"
	if got, err = s.portals.Registration(t.Context(), org.Tenant{}, covered); err != nil || got.ClientID != "own" {
		t.Errorf("one with a registration of its own: %+v (%v)", got, err)
	}
}

func TestSaveWaysRejectsOutdatedPublisher(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	way := catalog.Way{
		EndpointID: "endpoint", Asked: "former", BrandID: "brand",
		Portals: map[string]string{"old": "portal", "portal": "portal"},
	}
	other := catalog.Way{
		EndpointID: "endpoint", Asked: "brand", BrandID: "brand",
		Portals: map[string]string{"portal": "portal"},
	}
	expect.NoError(t, s.portals.SaveWays(t.Context(), 7, []catalog.Way{way, other}))
	ended := way
	ended.Portals = nil
	expect.Conflict(t, "an older publication", s.portals.SaveWays(t.Context(), 6, []catalog.Way{other, ended}))
	got, err := s.portals.Way(t.Context(), "endpoint", "former")
	expect.NoError(t, err)
	if diff := cmp.Diff(way, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	expect.NoError(t, s.portals.SaveWays(t.Context(), 7, []catalog.Way{ended}))
	if got, err = s.portals.Way(t.Context(), "endpoint", "former"); err != nil || len(got.Portals) > 0 {
		t.Errorf("ended: %+v (%v)", got, err)
	}
	_, err = s.portals.Way(t.Context(), "endpoint", "portal")
	expect.NotFound(t, "another brand", err)
	_, err = s.portals.Endpoint(t.Context(), "endpoint")
	expect.NotFound(t, "a way as an endpoint", err)
}
