package platform_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/platform"
)

func TestRegistryFindsPlatforms(t *testing.T) {
	t.Parallel()
	platforms, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	const base, common = "https://ehr.example/r4/", "openid fhirUser launch/patient offline_access "
	v1 := flow.Authority{Scope: "patient/*.read", Access: "read"}
	listed := flow.Authority{Scope: "patient/Goal.rs patient/Patient.rs", Access: "rs"}
	generic := func(scope string) flow.Profile {
		return flow.Profile{
			Aud: base, Scope: common + scope, Listed: scope == listed.Scope, RepeatScope: true,
			Extra: []string{"ah_practice"},
		}
	}
	for name, test := range map[string]struct {
		platform  string
		authority flow.Authority
		want      flow.Profile
	}{
		"unknown":              {"someone-new", v1, generic("patient/*.read")},
		"unknown, with a list": {"", listed, generic(listed.Scope)},
		"the generic one":      {platform.Generic, listed, generic(listed.Scope)},
		"a wildcard":           {"sandbox", v1, flow.Profile{Aud: base, Scope: common + "patient/*.read"}},
		"a wildcard that is not listed": {
			"sandbox", listed,
			flow.Profile{Aud: base, Scope: common + listed.Scope, Listed: true},
		},
		"chosen at registration": {
			"Epic", v1,
			flow.Profile{Aud: base, Scope: "openid fhirUser", Upstream: flow.Upstream{IntrospectBearer: true}},
		},
		"no aud": {"nextgen", v1, flow.Profile{Scope: common + "patient/*.read"}},
		"no refresh token is asked for": {
			"meditech", v1,
			flow.Profile{Aud: base, Scope: "openid fhirUser launch/patient patient/*.read"},
		},
		"no aud, and types of its own": {
			"quest", listed,
			flow.Profile{Scope: common + "patient/Patient.rs patient/Observation.rs patient/DiagnosticReport.rs"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, profile(t, platforms, test.platform, base, test.authority)); diff != "" {
				t.Errorf("profile (-want +got):\n%s", diff)
			}
		})
	}
	if got := profile(t, platforms, "eclinicalworks", base, v1).Aud; got != strings.TrimRight(base, "/") {
		t.Errorf("aud %q, want it without the slash", got)
	}
	if !profile(t, platforms, "athena", base, v1).Nonce {
		t.Error("athenahealth wants a nonce")
	}
}

func TestProfileReturnsUpstreamEndpoints(t *testing.T) {
	t.Parallel()
	platforms, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	const base, revoke, introspect = "https://ehr.example/r4", "https://ehr.example/revoke",
		"https://ehr.example/introspect"
	const tokenInfo = "https://authorization.cerner.com/tokeninfo"
	stated := flow.Authority{Revocation: revoke, Introspection: introspect, Scope: "patient/*.rs", Access: "rs"}
	silent := flow.Authority{Scope: "patient/*.rs", Access: "rs"}
	for name, test := range map[string]struct {
		platform  string
		authority flow.Authority
		want      flow.Upstream
	}{
		"unknown": {
			"someone-new", stated,
			flow.Upstream{Revocation: revoke, Introspection: introspect},
		},
		"unknown, nothing stated": {"someone-new", silent, flow.Upstream{}},
		"as discovery says":       {"sandbox", stated, flow.Upstream{Revocation: revoke, Introspection: introspect}},
		"with the access token": {
			"epic", stated,
			flow.Upstream{Revocation: revoke, Introspection: introspect, IntrospectBearer: true},
		},
		"an address of the profile":     {"cerner", silent, flow.Upstream{Introspection: tokenInfo}},
		"discovery before that":         {"cerner", stated, flow.Upstream{Revocation: revoke, Introspection: introspect}},
		"consent that lasts 13 months":  {"medicare", silent, flow.Upstream{Consent: 395 * 24 * time.Hour}},
		"in either case of its letters": {"Medicare", silent, flow.Upstream{Consent: 395 * 24 * time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, profile(t, platforms, test.platform, base, test.authority).Upstream); diff != "" {
				t.Errorf("upstream (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProfileOmitsChallengeUnlessServerAdvertisesS256(t *testing.T) {
	t.Parallel()
	for method, refuses := range map[string]bool{"S256": false, "none": true} {
		for _, declared := range []bool{false, true} {
			platforms := platform.RegistryOf(platform.Profile{ID: "one", Authorize: platform.Authorize{PKCE: method}})
			got := profile(t, platforms, "one", "https://ehr.example/r4", flow.Authority{S256: declared}).NoChallenge
			if want := refuses && !declared; got != want {
				t.Errorf("pkce %s, declared %t: no challenge %t, want %t", method, declared, got, want)
			}
		}
	}
}

func profile(t *testing.T, platforms platform.Registry, platformType, base string,
	authority flow.Authority,
) flow.Profile {
	t.Helper()
	got, err := platforms.Profile(catalog.Endpoint{PlatformType: platformType, FHIRBase: base}, authority)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
