package plan_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// laden returns a search for a type with all optional parameters.
func laden(resourceType string) plan.Query {
	stated := server(resourceType + ":patient,_lastUpdated")
	stated.Resources[0].RevIncludes = []string{"Provenance:target"}
	return build(plan.Facts{Capability: stated, Since: time.Unix(0, 0)}).Queries[0]
}

func TestAlternativesDependOnRejectionReason(t *testing.T) {
	t.Parallel()
	const extras = "_lastUpdated=ge1970-01-01T00%3A00%3A00Z&_revinclude=Provenance%3Atarget&"
	plain := func(resourceType string) plan.Query {
		return build(plan.Facts{Capability: server(resourceType)}).Queries[0]
	}
	uncounted := build(plan.Facts{
		Capability: server("CareTeam"), Profile: plan.Profile{NoCount: []string{"CareTeam"}},
	}).Queries[0]
	needs := fhir.RequestError{Class: fhir.Rejected, Refusal: fhir.NeedsMore}
	count := fhir.RequestError{Class: fhir.Rejected, Refusal: fhir.NoCount}
	large := fhir.RequestError{Class: fhir.TooLarge}
	forbidden := fhir.RequestError{Class: fhir.Forbidden}
	elsewhere := fhir.RequestError{Class: fhir.ForeignLink}
	tests := map[string]struct {
		query    plan.Query
		refusals []fhir.RequestError // successive refusals, each of the previously refused query's first alternative
		want     []string
	}{
		"_count is not known":    {plain("Goal"), []fhir.RequestError{count}, []string{"Goal?patient=p"}},
		"_count is not known: 2": {plain("Goal"), []fhir.RequestError{count, count}, nil},
		"_count is not known, then a category is missing": {
			plain("DocumentReference"),
			[]fhir.RequestError{count, needs},
			[]string{"DocumentReference?category=clinical-note&patient=p"},
		},
		"_count is blamed without being there": {
			uncounted, []fhir.RequestError{count}, []string{"CareTeam?patient=p&status=active"},
		},
		"too large": {plain("Goal"), []fhir.RequestError{large}, []string{"Goal?_count=25&patient=p"}},
		"too large: 2": {
			plain("Goal"),
			[]fhir.RequestError{large, large},
			[]string{"Goal?_count=6&patient=p"},
		},
		"too large: 3": {
			plain("Goal"),
			[]fhir.RequestError{large, large, large},
			[]string{"Goal?_count=1&patient=p"},
		},
		"too large: 4":                     {plain("Goal"), []fhir.RequestError{large, large, large, large}, nil},
		"too large without _count":         {uncounted, []fhir.RequestError{large}, []string{"CareTeam?_count=25&patient=p"}},
		"too large, and _count is refused": {uncounted, []fhir.RequestError{large, count}, nil},
		"_count is refused, then too large": {
			plain("Goal"), []fhir.RequestError{count, large}, nil,
		},
		"a parameter is missing": {
			plain("Condition"), []fhir.RequestError{needs}, []string{
				"Condition?category=problem-list-item&patient=p", "Condition?category=health-concern&patient=p",
				"Condition?category=encounter-diagnosis&patient=p",
			},
		},
		"a parameter is missing, told by a fault": {
			plain("MedicationRequest"),
			[]fhir.RequestError{{Class: fhir.ServerFault, Status: 500, Refusal: fhir.NeedsMore}},
			[]string{"MedicationRequest?intent=order,plan&patient=p"},
		},
		"a parameter is missing: conveniences stay": {
			laden("Appointment"),
			[]fhir.RequestError{needs},
			[]string{"Appointment?" + extras + "date=ge1900-01-01&patient=p"},
		},
		"a part is refused with its conveniences": {
			laden("Appointment"),
			[]fhir.RequestError{needs, forbidden},
			[]string{"Appointment?date=ge1900-01-01&patient=p"},
		},
		"unexplained: conveniences go first": {
			laden("Appointment"), []fhir.RequestError{forbidden}, []string{"Appointment?patient=p"},
		},
		"unexplained: then in parts": {
			laden("Appointment"),
			[]fhir.RequestError{forbidden, {Class: fhir.NotFound}},
			[]string{"Appointment?date=ge1900-01-01&patient=p"},
		},
		"unexplained without conveniences: a _count may help again": {
			laden("Goal"), []fhir.RequestError{count, forbidden, large}, []string{"Goal?_count=25&patient=p"},
		},
		"unexplained: a part is given up": {plain("Condition"), []fhir.RequestError{needs, forbidden}, nil},
		"a part is too large": {
			plain("CareTeam"),
			[]fhir.RequestError{needs, large},
			[]string{"CareTeam?_count=25&patient=p&status=active"},
		},
		"the next link leads elsewhere": {
			laden("Goal"),
			[]fhir.RequestError{elsewhere},
			[]string{"Goal?_count=1000&" + extras + "patient=p"},
		},
		"so much is too much": {
			plain("Goal"),
			[]fhir.RequestError{elsewhere, {Class: fhir.Network}},
			[]string{"Goal?_count=300&patient=p"},
		},
		"less is so, too": {
			plain("Goal"),
			[]fhir.RequestError{elsewhere, large, {Class: fhir.Rejected}},
			nil,
		},
		"there is more, and it is elsewhere": {plain("Goal"), []fhir.RequestError{elsewhere, elsewhere}, nil},
		"elsewhere, and no _count":           {plain("Goal"), []fhir.RequestError{count, elsewhere}, nil},
		"a part knows no _count": {
			plain("CareTeam"),
			[]fhir.RequestError{needs, count},
			[]string{"CareTeam?patient=p&status=active"},
		},
		"unexplained: nothing is narrower":   {plain("Goal"), []fhir.RequestError{forbidden}, nil},
		"a type without parts, conveniences": {laden("Goal"), []fhir.RequestError{needs}, []string{"Goal?patient=p"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queries := []plan.Query{test.query}
			for _, refusal := range test.refusals {
				queries = queries[0].Alternatives(&refusal)
			}
			if test.want == nil && queries == nil {
				return
			}
			check(t, queries, test.want...)
		})
	}
}

func TestAlternativesAreEmptyAfterFinalRejection(t *testing.T) {
	t.Parallel()
	final := []fhir.RequestError{
		{Class: fhir.Forbidden, Refusal: fhir.Denied},
		{Class: fhir.Rejected, Refusal: fhir.Denied},
		{Class: fhir.ServerFault, Refusal: fhir.Denied},
		{Class: fhir.NotFound, Refusal: fhir.Unsupported},
		{Class: fhir.NotFound, Refusal: fhir.Missing},
		{Class: fhir.Unauthorized},
		{Class: fhir.Unauthorized, Refusal: fhir.NeedsMore},
		{Class: fhir.Gone},
		{Class: fhir.Limited},
		{Class: fhir.ServerFault},
		{Class: fhir.Content},
		{Class: fhir.Network},
	}
	for _, refusal := range final {
		if got := laden("Observation").Alternatives(&refusal); got != nil {
			t.Errorf("after %s %q is asked %v", refusal.Class, refusal.Refusal, asked(got))
		}
	}
}

func TestAlternativesReducePageSizeOfEverythingOperation(t *testing.T) {
	t.Parallel()
	whole := build(plan.Facts{Profile: plan.Profile{Everything: true}}).Queries[0]
	if whole.Type != "" {
		t.Fatal("not a whole record:", whole)
	}
	check(t, whole.Alternatives(&fhir.RequestError{Class: fhir.TooLarge}), "Patient/p/$everything?_count=25")
	if got := whole.Alternatives(&fhir.RequestError{Class: fhir.NotFound}); got != nil {
		t.Error("asked instead:", asked(got))
	}
}

func TestAlternativesDoNotNarrowPlatformQuery(t *testing.T) {
	t.Parallel()
	way := build(plan.Facts{
		Capability: server("Observation"),
		Profile:    plan.Profile{Ways: map[string][]string{"Observation": {"category=laboratory"}}},
	}).Queries[0]
	if got := way.Alternatives(&fhir.RequestError{Class: fhir.Rejected}); got != nil {
		t.Error("asked instead:", asked(got))
	}
}

// TestAlternativesAlwaysTerminate uses arbitrary sequences of refusals. No search may be sent twice, every search must
// name the patient, and the sequence of fallbacks must end.
func TestAlternativesAlwaysTerminate(t *testing.T) {
	t.Parallel()
	classes := []fhir.Class{
		fhir.Unauthorized, fhir.Forbidden, fhir.NotFound, fhir.Gone, fhir.Limited, fhir.Rejected, fhir.ServerFault,
		fhir.Content, fhir.TooLarge, fhir.ForeignLink, fhir.Network,
		// failures that have alternatives are repeated to reach later steps
		fhir.TooLarge, fhir.Rejected, fhir.Rejected, fhir.Forbidden,
	}
	refusals := []fhir.Refusal{
		fhir.Unexplained, fhir.NeedsMore, fhir.NoCount, fhir.Denied, fhir.Unsupported, fhir.Missing,
		fhir.Unexplained, fhir.NeedsMore, fhir.NoCount,
	}
	types := []string{"Observation", "Condition", "CareTeam", "MedicationRequest", "Appointment", "Goal", "ServiceRequest"}
	rapid.Check(t, func(r *rapid.T) {
		resourceType := rapid.SampledFrom(types).Draw(r, "type")
		stated := server(resourceType + ":patient,_lastUpdated")
		stated.FHIRVersion = rapid.SampledFrom([]string{"1.0.2", "3.0.1", "4.0.1", ""}).Draw(r, "version")
		stated.Resources[0].RevIncludes = []string{"Provenance:target"}
		facts := plan.Facts{Capability: stated}
		if rapid.Bool().Draw(r, "since") {
			facts.Since = time.Unix(0, 0)
		}
		facts.Profile.Everything = rapid.Bool().Draw(r, "everything")
		if rapid.Bool().Draw(r, "no count") {
			facts.Profile.NoCount = []string{resourceType}
		}
		if rapid.Bool().Draw(r, "needs") {
			facts.Profile.Needs = map[string][]string{resourceType: {"category", "status"}}
		}
		waiting, seen := build(facts).Queries, map[string]bool{}
		limit := 250 + len(waiting)*10 // 17 categories with 7 page sizes, with and without optional parameters
		for n := 0; len(waiting) > 0; n++ {
			next := waiting[0]
			address := next.Path + next.Type + "?" + next.Values().Encode()
			switch {
			case seen[address]:
				r.Fatal("asked twice: " + address)
			case n > limit:
				r.Fatal("no end: " + address)
			case next.Type != "" && next.Values().Get("patient") != "p":
				r.Fatal("asked for every patient: " + address)
			}
			seen[address] = true
			refused := fhir.RequestError{
				Class: rapid.SampledFrom(classes).Draw(r, "class"), Refusal: rapid.SampledFrom(refusals).Draw(r, "refusal"),
			}
			waiting = append(waiting[1:], next.Alternatives(&refused)...)
		}
	})
}
