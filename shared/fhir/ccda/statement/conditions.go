package statement

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

// ConditionOfUSCore is US Core's code system for condition categories.
const ConditionOfUSCore = "http://hl7.org/fhir/us/core/CodeSystem/condition-category"

// IsHealthConcern reports whether a Condition has the health concern category.
func IsHealthConcern(r *r4.Condition) bool {
	for _, category := range r.Category {
		if category.Has(ConditionOfUSCore, "health-concern") {
			return true
		}
	}
	return false
}

// ConsentStatus returns the status of a Consent. A recorded directive (completed) is in force until its period ends. A
// Consent with an unknown status must not be acted on (FHIR R4, Consent.status: draft).
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

// Code systems for clinicalStatus and verificationStatus.
const (
	ConditionClinical = "http://terminology.hl7.org/CodeSystem/condition-clinical"
	ConditionVerified = "http://terminology.hl7.org/CodeSystem/condition-ver-status"
	AllergyClinical   = "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical"
	AllergyVerified   = "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification"
)

// ConditionStatus returns the concept for a Condition.clinicalStatus code.
func ConditionStatus(code string) *r4.CodeableConcept {
	return r4.Concept(ConditionClinical, code, strings.ToUpper(code[:1])+code[1:])
}

// StatusIn finds the status observation of a problem or allergy by its template or code (C-CDA on FHIR, "Problems" and
// "Allergies": status observation). value is its code or words, and denied reports whether it is negated.
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

// End classifies the effectiveTime/high of a problem or allergy.
type End int

// Classes of effectiveTime/high. UNK means that an end exists but its date is unknown. Other nullFlavors don't imply
// that the problem or allergy has ended (C-CDA on FHIR, "Problems", row effectiveTime/high).
const (
	NoEnd End = iota
	UnknownEnd
	DatedEnd
)

// EndOf classifies effectiveTime/high. A time after the document's time does not count as an end.
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

// ClinicalStatus returns the clinical status of a problem or allergy without a status observation, derived from the
// concern's status (C-CDA on FHIR, ConceptMap CF-ConditionClinicalStatus). The status is inactive after an end
// ("Problems", row effectiveTime/high), so all statements about the problem agree. The status is "" if the document
// does not state one.
func ClinicalStatus(concern string, end End) string {
	if end != NoEnd {
		return "inactive"
	}
	return concernStatuses.Of(concern)
}

// ProblemStatusRoot is the template OID of a problem's status observation.
const ProblemStatusRoot = "2.16.840.1.113883.10.20.22.4.6"

// ProblemStatus returns the clinical status of a problem or concern. The status is derived from the status observation
// or, if there is none, from the concern's status and the end (C-CDA on FHIR, "Problems", rows statusCode,
// effectiveTime/high and Problem Status). A problem with a known end date is not active (con-4). An end with an unknown
// date doesn't override a status observation. ProblemStatus returns nil if the document states no status.
func (c *Context) ProblemStatus(n *cda.Node, concern string) *r4.CodeableConcept {
	value, denied := StatusIn(n, ProblemStatusRoot)
	code, end := ProblemStatusOf(value), c.EndOf(n.At("effectiveTime"))
	isActive := cda.IsOneOf(code, "active", "recurrence", "relapse")
	switch {
	case isActive && (denied || end == DatedEnd):
		code = "inactive"
	case denied || code == "":
		code = ClinicalStatus(concern, end)
	}
	if code == "" {
		return nil
	}
	return ConditionStatus(code)
}

// ProblemStatusOf maps the value of a status observation to condition-clinical. It returns "" for any other value.
func ProblemStatusOf(value *cda.Node) string {
	return problemStatuses.Of(strings.ToLower(cmp.Or(cda.CodeOf(value), value.Attr("displayName"))))
}
