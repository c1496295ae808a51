package datatype_test

import (
	"testing"

	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/r4"
)

func TestIsUnnamedDistinguishesNamesFromPlaceholders(t *testing.T) {
	t.Parallel()
	const local = "urn:oid:2.16.840.1.113883.19.77"
	for _, c := range []struct {
		concept             *r4.CodeableConcept
		isUnknown, isUnamed bool
	}{
		{nil, true, true},
		{&r4.CodeableConcept{Text: "Unknown"}, true, true},
		{&r4.CodeableConcept{Text: " UNKNOWN. "}, true, true},
		{&r4.CodeableConcept{Text: "Unknown problem"}, true, true},
		{&r4.CodeableConcept{Text: "Unknown/unsupported"}, true, true},
		{&r4.CodeableConcept{Text: "N/A"}, true, true},
		{&r4.CodeableConcept{Text: "No data recorded"}, true, true},
		{&r4.CodeableConcept{Text: "No allergy data is applicable"}, true, true},
		{&r4.CodeableConcept{Text: "No heavy lifting"}, false, true},
		{&r4.CodeableConcept{Text: "Unknown poison that was swallowed at home"}, false, false},
		{&r4.CodeableConcept{Text: "Non-Hodgkin lymphoma"}, false, false},
		{&r4.CodeableConcept{Text: "Bee stings"}, false, false},
		{datatype.AbsentConcept(nil), true, true},
		{r4.Concept("http://terminology.hl7.org/CodeSystem/v3-NullFlavor", "UNK", "Unknown"), true, true},
		{r4.Concept("http://snomed.info/sct", "261665006", "Unknown"), true, true},
		{r4.Concept(local, "0", "Unknown"), true, true},
		{r4.Concept(local, "1", ""), false, false},
		{r4.Concept("http://snomed.info/sct", "716186003", "No known allergy"), false, false},
	} {
		if got := datatype.IsUnknown(c.concept); got != c.isUnknown {
			t.Errorf("IsUnknown(%+v) = %v", c.concept, got)
		}
		if got := datatype.IsUnnamed(c.concept); got != c.isUnamed {
			t.Errorf("IsUnnamed(%+v) = %v", c.concept, got)
		}
	}
}
