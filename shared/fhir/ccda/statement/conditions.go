package statement

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

// ConditionOfUSCore is US Core's code system of condition categories.
const ConditionOfUSCore = "http://hl7.org/fhir/us/core/CodeSystem/condition-category"

// IsHealthConcern reports whether a Condition has the category of health concerns.
func IsHealthConcern(r *r4.Condition) bool {
	for _, category := range r.Category {
		if category.Has(ConditionOfUSCore, "health-concern") {
			return true
		}
	}
	return false
}

// ConsentStatus returns the status of a Consent: a directive that has been recorded (completed) is in force.
func ConsentStatus(n *cda.Node) string {
	return cmp.Or(consentStates.Of(cda.StatusOf(n)), "active")
}

// ConditionClinical is the code system of Condition.clinicalStatus.
const ConditionClinical = "http://terminology.hl7.org/CodeSystem/condition-clinical"

// ConditionStatus returns the concept for a code of Condition.clinicalStatus.
func ConditionStatus(code string) *r4.CodeableConcept {
	return r4.Concept(ConditionClinical, code, strings.ToUpper(code[:1])+code[1:])
}
