package plan_test

import (
	"slices"
	"testing"

	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

func TestUnlistedReturnsTypesMissingFromCapabilityStatement(t *testing.T) {
	t.Parallel()
	stated := func(version string, types ...string) fhir.Capability {
		made := fhir.Capability{FHIRVersion: version}
		for _, one := range types {
			made.Resources = append(made.Resources, fhir.CapabilityResource{Type: one})
		}
		return made
	}
	for name, c := range map[string]struct {
		facts     plan.Facts
		has, lack []string
		none      bool
	}{
		"of R4": {
			facts: plan.Facts{Capability: stated("4.0.1", "Patient", "Condition")},
			has:   []string{"Claim", "Device", "Group"}, lack: []string{"Condition", "Patient", "Practitioner"},
		},
		"no statement": {facts: plan.Facts{}, none: true},
		"of STU3":      {facts: plan.Facts{Capability: stated("3.0.2", "Patient")}, none: true},
		"other types asked": {
			facts: plan.Facts{Capability: stated("4.0.1", "Patient"), Types: []string{"Claim"}},
			has:   []string{"Claim"}, lack: []string{"Group"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.facts.PatientID = "p1"
			queries := plan.Unlisted(c.facts)
			found := make([]string, 0, len(queries))
			for _, q := range queries {
				found = append(found, q.Type)
			}
			if c.none && len(found) > 0 || !slices.IsSorted(found) {
				t.Errorf("found %v", found)
			}
			for _, one := range c.has {
				if !slices.Contains(found, one) {
					t.Errorf("%s is not among %v", one, found)
				}
			}
			for _, one := range c.lack {
				if slices.Contains(found, one) {
					t.Errorf("%s is among %v", one, found)
				}
			}
		})
	}
}

func TestTrialRequestsSingleResource(t *testing.T) {
	t.Parallel()
	queries := plan.Unlisted(plan.Facts{PatientID: "p1", Types: []string{"Claim", "Group"}, Capability: fhir.Capability{
		FHIRVersion: "4.0.1", Resources: []fhir.CapabilityResource{{Type: "Patient"}},
	}})
	for i, want := range []string{"_count=1&patient=p1", "_count=1&member=Patient%2Fp1"} {
		trial := queries[i].Trial()
		if got := trial.Values().Encode(); got != want || !trial.IsTrial() {
			t.Errorf("%s, want %s", got, want)
		}
		if whole := trial.Whole(); whole != queries[i] || whole.IsTrial() {
			t.Errorf("%+v, want %+v", whole, queries[i])
		}
		trial.Count = 0
		if whole := trial.Whole(); whole.Values().Has("_count") {
			t.Errorf("a server that refuses _count is asked with it: %+v", whole)
		}
	}
}

func TestTrialOmitsRevInclude(t *testing.T) {
	t.Parallel()
	queries := plan.Unlisted(plan.Facts{
		PatientID: "p1", Types: []string{"Claim", "Provenance"},
		Capability: fhir.Capability{
			FHIRVersion: "4.0.1",
			Resources:   []fhir.CapabilityResource{{Type: "Goal", RevIncludes: []string{"Provenance:target"}}},
		},
	})
	if got := queries[0].Trial().Values().Encode(); got != "_count=1&patient=p1" {
		t.Errorf("the trial is %s", got)
	}
	if got := queries[0].Trial().Whole().Values().Encode(); got != "_count=100&_revinclude=Provenance%3Atarget&"+
		"patient=p1" {
		t.Errorf("the whole search is %s", got)
	}
}
