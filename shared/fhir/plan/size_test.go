package plan_test

import (
	"slices"
	"testing"

	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

func TestAlternativesTryDefaultPageSizeFirstWhenLargerFails(t *testing.T) {
	t.Parallel()
	goal := build(plan.Facts{Capability: server("Goal")}).Queries[0]
	for name, c := range map[string]struct {
		failed fhir.RequestError
		count  int
		want   []int // expected page sizes of the alternatives
	}{
		"too large":              {fhir.RequestError{Class: fhir.TooLarge}, 300, []int{100}},
		"too slow":               {fhir.RequestError{Class: fhir.Network}, 300, []int{100}},
		"too much for a gateway": {fhir.RequestError{Class: fhir.ServerFault, Status: 504}, 300, []int{100}},
		"not understood":         {fhir.RequestError{Class: fhir.Rejected, Status: 400}, 300, []int{100}},
		"too slow as usual":      {fhir.RequestError{Class: fhir.Network}, 100, nil},
		"no _count is known":     {fhir.RequestError{Class: fhir.Rejected, Refusal: fhir.NoCount}, 300, []int{0}},
		"refused":                {fhir.RequestError{Class: fhir.Forbidden, Refusal: fhir.Denied}, 300, nil},
		"not now":                {fhir.RequestError{Class: fhir.Limited}, 300, nil},
	} {
		instead := goal.Sized(c.count).Alternatives(&c.failed)
		got := make([]int, 0, len(instead))
		for _, q := range instead {
			got = append(got, q.Count)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: page sizes %v, want %v", name, got, c.want)
		}
	}
}

func TestByIDUsesCapabilityStatementOrProfile(t *testing.T) {
	t.Parallel()
	stated := server("Observation:patient,_id", "Practitioner:_id", "Organization:name", "Binary:_id",
		"Patient:_id", "Basic:_id")
	for name, c := range map[string]struct {
		facts plan.Facts
		want  []string
	}{
		"by the statement": {plan.Facts{Capability: stated}, []string{"Observation", "Practitioner"}},
		"by the profile, too": {
			plan.Facts{
				Capability: stated,
				Profile:    plan.Profile{ByID: []string{"Organization", "Practitioner"}},
			},
			[]string{"Observation", "Organization", "Practitioner"},
		},
		"as far as is granted": {
			plan.Facts{Capability: stated, Granted: "patient/Observation.rs patient/Practitioner.r"},
			[]string{"Observation"},
		},
		"without a statement": {plan.Facts{}, nil},
	} {
		if got := build(c.facts).ByID; !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
