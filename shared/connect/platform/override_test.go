package platform_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/platform"
)

func TestOverridesTakePrecedenceOverPlatform(t *testing.T) {
	t.Parallel()
	all, err := platform.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range all {
		same, err := profile.With("  ")
		if err != nil || !cmp.Equal(profile, same) {
			t.Errorf("%s without overrides: %v\n%s", profile.ID, err, cmp.Diff(profile, same))
		}
		got, err := profile.With("tokens: {consent: 48h}\nfhir: {headers: {X-Own: yes}, rate: {per_second: 3}}")
		if err != nil {
			t.Fatalf("%s: %v", profile.ID, err)
		}
		if _, leaked := profile.FHIR.Headers["X-Own"]; leaked {
			t.Errorf("%s: the profile itself was changed", profile.ID)
		}
		if got.Tokens.Consent != 48*time.Hour || got.FHIR.Headers["X-Own"] != "yes" || got.FHIR.Rate.PerSecond != 3 {
			t.Errorf("%s: %+v %+v", profile.ID, got.Tokens, got.FHIR)
		}
		got.Tokens.Consent, got.FHIR.Headers, got.FHIR.Rate.PerSecond = profile.Tokens.Consent, profile.FHIR.Headers,
			profile.FHIR.Rate.PerSecond
		if diff := cmp.Diff(profile, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: something else changed (-want +got):\n%s", profile.ID, diff)
		}
	}
}

func TestOverridesApplyToAuthorizationRequest(t *testing.T) {
	t.Parallel()
	platforms, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	e := catalog.Endpoint{PlatformType: "cerner", FHIRBase: "https://ehr.example/r4/"}
	e.Overrides = "authorize: {aud: trimmed, nonce: true, types: [Patient], scopes: [openid]}\ntokens: {consent: 720h, " +
		"introspection: bearer}\nclient: {basic: raw}"
	got, err := platforms.Profile(e, flow.Authority{Access: "rs"})
	if err != nil {
		t.Fatal(err)
	}
	want := flow.Profile{
		Aud: "https://ehr.example/r4", Nonce: true, RawBasic: true, Scope: "openid patient/Patient.rs",
		Upstream: flow.Upstream{Introspection: got.Upstream.Introspection, IntrospectBearer: true, Consent: 720 * time.Hour},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("manners (-want +got):\n%s", diff)
	}
	e.Overrides = "authorize: {aud: sometimes}"
	if _, err = platforms.Profile(e, flow.Authority{}); err == nil {
		t.Error("broken overrides pass")
	}
	e.PlatformType = "nobody's"
	e.Overrides = "authorize: {aud: none}"
	if got, err = platforms.Profile(e, flow.Authority{}); err != nil || got.Aud != "" {
		t.Errorf("at an unknown platform: aud %q, %v", got.Aud, err)
	}
}

func TestWithRejectsInvalidOverrides(t *testing.T) {
	t.Parallel()
	profile, err := platform.Find("sandbox")
	if err != nil {
		t.Fatal(err)
	}
	for overrides, says := range map[string]string{
		"authorize: {aud: sometimes}":         "aud",
		"authorize: {audience: none}":         "audience",
		"authorize: {types: [Patient]}":       "wildcard",
		"[":                                   "overrides of platform sandbox",
		"none":                                "overrides of platform sandbox",
		"tokens: {consent: for ever}":         "Duration",
		"client: {methods: [mutual_tls]}":     "client.methods",
		"client: {basic: encoded}":            "client.basic",
		"name: ''":                            "name",
		"fhir: {query: {x: '{practice_id}'}}": "tokens.extra",
	} {
		if _, err := profile.With(overrides); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want an error about %s", overrides, err, says)
		}
	}
}
