package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

func TestBuildUsesTypesOfOlderFHIRReleases(t *testing.T) {
	t.Parallel()
	stated := server("MedicationRequest:patient", "MedicationOrder:patient", "DiagnosticOrder:patient",
		"ReferralRequest:patient", "Observation:patient", "Condition:patient", "DocumentReference:patient")
	tests := map[string]struct {
		version, first, last string
		observations         int
		conditions           []string
		documents            int
	}{
		"DSTU2": {
			version: "1.0.2", first: "Condition?patient=p", last: "MedicationRequest?patient=p", observations: 8,
			conditions: []string{"problem", "health-concern", "complaint", "symptom", "finding", "diagnosis"},
		},
		"STU3": {
			version: "3.0.1", first: "Condition?patient=p", last: "DiagnosticOrder?patient=p", observations: 8,
			conditions: []string{"problem-list-item", "health-concern", "encounter-diagnosis"},
		},
		"R4": {
			version: "4.0.1", first: "Condition?patient=p", last: "ReferralRequest?patient=p", observations: 17,
			conditions: []string{"problem-list-item", "health-concern", "encounter-diagnosis"}, documents: 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := stated
			one.FHIRVersion = test.version
			queries := build(plan.Facts{Capability: one}).Queries
			lines := asked(queries)
			if lines[0] != test.first || lines[len(lines)-1] != test.last {
				t.Error("order:", lines)
			}
			parts := map[string][]string{}
			for _, q := range queries {
				for _, part := range q.Alternatives(&fhir.RequestError{Class: fhir.Rejected}) {
					parts[q.Type] = append(parts[q.Type], part.Values().Get("category"))
				}
			}
			if diff := cmp.Diff(test.conditions, parts["Condition"]); diff != "" {
				t.Error("conditions (-want +got):\n" + diff)
			}
			if got := len(parts["Observation"]); got != test.observations {
				t.Error("categories of Observation:", got)
			}
			if got := len(parts["DocumentReference"]); got != test.documents {
				t.Error("categories of DocumentReference:", got)
			}
		})
	}
}

func TestBuildUsesReleaseTypesWhenCapabilityStatementListsNone(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"1.0.2": "MedicationOrder", "0.5.0": "MedicationOrder",
		"3.0.2": "ProcedureRequest",
	} {
		lines := strings.Join(asked(build(plan.Facts{Capability: fhir.Capability{FHIRVersion: version}}).Queries), " ")
		if !strings.Contains(lines, want+"?") || strings.Contains(lines, "ServiceRequest?") {
			t.Error(version, lines)
		}
	}
}
