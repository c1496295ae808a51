package platform_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/platform"
)

func TestProfilesMatchSchemaAndListSources(t *testing.T) {
	t.Parallel()
	all, err := platform.All()
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, 0, len(all))
	for _, p := range all {
		ids = append(ids, p.ID)
		if len(p.Unverified) == 0 && p.ID != "sandbox" {
			t.Errorf("%s claims that everything is known", p.ID)
		}
	}
	want := []string{
		"athena", "cerner", "cigna", "drchrono", "eclinicalworks", "epic", "healthit", //nolint:misspell // that is its name
		"humana", "kaiser", "medicare", "meditech", "nextgen", "quest", "sandbox", "smart", "va", "veradigm",
	}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func TestFindErrorListsKnownPlatforms(t *testing.T) {
	t.Parallel()
	_, err := platform.Find("epc")
	if err == nil || !strings.Contains(err.Error(), `"epc"`) || !strings.Contains(err.Error(), "epic") {
		t.Errorf("got %v", err)
	}
}

func TestScopeUsesPlatformVersion(t *testing.T) {
	t.Parallel()
	tests := []struct{ id, access, want string }{
		{"sandbox", "read", "openid fhirUser launch/patient offline_access patient/*.read"},
		{"sandbox", "rs", "openid fhirUser launch/patient offline_access patient/*.rs"},
		{"quest", "rs", "openid fhirUser launch/patient offline_access patient/Patient.rs patient/Observation.rs " +
			"patient/DiagnosticReport.rs"},
		{"epic", "read", "openid fhirUser"},
	}
	for _, tt := range tests {
		p, err := platform.Find(tt.id)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Scope(tt.access); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.id, got, tt.want)
		}
	}
}
