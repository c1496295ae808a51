package ccdatest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestRecallDecreasesWhenPartsAreRemoved removes parts of the converted resources and checks that the recall for the
// affected kind of fact decreases.
func TestRecallDecreasesWhenPartsAreRemoved(t *testing.T) {
	t.Parallel()
	facts, whole := factsOf(readXML(t, read(t, "alder.xml"))), convert(t, read(t, "alder.xml"))
	lost := func(m measure, ndjson []byte) int { return len(recall(facts, contentOf(t, ndjson))[m].lost) }
	for _, c := range []struct {
		measure measure
		without func(name string, value any) bool // selects the JSON members to remove
	}{
		{ofCode, func(name string, _ any) bool { return name == "valueCodeableConcept" }},
		{ofTime, func(name string, _ any) bool { return strings.HasPrefix(name, "effective") }},
		{ofTime, func(name string, _ any) bool { return name == "onsetDateTime" }},
		{ofStatus, func(_ string, value any) bool { return value == "final" }},
		{ofAuthor, func(name string, _ any) bool { return name == "identifier" || name == "name" || name == "family" }},
		{ofWriting, func(name string, _ any) bool {
			return name == "occurredDateTime" || name == "recordedDate" || name == "authoredOn" || name == "issued"
		}},
		{ofPerformer, func(name string, _ any) bool { return name == "performer" }},
		{ofValue, func(name string, _ any) bool { return name == "unit" || name == "code" }},
		{ofValue, func(name string, _ any) bool { return name == "valueString" }},
		{ofRange, func(name string, _ any) bool { return name == "referenceRange" }},
	} {
		all := resourcesOf(t, whole)
		lines := make([]string, 0, len(all))
		for _, r := range all {
			line, err := json.Marshal(stripped(r, c.without))
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(line))
		}
		if before, after := lost(c.measure, whole), lost(c.measure, []byte(strings.Join(lines, "\n"))); after <= before {
			t.Errorf("%d of %s are lost, and %d without a part", before, c.measure, after)
		}
	}
}

func TestFitsRejectsStatusOfDifferentResourceType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, status, told string
		fits               bool
	}{
		{"Observation", "completed", "final", true},
		{"Observation", "completed", "registered", false},
		{"Observation", "COMPLETED", "final", true},
		{"Slot", "completed", "completed", false}, // a resource type without known statuses
		{"Encounter", "normal", "finished", true}, // a status code not defined by HL7
		{"Encounter", "normal", "entered-in-error", false},
	} {
		if got := fits(c.kind, c.status, c.told); got != c.fits {
			t.Errorf("%s of a %s that is %s: %v", c.told, c.kind, c.status, got)
		}
	}
}

// stripped returns a copy of value without the members selected by without.
func stripped(value any, without func(string, any) bool) any {
	switch value := value.(type) {
	case map[string]any:
		left := map[string]any{}
		for name, v := range value {
			if !without(name, v) {
				left[name] = stripped(v, without)
			}
		}
		return left
	case []any:
		left := make([]any, 0, len(value))
		for _, v := range slices.Clone(value) {
			left = append(left, stripped(v, without))
		}
		return left
	}
	return value
}

func TestSameTimeComparesHL7AndFHIRTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hl7, fhir string
		same      bool
	}{
		{"2025", "2025", true},
		{"2025", "2025-01-01", false},
		{"20250318", "2025-03-18", true},
		{"20250318", "2025-03", false},
		{"202503181345-0500", "2025-03-18T13:45:00-05:00", true},
		{"202503181345-0500", "2025-03-18T18:45:00Z", true},
		{"202503181345-0500", "2025-03-18T13:45:00-06:00", false},
		{"202503181345-0500", "2025-03-18", false},
		{"202503181345", "2025-03-18", true},
		{"202503181345", "2025-03-18T13:45:00-05:00", true},
		{"202503181345", "2025-03-18T13:46:00-05:00", false},
		{"20250318134501.123+0000", "2025-03-18T13:45:01.123Z", true},
		{"2025031813-0500", "2025-03-18T13:00:00-05:00", true},
	} {
		if got := sameTime(c.hl7, c.fhir); got != c.same {
			t.Errorf("%s and %s are the same: %v", c.hl7, c.fhir, got)
		}
	}
}
