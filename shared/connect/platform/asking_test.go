package platform_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/fhir/plan"
)

func TestRequestProfileKeepsExtraFieldPlaceholders(t *testing.T) {
	t.Parallel()
	platforms, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	const practice = "Organization/{ah_practice}"
	for name, test := range map[string]struct {
		platform, overrides string
		query               map[string]string
		extra               []string
	}{
		"of the platform": {"athena", "", map[string]string{"ah-practice": practice}, []string{"ah_practice"}},
		"of the endpoint besides": {
			"Athena", "tokens: {extra: [ah_practice, site, unused]}\nfhir: {query: {where: '{site}:{site}/{ah_practice}', " +
				"plain: all}}",
			map[string]string{"ah-practice": practice, "where": "{site}:{site}/{ah_practice}", "plain": "all"},
			[]string{"ah_practice", "site"},
		},
		"of the endpoint alone": {
			"sandbox", "tokens: {extra: [clinic]}\nfhir: {query: {at: 'Location/{clinic}'}}",
			map[string]string{"at": "Location/{clinic}"},
			[]string{"clinic"},
		},
		"listed, but named by no placeholder": {
			"sandbox", "tokens: {extra: [clinic]}\nfhir: {query: {at: clinic}}",
			map[string]string{"at": "clinic"},
			nil,
		},
		"none": {"epic", "", nil, nil},
		"an unknown platform": {
			"nobody's", "tokens: {extra: [clinic]}\nfhir: {query: {ah-practice: '{clinic}'}}",
			map[string]string{"ah-practice": "{clinic}"},
			[]string{"clinic"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint := catalog.Endpoint{
				PlatformType: test.platform, FHIRBase: "https://ehr.example/r4",
				Overrides: test.overrides,
			}
			asking, err := platforms.Asking(endpoint)
			if err != nil {
				t.Fatal(err)
			}
			signingIn, err := platforms.Profile(endpoint, flow.Authority{Access: "rs"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.query, asking.Query) + cmp.Diff(test.extra, signingIn.Extra); diff != "" {
				t.Errorf("query and extra (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestProfileIsComplete(t *testing.T) {
	t.Parallel()
	platforms, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	got, err := platforms.Asking(catalog.Endpoint{
		PlatformType: "epic",
		Overrides: "fhir: {headers: {X-Own: yes}, no_count: [Goal], page_size: 250, by_id: [Location], rate: " +
			"{in_flight: 2}}",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := plan.Profile{
		NoCount: []string{"Goal"}, Needs: map[string][]string{"CarePlan": {"category"}, "Observation": {"category"}},
		Ways:     map[string][]string{"CarePlan": {"category=734163000", "category=38717003", "category=assess-plan"}},
		InFlight: 2, PageSize: 250, ByID: []string{"Location"}, OnceNext: true, Headers: map[string]string{"X-Own": "yes"},
		Denials: []plan.Denial{{Status: 403}, {Status: 400, Body: "suppressed"}, {Status: 404}},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("manners (-want +got):\n%s", diff)
	}
	if _, err := platforms.Asking(catalog.Endpoint{PlatformType: "epic", Overrides: "["}); err == nil {
		t.Error("broken overrides pass")
	}
}
