package fhir_test

import (
	"slices"
	"testing"

	"recordbridge/shared/fhir"
)

func TestNeededTypesListsEachTypeOnceByImportance(t *testing.T) {
	t.Parallel()
	needed := fhir.NeededTypes()
	seen := map[string]bool{}
	for _, name := range needed {
		if seen[name] || !fhir.ValidType(name) || fhir.TypeName(name) != name {
			t.Errorf("%s is listed twice, or is not a type", name)
		}
		seen[name] = true
	}
	for _, list := range [][]string{fhir.USCoreTypes(), fhir.CommonTypes(), fhir.CompartmentTypes(), fhir.OlderTypes()} {
		for _, name := range list {
			if !seen[name] {
				t.Errorf("%s is exported and not requested", name)
			}
		}
	}
	before := func(one, other string) bool { return slices.Index(needed, one) < slices.Index(needed, other) }
	if needed[0] != "Patient" || !before("Observation", "Practitioner") || !before("Practitioner", "Claim") ||
		!before("Claim", "AuditEvent") {
		t.Errorf("the order is %v", needed)
	}
}

func TestNeededTypesIncludesEveryReferencedType(t *testing.T) {
	t.Parallel()
	needed := fhir.NeededTypes()
	for _, name := range []string{
		"Binary", "Practitioner", "Organization", "Location", "Medication", "ResearchStudy",
		"Questionnaire", "Media",
	} {
		if !fhir.IsReferenced(name) || !slices.Contains(needed, name) {
			t.Errorf("%s is referenced and not requested", name)
		}
	}
	if fhir.IsReferenced("Patient") {
		t.Error("a Patient is followed")
	}
}
