package operator_test

import (
	"slices"
	"testing"

	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func (r *fixture) client(t *testing.T, method catalog.AuthMethod, origins ...string) string {
	t.Helper()
	made, plain := catalog.ClientAuth{Method: method, Origins: origins}, secret.New("a secret")
	if method == catalog.AuthPrivateKey {
		made.Algorithm, plain = "RS384", secret.Text{}
	}
	id, err := r.operator.Clients.Create(t.Context(), org.Tenant{}, made, plain)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (r *fixture) register(t *testing.T, place catalog.Place, authID string) error {
	t.Helper()
	_, err := r.operator.Registrations.Set(t.Context(), org.Tenant{}, place,
		operator.Change{ClientID: new("ours"), AuthID: &authID})
	return err
}

func TestRegistrationSetAcceptsAuthMethodsFromDiscoveryOrOverrides(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	const origin = "https://fhir.hospital.example"
	post, key := r.client(t, catalog.AuthSecretPost, origin), r.client(t, catalog.AuthPrivateKey)
	r.servers.at(t, base, "", map[string]any{"token_endpoint_auth_methods_supported": []string{"client_secret_post"}})
	wanted := institution(base)
	wanted.Registration.AuthID = key
	_, err := r.operator.Endpoints.Create(t.Context(), wanted)
	says(t, err, "doesn't accept private_key_jwt clients. It accepts client_secret_post, public.")
	wanted.Registration.AuthID = post
	made, err := r.operator.Endpoints.Create(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	place := catalog.Place{EndpointID: made.Endpoint.ID, Mode: "test"}
	says(t, r.register(t, place, key), "doesn't accept private_key_jwt")
	if _, err = r.operator.Endpoints.Change(t.Context(), made.Endpoint.ID,
		operator.EndpointChange{Overrides: new("client: {methods: [private_key_jwt]}")}); err != nil {
		t.Fatal(err)
	}
	says(t, r.register(t, place, post), "doesn't accept client_secret_post clients. It accepts private_key_jwt.")
	if err = r.register(t, place, key); err != nil {
		t.Error(err)
	}
	wanted.Endpoint.Overrides, wanted.Again = "client: {methods: [client_secret_basic]}", true
	_, err = r.operator.Endpoints.Create(t.Context(), wanted)
	says(t, err, "It accepts client_secret_basic.")
}

func TestRegistrationSetRejectsSecretOutsideItsOrigins(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	everywhere := catalog.Place{PlatformType: "medicare", Mode: "test"}
	old := catalog.ClientAuth{ID: "old", Method: catalog.AuthSecretBasic, Secret: []byte("sealed")}
	if err := store.Clients(r.control).SaveClientAuth(t.Context(), org.Tenant{}, old); err != nil {
		t.Fatal(err)
	}
	says(t, r.register(t, everywhere, old.ID), "client set -id old")
	if _, err := r.operator.Clients.SetOrigins(t.Context(), org.Tenant{}, old.ID,
		[]string{"https://Other.example:443/"}); err != nil {
		t.Fatal(err)
	}
	if err := r.register(t, everywhere, old.ID); err != nil {
		t.Errorf("after its origins were named: %v", err)
	}
	r.servers.at(t, base, "", nil)
	wanted := institution(base)
	wanted.Endpoint.PlatformType, wanted.Registration = "medicare", catalog.Registration{}
	_, err := r.operator.Endpoints.Create(t.Context(), wanted) // uses the platform's registration
	says(t, err, "client set -id old -origin https://other.example -origin https://fhir.hospital.example.")
	wanted.Registration = catalog.Registration{ClientID: "its own", AuthID: old.ID}
	_, err = r.operator.Endpoints.Create(t.Context(), wanted)
	says(t, err, "may be sent only to https://other.example")
	if _, err = r.operator.Clients.SetOrigins(t.Context(), org.Tenant{}, old.ID,
		[]string{"https://other.example", "https://fhir.hospital.example"}); err != nil {
		t.Fatal(err)
	}
	if _, err = r.operator.Endpoints.Create(t.Context(), wanted); err != nil {
		t.Error(err)
	}
	_, err = r.operator.Clients.SetOrigins(t.Context(), org.Tenant{}, old.ID, nil)
	says(t, err, "needs the origins")
	kept, err := store.Clients(r.control).ClientAuthOf(t.Context(), org.Tenant{}, old.ID)
	if err != nil || len(kept.Origins) != 2 || string(kept.Secret) != "sealed" {
		t.Errorf("kept %+v (%v)", kept, err)
	}
	if rows := r.audited(); !slices.Contains(rows, "client.origins_set old") ||
		!slices.Contains(rows, "registration.set medicare") {
		t.Errorf("the audit rows are %q", rows)
	}
}

func TestRegistrationSetKeepsSharedCallbackUntilSwitched(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	place := catalog.Place{PlatformType: "epic", Mode: "test"}
	if err := store.Portals(r.control).SaveRegistration(t.Context(), org.Tenant{},
		catalog.Registration{Place: place, ClientID: "old", Scope: "openid"}); err != nil {
		t.Fatal(err)
	}
	const plain = us + "/bridge/callback"
	set, err := r.operator.Registrations.Set(t.Context(), org.Tenant{}, place, operator.Change{ClientID: new("new")})
	if err != nil || set.CallbackAddress != plain || set.Registration.Scope != "openid" ||
		set.Registration.ClientID != "new" {
		t.Errorf("changed to %+v (%v), want the plain address and the scope of before", set, err)
	}
	address, registered, err := r.operator.Registrations.Callback(t.Context(), org.Tenant{}, place)
	if address != plain || !registered || err != nil {
		t.Errorf("told %s, %v (%v)", address, registered, err)
	}
	own := plain + "/" + catalog.CallbackOf("*", place)
	if set, err = r.operator.Registrations.Set(t.Context(), org.Tenant{}, place,
		operator.Change{OwnCallback: true}); err != nil || set.CallbackAddress != own {
		t.Errorf("gone over to %s (%v), want %s", set.CallbackAddress, err, own)
	}
	kept, err := store.Portals(r.control).RegistrationAt(t.Context(), org.Tenant{}, place)
	if err != nil || kept.Callback != catalog.CallbackOf("*", place) || kept.ClientID != "new" {
		t.Errorf("kept %+v (%v)", kept, err)
	}
}

func TestRegistrationSetUsesPreviouslyAnnouncedCallback(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	owned, err := r.operator.Organisations.Create(t.Context(), org.Organisation{Name: "Alder Clinic App", Plan: org.Free})
	if err != nil {
		t.Fatal(err)
	}
	place, addresses := catalog.Place{PlatformType: "Epic", Mode: "test"}, map[string]bool{}
	for _, owner := range []org.Tenant{{}, {Mode: org.Test, OrgID: owned.ID}} {
		told, registered, err := r.operator.Registrations.Callback(t.Context(), owner, place)
		if err != nil || registered {
			t.Errorf("told that there is one: %v (%v)", registered, err)
		}
		set, err := r.operator.Registrations.Set(t.Context(), owner, place, operator.Change{ClientID: new("ours")})
		if err != nil || set.CallbackAddress != told || set.Registration.Callback == "" {
			t.Errorf("patients return to %s, and %s was told (%v)", set.CallbackAddress, told, err)
		}
		addresses[told] = true
	}
	if len(addresses) != 2 {
		t.Errorf("everybody's and an organisation's share one address: %v", addresses)
	}
}
