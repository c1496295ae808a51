package platform_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/platform"
)

func TestDetectPrefersSoftwareOverHosts(t *testing.T) {
	t.Parallel()
	platforms, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		seen          platform.Seen
		want, because string
	}{
		"software": {
			platform.Seen{FHIRBase: "https://fhir.hospital.example/api/FHIR/R4", Software: "epic"},
			"epic",
			`the software "epic"`,
		},
		"software before hosts": {
			platform.Seen{FHIRBase: "https://fhir.humana.com/r4", Software: "Epic"},
			"epic", "software",
		},
		"a host that is named whole": {
			platform.Seen{FHIRBase: "https://FHIR-myrecord.cerner.com/r4/tenant"},
			"cerner",
			"fhir-myrecord.cerner.com is a host of Oracle Health",
		},
		"a host below one": {
			platform.Seen{FHIRBase: "https://oakapi.meditech.cloud:8443/v2"},
			"meditech",
			"oakapi.meditech.cloud",
		},
		"a host of the authorization server": {
			platform.Seen{
				FHIRBase:  "https://fhir.hospital.example/r4",
				Addresses: []string{"", "https://authorization.cerner.com/token"},
			}, "cerner", "authorization.cerner.com",
		},
		"a name that only ends alike": {platform.Seen{FHIRBase: "https://notcerner.com/r4"}, platform.Generic, "neither"},
		"a name that only begins so": {
			platform.Seen{FHIRBase: "https://fhir.epic.com.hospital.example/r4"},
			platform.Generic, "neither",
		},
		"nothing known": {platform.Seen{
			FHIRBase: "https://fhir.hospital.example/r4",
			Software: "HAPI FHIR Server",
		}, platform.Generic, "neither"},
	} {
		found, because := platforms.Detect(test.seen)
		if found.ID != test.want || !strings.Contains(because, test.because) {
			t.Errorf("%s: %s, because %s; want %s", name, found.ID, because, test.want)
		}
	}
}

func TestOriginsApplyOnlyToServersAtVendorHosts(t *testing.T) {
	t.Parallel()
	cerner, err := platform.Find("cerner")
	if err != nil {
		t.Fatal(err)
	}
	own := []string{"https://fhir-myrecord.cerner.com", "https://authorization.cerner.com"}
	if diff := cmp.Diff(own, cerner.Origins("https://fhir-myrecord.cerner.com:443/r4/tenant")); diff != "" {
		t.Errorf("at a host of the vendor (-want +got):\n%s", diff)
	}
	for _, base := range []string{
		"https://fhir.hospital.example/r4", "https://tenant.cerner.com/r4", "http://fhir-myrecord.cerner.com/r4",
		"https://fhir-myrecord.cerner.com:8443/r4",
	} {
		if known := cerner.Origins(base); len(known) > 0 {
			t.Errorf("%s: %v are trusted", base, known)
		}
	}
}

func TestGenericProfileUsesListedMethods(t *testing.T) {
	t.Parallel()
	generic, err := platform.Find(platform.Generic)
	if err != nil {
		t.Fatal(err)
	}
	got := generic.Listed([]string{"client_secret_post", "none"}, nil).Client
	if diff := cmp.Diff([]string{"client_secret_post", "public"}, got.Methods); diff != "" || len(got.Algorithms) != 2 {
		t.Errorf("methods (-want +got):\n%s; algorithms %v", diff, got.Algorithms)
	}
	if got := generic.Listed([]string{"private_key_jwt"}, []string{"ES384"}).Client.Algorithms; !slices.Equal(got,
		[]string{"ES384"}) {
		t.Errorf("algorithms %v", got)
	}
	if got := generic.Listed(nil, nil).Client.Methods; len(got) != 4 {
		t.Errorf("nothing listed leaves %v", got)
	}
	narrowed, err := generic.Listed([]string{"private_key_jwt"}, nil).With("client: {methods: [client_secret_basic]}")
	if err != nil || !slices.Equal(narrowed.Client.Methods, []string{"client_secret_basic"}) {
		t.Errorf("an override leaves %v (%v)", narrowed.Client.Methods, err)
	}
	epic, err := platform.Find("epic")
	if err != nil {
		t.Fatal(err)
	}
	if got := epic.Listed([]string{"client_secret_basic"}, nil).Client.Methods; slices.Contains(got,
		"client_secret_basic") {
		t.Errorf("a profile that knows better became %v", got)
	}
}
