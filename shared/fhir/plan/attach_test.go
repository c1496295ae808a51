package plan_test

import (
	"testing"

	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

func TestMayAttachReturnsFalseWhenRevIncludeIsListedOrUnsupported(t *testing.T) {
	t.Parallel()
	goal := fhir.CapabilityResource{Type: "Goal", SearchParams: []string{"patient"}}
	listing := goal
	listing.RevIncludes = []string{"Provenance:target"}
	stated := func(version string, resources ...fhir.CapabilityResource) fhir.Capability {
		return fhir.Capability{FHIRVersion: version, Resources: resources}
	}
	for name, c := range map[string]struct {
		facts plan.Facts
		want  bool
	}{
		"the statement omits it": {plan.Facts{Capability: stated("4.0.1", goal)}, true},
		"no statement":           {plan.Facts{}, true},
		"the statement lists it": {plan.Facts{Capability: stated("4.0.1", goal, listing)}, false},
		"it is learned":          {plan.Facts{Capability: stated("4.0.1", goal), Attaches: true}, false},
		"STU3":                   {plan.Facts{Capability: stated("3.0.2", goal)}, false},
		"$everything": {plan.Facts{
			Capability: stated("4.0.1", goal),
			Profile:    plan.Profile{Everything: true},
		}, false},
		"not wanted":  {plan.Facts{Capability: stated("4.0.1", goal), Types: []string{"Goal"}}, false},
		"not granted": {plan.Facts{Capability: stated("4.0.1", goal), Granted: "patient/Goal.rs"}, false},
		"granted":     {plan.Facts{Capability: stated("4.0.1", goal), Granted: "patient/*.rs"}, true},
	} {
		if got := plan.MayAttach(c.facts); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestAttachedRequiresProvenanceOrSelfLinkWithRevInclude(t *testing.T) {
	t.Parallel()
	q := plan.Attach("Goal", "p1")
	if got := q.Values().Encode(); got != "_count=100&_revinclude=Provenance%3Atarget&patient=p1" || !q.IsAttaching() {
		t.Errorf("asked: %s", got)
	}
	for page, want := range map[string]bool{
		`{"resourceType":"Bundle","link":[{"relation":"self","url":"https://ehr.example/Goal?patient=p1&` +
			`_revinclude=Provenance:target"}]}`: true,
		`{"resourceType":"Bundle","link":[{"relation":"self","url":"https://ehr.example/Goal?patient=p1"}]}`: false,
		`{"resourceType":"Bundle","link":[{"relation":"self","url":"://"}]}`:                                 false,
		`{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Goal","id":"g"}},` +
			`{"resource":{"resourceType":"Provenance","id":"v"}}]}`: true,
		`{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Goal","id":"g"}}]}`: false,
	} {
		found, err := fhir.ParseBundle([]byte(page))
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Attached(found); got != want {
			t.Errorf("%s: %t", page, got)
		}
	}
}
