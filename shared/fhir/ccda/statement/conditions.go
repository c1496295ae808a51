package statement

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

const ConditionOfUSCore = "http://hl7.org/fhir/us/core/CodeSystem/condition-category"

func IsHealthConcern(r *r4.Condition) bool {
	for _, category := range r.Category {
		if category.Has(ConditionOfUSCore, "health-concern") {
			return true
		}
	}
	return false
}

// ConsentStatus maps ActStatus to ConsentState: a directive that has been recorded (completed) is in force.
func ConsentStatus(n *cda.Node) string {
	return cmp.Or(consentStates.Of(cda.StatusOf(n)), "active")
}

const ConditionClinical = "http://terminology.hl7.org/CodeSystem/condition-clinical"

// ConditionStatus writes a code of Condition.clinicalStatus.
func ConditionStatus(code string) *r4.CodeableConcept {
	return r4.Concept(ConditionClinical, code, strings.ToUpper(code[:1])+code[1:])
}
