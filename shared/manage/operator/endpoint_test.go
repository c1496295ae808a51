package operator_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func TestCreateEndpointPinsDiscovery(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.servers.at(t, base, "", nil)
	made, err := r.operator.Endpoints.Create(t.Context(), institution(base))
	if err != nil {
		t.Fatal(err)
	}
	id, err := operator.EndpointID("test", "https://FHIR.hospital.example:443/r4/")
	if err != nil || made.Endpoint.ID != id {
		t.Errorf("the id is %s, want %s (%v)", made.Endpoint.ID, id, err)
	}
	const origin = "https://fhir.hospital.example"
	stored, err := store.Portals(r.control).Endpoint(t.Context(), id)
	want := catalog.Pins{Issuer: base, Authorization: origin, Token: origin}
	if diff := cmp.Diff(want, stored.Pins); err != nil || diff != "" || stored.PlatformType != "smart" ||
		stored.Status != catalog.EndpointActive {
		t.Errorf("stored %+v (%v); pins (-want +got):\n%s", stored, err, diff)
	}
	registered, err := store.Portals(r.control).RegistrationAt(t.Context(), org.Tenant{}, catalog.Place{EndpointID: id})
	if address := us + "/bridge/callback/" + registered.Callback; err != nil || registered.Callback == "" ||
		made.Callback != address {
		t.Errorf("patients return to %s, and %+v (%v)", made.Callback, registered, err)
	}
	if got, want := r.audited(), []string{"registration.set " + id, "endpoint.created " + id}; !same(got, want) {
		t.Errorf("the audit rows are %q, want %q", got, want)
	}
}

// same compares audit rows regardless of order, because these tests give every row the same time.
func same(got, want []string) bool {
	slices.Sort(got)
	slices.Sort(want)
	return slices.Equal(got, want)
}

func TestCreateEndpointRejectsForeignURLsUnlessListed(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.servers.at(t, base, "", elsewhere(login))
	wanted := institution(base)
	_, err := r.operator.Endpoints.Create(t.Context(), wanted)
	says(t, err, "issuer ", "authorization ", "token ", "keys ", "-> "+login, "-origin "+login)
	wanted.Approved.Origins = []string{"https://other.hospital.example"}
	_, err = r.operator.Endpoints.Create(t.Context(), wanted)
	says(t, err, "token ")
	id, _ := operator.EndpointID("test", base)
	if _, err = store.Portals(r.control).Endpoint(t.Context(), id); !errors.Is(err, fault.NotFound) {
		t.Errorf("after two refusals there is an endpoint: %v", err)
	}
	wanted.Approved.Origins = []string{login + "/"}
	made, err := r.operator.Endpoints.Create(t.Context(), wanted)
	if want := (catalog.Pins{Issuer: login + "/i", Authorization: login, Token: login, Keys: login}); err != nil ||
		made.Endpoint.Pins != want {
		t.Errorf("named, it is pinned to %+v (%v)", made.Endpoint.Pins, err)
	}
}

func TestCreateEndpointAcceptsVendorHosts(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	const tenant, authorization = "https://fhir-myrecord.cerner.com/r4/tenant", "https://authorization.cerner.com"
	r.servers.at(t, tenant, "", elsewhere(authorization))
	made, err := r.operator.Endpoints.Create(t.Context(), institution(tenant))
	if err != nil || made.Endpoint.PlatformType != "cerner" || made.Endpoint.Pins.Token != authorization {
		t.Errorf("made %+v (%v)", made, err)
	}
	r.servers.at(t, base, "", elsewhere(authorization))
	wanted := institution(base)
	wanted.Endpoint.PlatformType = "cerner"
	_, err = r.operator.Endpoints.Create(t.Context(), wanted)
	says(t, err, "-origin "+authorization)
}

func TestCreateEndpointRejectsDiscoveryAtOwnHost(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	const other = "https://CTL-api.execute-api.us-east-1.amazonaws.com.:443/v1/bridge/connect"
	for _, address := range []string{us + "/bridge/connect", us + "/sandbox/oauth/authorize", other} {
		r.servers.at(t, base, "", map[string]any{"authorization_endpoint": address})
		wanted := institution(base)
		wanted.Approved.Origins = []string{us, other}
		_, err := r.operator.Endpoints.Create(t.Context(), wanted)
		says(t, err, "a URL of this service")
	}
	sandbox := us + "/sandbox/with/no-total/fhir"
	r.servers.at(t, sandbox, "", map[string]any{"authorization_endpoint": us + "/sandbox/with/no-total/oauth/authorize"})
	if _, err := r.operator.Endpoints.Create(t.Context(), institution(sandbox)); err != nil {
		t.Errorf("the sandbox: %v", err)
	}
	r.servers.at(t, sandbox, "", map[string]any{"authorization_endpoint": us + "/bridge/connect"})
	again := institution(sandbox)
	again.Again = true
	_, err := r.operator.Endpoints.Create(t.Context(), again)
	says(t, err, "a URL of this service")
}

func TestCheckBaseRejectsUnsafeFHIRBase(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	for at, want := range map[string]string{
		"":                                    "needs a FHIR base",
		"fhir.hospital.example/r4":            "must be an absolute URL",
		"ftp://fhir.hospital.example/r4":      `the scheme "ftp"`,
		"http://fhir.hospital.example/r4":     "live mode requires https",
		"https://me:pw@hospital.example/r4":   "user name or password",
		"https://fhir.hospital.example/r4?x=": "a query",
		"https://fhir.hospital.example/r4#x":  "query or fragment",
		"https://fhir.hospital.example/../r4": "servers interpret differently",
		us + "/bridge":                        "a URL of this service",
		us + "/sandbox/fhir":                  "in test mode",
	} {
		wanted := institution(at)
		wanted.Endpoint.Mode, wanted.Unpinned = "live", true
		_, err := r.operator.Endpoints.Create(t.Context(), wanted)
		says(t, err, want)
		if err != nil && strings.Contains(err.Error(), "pw@") {
			t.Errorf("the password is repeated: %v", err)
		}
	}
}

func TestCreateEndpointRejectsDuplicateFHIRBaseUnlessForced(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.servers.at(t, base, "", nil)
	first, err := r.operator.Endpoints.Create(t.Context(), institution(base))
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.operator.Endpoints.Create(t.Context(), institution(base))
	says(t, err, first.Endpoint.ID, "-again")
	wanted := institution(base)
	wanted.Again = true
	second, err := r.operator.Endpoints.Create(t.Context(), wanted)
	if err != nil || second.Endpoint.ID == first.Endpoint.ID {
		t.Errorf("the second is %+v (%v)", second.Endpoint, err)
	}
}

func TestCreateEndpointAllowsUnpinnedEndpointWhenServerIsDown(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	wanted := institution(base)
	_, err := r.operator.Endpoints.Create(t.Context(), wanted)
	says(t, err, "-unpinned")
	wanted.Unpinned = true
	made, err := r.operator.Endpoints.Create(t.Context(), wanted)
	if err != nil || made.Endpoint.Pins != (catalog.Pins{}) ||
		!strings.Contains(made.Note, "none of its URLs are pinned") {
		t.Fatalf("made %+v (%v)", made, err)
	}
	id := made.Endpoint.ID
	r.servers.at(t, base, "", elsewhere(login))
	_, err = r.operator.Endpoints.Approve(t.Context(), id, operator.Approval{})
	says(t, err, "nothing was stored", "-origin "+login)
	if _, err = r.operator.Endpoints.Approve(t.Context(), id, operator.Approval{Origins: []string{login}}); err != nil {
		t.Fatal(err)
	}
	if e, err := r.operator.Endpoints.Show(t.Context(), id); err != nil || e.Pins.Token != login {
		t.Errorf("pinned to %+v (%v)", e.Pins, err)
	}
}

func TestCreateEndpointDetectsPlatformUnlessSpecified(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.servers.at(t, base, "Epic", nil)
	made, err := r.operator.Endpoints.Create(t.Context(), institution(base))
	if err != nil || made.Endpoint.PlatformType != "epic" || !strings.Contains(made.Because, `"Epic"`) || made.Note != "" {
		t.Errorf("made %+v (%v)", made, err)
	}
	wanted := institution(base)
	wanted.Endpoint.PlatformType, wanted.Again = "NextGen", true
	made, err = r.operator.Endpoints.Create(t.Context(), wanted)
	if err != nil || made.Endpoint.PlatformType != "nextgen" ||
		!strings.Contains(made.Note, "the detected platform would be epic") {
		t.Errorf("made %+v (%v)", made, err)
	}
	wanted.Endpoint.PlatformType = "epc"
	_, err = r.operator.Endpoints.Create(t.Context(), wanted)
	says(t, err, "there are athena")
}

// TestDisableAndEnableOverrideWithdrawal checks that an operator's decision overrides the suspension of an endpoint by
// a publication. A disabled endpoint remains disabled if a list includes it again. An enabled endpoint remains active
// even if no list includes it.
func TestDisableAndEnableOverrideWithdrawal(t *testing.T) {
	t.Parallel()
	for status, say := range map[catalog.EndpointStatus]func(operator.Endpoints, context.Context, string) error{
		catalog.EndpointSuspended: operator.Endpoints.Disable, catalog.EndpointActive: operator.Endpoints.Enable,
	} {
		r := newFixture(t)
		r.servers.at(t, base, "", nil)
		made, err := r.operator.Endpoints.Create(t.Context(), institution(base))
		expect.NoError(t, err)
		withdrawn, err := store.Portals(r.control).Endpoint(t.Context(), made.Endpoint.ID)
		expect.NoError(t, err)
		withdrawn.Status, withdrawn.Withdrawn = catalog.EndpointSuspended, true
		expect.NoError(t, store.Portals(r.control).SaveEndpoint(t.Context(), withdrawn))
		expect.NoError(t, say(r.operator.Endpoints, t.Context(), withdrawn.ID))
		e, err := store.Portals(r.control).Endpoint(t.Context(), withdrawn.ID)
		if err != nil || e.Status != status || e.Withdrawn {
			t.Errorf("%s: %s, withdrawn %v (%v)", status, e.Status, e.Withdrawn, err)
		}
		says(t, say(r.operator.Endpoints, t.Context(), withdrawn.ID), "already "+string(status))
	}
}
