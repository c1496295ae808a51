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

// ConsentStatus returns the status of a Consent: a directive that has been recorded (completed) is in force, until its
// time has ended. One whose status is not known is not to be acted on (FHIR R4, Consent.status: draft).
func (c *Context) ConsentStatus(n *cda.Node) string {
	status := cmp.Or(consentStates.Of(cda.StatusOf(n)), "draft")
	if cda.HasNoStatus(n) {
		status = "active"
	}
	if status == "active" && c.Document.IsPast(n.At("effectiveTime", "high")) {
		return "inactive"
	}
	return status
}

// Code systems of clinicalStatus and verificationStatus.
const (
	ConditionClinical = "http://terminology.hl7.org/CodeSystem/condition-clinical"
	ConditionVerified = "http://terminology.hl7.org/CodeSystem/condition-ver-status"
	AllergyClinical   = "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical"
	AllergyVerified   = "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification"
)

// ConditionStatus returns the concept for a code of Condition.clinicalStatus.
func ConditionStatus(code string) *r4.CodeableConcept {
	return r4.Concept(ConditionClinical, code, strings.ToUpper(code[:1])+code[1:])
}

// StatusIn returns the code or the word of the status observation in a problem or an allergy (C-CDA on FHIR,
// "Problems" and "Allergies": status observation), by its template or code. denied is true for an observation that
// negates what it says.
func StatusIn(n *cda.Node, root string) (value *cda.Node, denied bool) {
	if status := cda.EntryOf(n, root, "33999-4"); status != nil {
		return status.At("value"), false
	}
	for rel := range n.Each("entryRelationship") {
		if s := rel.At("observation"); s != nil && (cda.IsTemplate(s, root) || cda.Has(s.At("code"), "33999-4")) {
			return s.At("value"), true
		}
	}
	return nil, false
}

// End is what effectiveTime/high says of a problem or an allergy.
type End int

// The ends. C-CDA writes UNK for an end whose date is not known; any other nullFlavor says nothing of an end (C-CDA on
// FHIR, "Problems", row effectiveTime/high).
const (
	NoEnd End = iota
	UnknownEnd
	DatedEnd
)

// EndOf reads effectiveTime/high. A time after that of the document has not come.
func (c *Context) EndOf(when *cda.Node) End {
	high := when.At("high")
	switch _, dated := cda.ReadStamp(high.Attr("value")); {
	case dated && !c.Document.IsLater(high):
		return DatedEnd
	case !dated && high.Attr("nullFlavor") == "UNK":
		return UnknownEnd
	}
	return NoEnd
}

// ClinicalStatus returns the clinical status of a problem or an allergy without a status observation: that of the
// concern (C-CDA on FHIR, ConceptMap CF-ConditionClinicalStatus). One that has ended is inactive ("Problems", row
// effectiveTime/high), so that all mentions of it agree. It is "" if nothing is said.
func ClinicalStatus(concern string, end End) string {
	if end != NoEnd {
		return "inactive"
	}
	return concernStatuses.Of(concern)
}
