package platform_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/flow"
	"recordbridge/shared/smart/platform"
)

func TestABookKnowsThePlatformsManners(t *testing.T) {
	t.Parallel()
	book, err := platform.NewBook()
	if err != nil {
		t.Fatal(err)
	}
	const base, common = "https://ehr.example/r4/", "openid fhirUser launch/patient offline_access "
	v1 := flow.Authority{Scope: "patient/*.read", Access: "read"}
	listed := flow.Authority{Scope: "patient/Goal.rs patient/Patient.rs", Access: "rs"}
	for name, test := range map[string]struct {
		platform  string
		authority flow.Authority
		want      flow.Manners
	}{
		"unknown":                       {"someone-new", v1, flow.Manners{Aud: base, Scope: common + "patient/*.read"}},
		"unknown, with a list":          {"", listed, flow.Manners{Aud: base, Scope: common + listed.Scope}},
		"a wildcard":                    {"sandbox", v1, flow.Manners{Aud: base, Scope: common + "patient/*.read"}},
		"a wildcard that is not listed": {"sandbox", listed, flow.Manners{Aud: base, Scope: common + listed.Scope}},
		"chosen at registration":        {"Epic", v1, flow.Manners{Aud: base, Scope: "openid fhirUser"}},
		"no aud":                        {"nextgen", v1, flow.Manners{Scope: common + "patient/*.read"}},
		"no refresh token is asked for": {"meditech", v1, flow.Manners{Aud: base, Scope: "openid fhirUser launch/patient patient/*.read"}},
		"no aud, and types of its own":  {"quest", listed, flow.Manners{Scope: common + "patient/Patient.rs patient/Observation.rs patient/DiagnosticReport.rs"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, book.Manners(test.platform, base, test.authority)); diff != "" {
				t.Errorf("manners (-want +got):\n%s", diff)
			}
		})
	}
	if got := book.Manners("eclinicalworks", base, v1).Aud; got != strings.TrimRight(base, "/") {
		t.Errorf("aud %q, want it without the slash", got)
	}
	if !book.Manners("athena", base, v1).Nonce {
		t.Error("athenahealth wants a nonce")
	}
}
