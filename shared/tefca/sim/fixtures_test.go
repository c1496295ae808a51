package sim_test

import (
	"strings"
	"testing"

	"recordbridge/shared/export"
	"recordbridge/shared/fhir/ccda"
	"recordbridge/shared/tefca/sim"
	"recordbridge/shared/words/org"
)

// TestExportAcceptsEachFixture checks that every fixture can be exported and is a synthetic patient's complete record.
func TestExportAcceptsEachFixture(t *testing.T) {
	t.Parallel()
	fixtures := sim.Fixtures()
	if len(fixtures) != 2 {
		t.Errorf("there are %d, want 2", len(fixtures))
	}
	for name, document := range fixtures {
		if _, err := export.ParseFixture(org.Test, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		patient, types := "", map[string]int{}
		if _, err := ccda.Convert(document, func(r ccda.Resource) error {
			if types[r.Type]++; r.Type == "Patient" {
				patient = string(r.JSON)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		given, _, _ := strings.Cut(name, ".")
		if !strings.Contains(strings.ToLower(patient), given) {
			t.Errorf("%s is about somebody else: %s", name, patient)
		}
		for _, want := range []string{"Condition", "AllergyIntolerance", "MedicationRequest", "Observation", "Encounter"} {
			if types[want] == 0 {
				t.Errorf("%s has no %s: %v", name, want, types)
			}
		}
	}
}
