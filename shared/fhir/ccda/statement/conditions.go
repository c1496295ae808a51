package statement

import (
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
	switch strings.ToLower(cda.CodeOf(n.At("statusCode"))) {
	case "new", "held":
		return "proposed"
	case "aborted", "cancelled", "canceled", "suspended", "obsolete":
		return "inactive"
	case "nullified":
		return "entered-in-error"
	}
	return "active"
}

const ConditionClinical = "http://terminology.hl7.org/CodeSystem/condition-clinical"

// ConditionStatus writes a code of Condition.clinicalStatus.
func ConditionStatus(code string) *r4.CodeableConcept {
	return r4.Concept(ConditionClinical, code, strings.ToUpper(code[:1])+code[1:])
}
