package ccdatest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// required lists, by resource type, the elements with minimum cardinality 1 in US Core 6.1 that the converter can
// always populate. If the document lacks a required value, the converter writes a code for "unknown" or a data-absent
// reason. The suffix "[x]" stands for any type of value.
var required = map[string][]string{
	"AllergyIntolerance":  {"code", "patient", "verificationStatus"},
	"CarePlan":            {"status", "intent", "category", "subject"},
	"CareTeam":            {"subject", "participant"},
	"Condition":           {"category", "code", "subject"},
	"Coverage":            {"status", "beneficiary", "payor"},
	"DiagnosticReport":    {"status", "category", "code", "subject"},
	"DocumentReference":   {"status", "type", "category", "subject", "content"},
	"Encounter":           {"status", "class", "subject"},
	"FamilyMemberHistory": {"status", "patient", "relationship"},
	"Goal":                {"lifecycleStatus", "description", "subject"},
	"Immunization":        {"status", "vaccineCode", "patient", "occurrence[x]"},
	"Location":            {"name"},
	"MedicationDispense":  {"status", "medication[x]", "subject"},
	"MedicationRequest":   {"status", "intent", "medication[x]", "subject"},
	"Observation":         {"status", "category", "code", "subject"},
	"Organization":        {"active", "name"},
	"Patient":             {"identifier", "name", "gender"},
	"Procedure":           {"status", "code", "subject"},
	"Provenance":          {"target", "recorded", "agent"},
	"RelatedPerson":       {"active", "patient"},
	"ServiceRequest":      {"status", "intent", "code", "subject"},
}

func TestConvertPopulatesElementsRequiredByUSCore(t *testing.T) {
	t.Parallel()
	missing := map[string]int{}
	for _, folder := range []string{ownFolder, publicFolder} {
		_, documents := documentsIn(t, folder)
		for name, document := range documents {
			for _, r := range resourcesOf(t, convert(t, document)) {
				kind, _ := r["resourceType"].(string)
				for _, element := range required[kind] {
					if !has(r, element) {
						missing[name+": "+kind+"."+element]++
					}
				}
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("%d without %s", missing[what], what)
	}
}

// has reports whether a resource has the element or its data-absent reason.
func has(resource map[string]any, element string) bool {
	name, choice := strings.CutSuffix(element, "[x]")
	for key := range resource {
		key = strings.TrimPrefix(key, "_")
		if key == name || choice && strings.HasPrefix(key, name) {
			return true
		}
	}
	return false
}
