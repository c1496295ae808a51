package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

func organisationA() org.Organisation {
	return org.Organisation{
		ID: orgA, Name: "Alder Maple Clinic", LogoURI: "https://alder.example/logo.svg",
		PrivacyPolicyURI: "https://alder.example/privacy", WebsiteURI: "https://alder.example",
		TermsURI: "https://alder.example/terms", Accent: "#1a5fb4",
		Look:    org.Look{Radius: new(0), Font: `"Segoe UI", serif`, ColorScheme: org.Dark},
		Purpose: org.Purpose{English: "We plan your care.", Spanish: "Planificamos su atención."},
		Plan:    org.Paid, Status: org.Active, LiveAccess: org.LiveRequested, CreatedAt: now, Rev: 1,
	}
}

func credentialOf(of org.Tenant) org.Credential {
	return org.Credential{
		ID: "5c000000-0000-4000-8000-000000000001", Tenant: of,
		Keys: []org.Key{
			{ID: "k1", HashVersion: 2, Hash: []byte{1, 2, 3}, CreatedAt: now},
			{ID: "k0", HashVersion: 1, Hash: []byte{4, 5, 6}, CreatedAt: now.Add(-time.Hour), RevokedAt: now},
		},
		RedirectURIs: []string{"https://alder.example/back"}, AllowedOrigins: []string{"https://alder.example"},
		CreatedAt: now, Rev: 1,
	}
}

func TestCreateOrganisationStoresBothModesAndDirectoryEntry(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := organisationA()
	expect.NoError(t, s.organisations.CreateOrganisation(t.Context(), want))

	for _, mode := range []org.Mode{org.Test, org.Live} {
		got, err := s.organisations.Organisation(t.Context(), org.Tenant{Mode: mode, OrgID: orgA})
		expect.NoError(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("organisation in %s (-want +got):\n%s", mode, diff)
		}
	}
	expect.Conflict(t, "creating it again", s.organisations.CreateOrganisation(t.Context(), want))

	want.Emails, want.Status, want.LiveAccess = []string{"ops@alder.example", "new@alder.example"}, org.Inactive,
		org.LiveGranted
	want.VerifiedEmails, want.Look = []string{"ops@alder.example"}, org.Look{}
	want.Purpose.Spanish = ""
	expect.NoError(t, s.organisations.SaveOrganisation(t.Context(), want))
	expect.Conflict(t, "saving over the same revision again", s.organisations.SaveOrganisation(t.Context(), want))
	want.Rev++
	for _, tenant := range want.Tenants() {
		got, err := s.organisations.Organisation(t.Context(), tenant)
		expect.NoError(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("organisation in %s after a change (-want +got):\n%s", tenant.Mode, diff)
		}
	}
	expect.Conflict(t, "a change of nobody",
		s.organisations.SaveOrganisation(t.Context(), org.Organisation{ID: orgB, Rev: 1}))

	got, err := s.organisations.Tenants(t.Context())
	expect.NoError(t, err)
	if diff := cmp.Diff([]org.Tenant{{Mode: org.Live, OrgID: orgA}, {Mode: org.Test, OrgID: orgA}}, got); diff != "" {
		t.Errorf("tenants (-want +got):\n%s", diff)
	}
	want.Rev--
	expect.Conflict(t, "removing what was changed", s.organisations.RemoveOrganisation(t.Context(), want))
	want.Rev++
	expect.NoError(t, s.organisations.RemoveOrganisation(t.Context(), want))
	for _, tenant := range want.Tenants() {
		_, err := s.organisations.Organisation(t.Context(), tenant)
		expect.NotFound(t, "the removed organisation", err)
	}
	if got, err := s.organisations.Tenants(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("the directory has %v (%v)", got, err)
	}
}

func TestTenantsReadsAllDirectoryPages(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	// A page holds up to 1 MB, so long IDs mean fewer rows per page.
	padding := fmt.Sprintf("%0900d", 0)
	const rows = 1300
	for i := range rows {
		_, err := s.db.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: new(s.names["ControlTable"]),
			Item: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: "DIR#ORG"},
				"sk": &types.AttributeValueMemberS{Value: fmt.Sprintf("test#%s%04d", padding, i)},
			},
		})
		expect.NoError(t, err)
	}
	got, err := s.organisations.Tenants(t.Context())
	expect.NoError(t, err)
	if len(got) != rows {
		t.Errorf("tenants = %d, want %d", len(got), rows)
	}
}

func TestCredentialIsFoundByPublicID(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := credentialOf(tenant)
	expect.NoError(t, s.callers.CreateCredential(t.Context(), want))

	found, err := s.callers.TenantOf(t.Context(), want.ID)
	expect.NoError(t, err)
	if found != tenant {
		t.Errorf("tenant = %v, want %v", found, tenant)
	}
	got, err := s.callers.Credential(t.Context(), found, want.ID)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("credential (-want +got):\n%s", diff)
	}
	expect.Conflict(t, "creating it again", s.callers.CreateCredential(t.Context(), want))
	// Another tenant can't take over the public ID, and its failed attempt creates no rows.
	foreign := credentialOf(org.Tenant{Mode: org.Test, OrgID: orgB})
	expect.Conflict(t, "taking the public id", s.callers.CreateCredential(t.Context(), foreign))
	_, err = s.callers.Credential(t.Context(), foreign.Tenant, foreign.ID)
	expect.NotFound(t, "the other tenant's credential", err)
}

func TestSaveCredentialRequiresCurrentRevision(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	first := credentialOf(tenant)
	expect.NoError(t, s.callers.CreateCredential(t.Context(), first))

	changed := first
	changed.RevokedAt, changed.AllowedOrigins = now.Add(time.Hour), nil
	expect.NoError(t, s.callers.SaveCredential(t.Context(), changed))
	expect.Conflict(t, "saving with an old revision", s.callers.SaveCredential(t.Context(), first))

	changed.Rev = 2
	got, err := s.callers.Credential(t.Context(), tenant, first.ID)
	expect.NoError(t, err)
	if diff := cmp.Diff(changed, got); diff != "" {
		t.Errorf("credential (-want +got):\n%s", diff)
	}
	won := expect.Winners(t, 8, func(ctx context.Context, _ int) error { return s.callers.SaveCredential(ctx, got) })
	if won != 1 {
		t.Errorf("%d of 8 savers of one revision won, want 1", won)
	}
	unknown := credentialOf(tenant)
	unknown.ID = "unknown"
	expect.Conflict(t, "saving one that does not exist", s.callers.SaveCredential(t.Context(), unknown))
}

func TestSubscriptionsExcludesOtherTenants(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := make([]webhook.Subscription, 0, 2)
	for i := range 2 {
		sub := webhook.Subscription{
			ID: fmt.Sprintf("50000000-0000-4000-8000-00000000000%d", i), Tenant: tenant, URL: "https://alder.example/hook",
			Types: webhook.Required(), Disabled: i == 1, CreatedAt: now, Rev: 1,
			Secrets: []webhook.SealedSecret{{Sealed: []byte("new")}, {Sealed: []byte("old"), ExpiresAt: now.Add(time.Hour)}},
		}
		expect.NoError(t, s.hooks.CreateSubscription(t.Context(), sub))
		expect.Conflict(t, "creating it again", s.hooks.CreateSubscription(t.Context(), sub))
		want = append(want, sub)
	}
	// The organisation's row is in the same partition as its subscriptions.
	expect.NoError(t, s.organisations.CreateOrganisation(t.Context(), organisationA()))
	got, err := s.hooks.Subscriptions(t.Context(), tenant)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("subscriptions (-want +got):\n%s", diff)
	}
	for _, other := range foreignTenants() {
		got, err := s.hooks.Subscriptions(t.Context(), other)
		expect.NoError(t, err)
		if len(got) != 0 {
			t.Errorf("%v sees %d subscriptions of %v", other, len(got), tenant)
		}
	}
}

func TestRegistrationPrefersTenantRegistration(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	endpoint := catalog.Endpoint{
		ID: "endpoint", BrandID: "brand", PortalID: "portal", Name: "Alder Portal", FHIRBase: "https://fhir.example/r4",
		PlatformType: "sandbox", FHIRVersion: "4.0.1", Mode: "test", Status: catalog.EndpointActive, Rev: 1,
	}
	fresh := endpoint
	fresh.Rev = 0
	expect.NoError(t, s.portals.SaveEndpoint(t.Context(), fresh))
	expect.Conflict(t, "creating the endpoint again", s.portals.SaveEndpoint(t.Context(), fresh))
	got, err := s.portals.Endpoint(t.Context(), "endpoint")
	expect.NoError(t, err)
	if diff := cmp.Diff(endpoint, got); diff != "" {
		t.Errorf("endpoint (-want +got):\n%s", diff)
	}
	_, err = s.portals.Endpoint(t.Context(), "other")
	expect.NotFound(t, "another endpoint", err)

	endpoint.Overrides = "authorize: {aud: none}"
	expect.NoError(t, s.portals.SaveEndpoint(t.Context(), endpoint))
	expect.Conflict(t, "changing a revision that is gone", s.portals.SaveEndpoint(t.Context(), endpoint))
	endpoint.Rev = 2
	if got, err = s.portals.Endpoint(t.Context(), "endpoint"); err != nil || got != endpoint {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestRegistrationPrefersEndpointOverPlatform(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	at := catalog.Place{EndpointID: "endpoint"}
	platform := catalog.Place{Mode: "test", PlatformType: "Epic"}
	endpoint := catalog.Endpoint{ID: "endpoint", PlatformType: "epic", Mode: "test"}
	elsewhere := catalog.Endpoint{ID: "elsewhere", PlatformType: "epic", Mode: "test"}
	everybody, other := org.Tenant{}, org.Tenant{Mode: org.Test, OrgID: orgB}
	find := func(of org.Tenant, e catalog.Endpoint, want string) {
		t.Helper()
		got, err := s.portals.Registration(t.Context(), of, e)
		expect.NoError(t, err)
		if got.ClientID != want {
			t.Errorf("client id of %v at %s = %q, want %q", of, e.ID, got.ClientID, want)
		}
	}
	_, err := s.portals.Registration(t.Context(), tenant, endpoint)
	expect.NotFound(t, "a registration before there is one", err)
	for _, step := range []struct {
		owner org.Tenant
		place catalog.Place
		id    string
	}{
		{everybody, platform, "everybody's at the platform"},
		{everybody, at, "everybody's here"},
		{tenant, platform, "own at the platform"},
		{tenant, at, "own here"},
	} {
		r := catalog.Registration{Place: step.place, ClientID: step.id, Scope: "openid"}
		expect.NoError(t, s.portals.SaveRegistration(t.Context(), step.owner, r))
		expect.Conflict(t, "creating the registration again", s.portals.SaveRegistration(t.Context(), step.owner, r))
		find(tenant, endpoint, step.id)
	}
	find(other, endpoint, "everybody's here")
	find(other, elsewhere, "everybody's at the platform")
	find(tenant, elsewhere, "own at the platform")
	_, err = s.portals.Registration(t.Context(), tenant,
		catalog.Endpoint{ID: "elsewhere", PlatformType: "epic", Mode: "live"})
	expect.NotFound(t, "a registration of the other mode", err)

	expect.NoError(t, s.portals.SaveRegistration(t.Context(), tenant,
		catalog.Registration{Place: at, ClientID: "replaced", AuthID: "auth", Rev: 1}))
	got, err := s.portals.Registration(t.Context(), tenant, endpoint)
	expect.NoError(t, err)
	if diff := cmp.Diff(catalog.Registration{Place: at, ClientID: "replaced", AuthID: "auth", Rev: 2}, got); diff != "" {
		t.Errorf("registration (-want +got):\n%s", diff)
	}
}

func TestClientAuthReturnsOwnOrSharedClient(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	own := catalog.ClientAuth{ID: "own", Method: catalog.AuthSecretBasic, Secret: []byte("sealed")}
	shared := catalog.ClientAuth{ID: "shared", Method: catalog.AuthPrivateKey, Algorithm: "ES384", KeyID: "key"}
	expect.NoError(t, s.clients.SaveClientAuth(t.Context(), tenant, own))
	expect.NoError(t, s.clients.SaveClientAuth(t.Context(), org.Tenant{}, shared))
	expect.Conflict(t, "creating it again", s.clients.SaveClientAuth(t.Context(), tenant, own))
	_, err := s.clients.ClientAuth(t.Context(), org.Tenant{Mode: org.Live, OrgID: orgA}, "own")
	expect.NotFound(t, "the other mode's", err)
	_, err = s.clients.ClientAuth(t.Context(), org.Tenant{Mode: org.Test, OrgID: orgB}, "own")
	expect.NotFound(t, "another organisation's", err)
	own.Rev, shared.Rev = 1, 1
	for _, want := range []catalog.ClientAuth{own, shared} {
		got, err := s.clients.ClientAuth(t.Context(), tenant, want.ID)
		expect.NoError(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("client (-want +got):\n%s", diff)
		}
	}
}
