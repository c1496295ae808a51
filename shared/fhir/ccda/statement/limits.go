package statement

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
)

// Reasons for dropping a resource that a rule created for a statement.
const (
	noResource = "no resource can state that it is negated"
	noStatus   = "no resource can state that its status is unknown"
)

// limit ensures that a resource asserts no more than its statement, regardless of the rule that created it. A resource
// for a negated statement becomes refuted or not done. A resource for a statement that is null or unnamed becomes
// neither confirmed nor in progress. limit returns the reason for dropping a resource whose type can't express that
// status, or "" to keep it.
func (c *Context) limit(r r4.Resource, n *cda.Node) string {
	if _, isQuestion := r.(*r4.Observation); n.Attr("nullFlavor") != "" && !isQuestion {
		return cda.NullReason(n.Attr("nullFlavor"))
	}
	if cda.IsNegated(n) && !negate(r) {
		return noResource
	}
	if (cda.NullFlavor(n) != "" || c.isUnnamed(r)) && !markUnconfirmed(r) {
		return noStatus
	}
	return ""
}

// isUnnamed reports whether a resource's subject is unnamed.
func (c *Context) isUnnamed(r r4.Resource) bool {
	switch r := r.(type) {
	case *r4.Condition:
		return datatype.IsUnnamed(r.Code)
	case *r4.AllergyIntolerance:
		return datatype.IsUnnamed(r.Code)
	case *r4.Procedure:
		return datatype.IsUnnamed(r.Code)
	case *r4.ServiceRequest: // "No smoking" is a valid name of a ServiceRequest.
		return datatype.IsUnknown(r.Code)
	case *r4.DeviceRequest:
		return datatype.IsUnknown(r.Code)
	case *r4.Immunization:
		return r.Occurrence == "" && datatype.IsUnnamed(r.VaccineCode)
	case *r4.MedicationRequest:
		return c.isUnknownProduct(r.Medication, r.MedicationRef)
	case *r4.MedicationAdministration:
		return c.isUnknownProduct(r.Medication, r.MedicationRef)
	case *r4.MedicationDispense:
		return c.isUnknownProduct(r.Medication, r.MedicationRef)
	}
	return false
}

func (c *Context) isUnknownProduct(concept *r4.CodeableConcept, product *r4.Reference) bool {
	if m := emit.ResourceOf[r4.Medication](c.Emit, product); m != nil {
		concept = m.Code
	}
	return (product == nil || concept != nil) && datatype.IsUnnamed(concept)
}

// negate sets a resource's status to one that means "absent" or "not done" (FHIR R4, the status of each type). It
// reports whether the type has a status that means "absent" or "not done". Conditions, AllergyIntolerances and
// Observations have already been negated by their rules.
func negate(r r4.Resource) bool {
	switch r := r.(type) {
	case *r4.Condition, *r4.AllergyIntolerance, *r4.Observation:
	case *r4.Procedure:
		r.Status, r.FocalDevice = "not-done", nil
	case *r4.Immunization:
		r.Status, r.Protocol, r.Reaction = "not-done", nil, nil
	case *r4.MedicationAdministration:
		r.Status = "not-done"
	case *r4.MedicationDispense:
		r.Status = "declined"
	case *r4.MedicationRequest:
		r.DoNotPerform = r4.True()
	case *r4.ServiceRequest:
		r.DoNotPerform = r4.True()
	case *r4.DeviceRequest: // R4's DeviceRequest has no doNotPerform.
		r.Status = "revoked"
	case *r4.SupplyDelivery:
		r.Status = "abandoned"
	case *r4.Encounter:
		r.Status = "cancelled"
	case *r4.Goal:
		r.Lifecycle = "rejected"
	case *r4.Communication:
		r.Status = "not-done"
	default:
		return false
	}
	return true
}

// markUnconfirmed sets a resource's status to "unknown" or "unconfirmed" (FHIR R4, the status of each type; US Core,
// "Missing Data"). It reports whether the type has a status that means "unknown" or "unconfirmed". It leaves a status
// of ended or entered in error unchanged.
func markUnconfirmed(r r4.Resource) bool {
	switch r := r.(type) {
	case *r4.Condition:
		if r.Verification.Has(ConditionVerified, "confirmed") {
			r.Verification = r4.Concept(ConditionVerified, "unconfirmed", "Unconfirmed")
		}
	case *r4.AllergyIntolerance:
		if r.Verification.Has(AllergyVerified, "confirmed") {
			r.Verification = r4.Concept(AllergyVerified, "unconfirmed", "Unconfirmed")
		}
	case *r4.Immunization:
		return r.Status != "completed"
	case *r4.Goal:
		setOpen(&r.Lifecycle, "proposed")
	case *r4.CareTeam:
		setOpen(&r.Status, "")
	case *r4.Consent:
		setOpen(&r.Status, "draft")
	case *r4.Coverage:
		setOpen(&r.Status, "draft")
	case *r4.SupplyDelivery:
		setOpen(&r.Status, "")
	case *r4.FamilyMemberHistory:
		setOpen(&r.Status, "partial")
	case *r4.ImagingStudy:
		setOpen(&r.Status, "unknown")
	default:
		if status := statusOf(r); status != nil {
			setOpen(status, "unknown")
		}
	}
	return true
}

// statusOf returns a pointer to a resource's status. It returns nil if the type has no code "unknown".
func statusOf(r r4.Resource) *string {
	switch r := r.(type) {
	case *r4.Observation:
		return &r.Status
	case *r4.DiagnosticReport:
		return &r.Status
	case *r4.Procedure:
		return &r.Status
	case *r4.Encounter:
		return &r.Status
	case *r4.MedicationRequest:
		return &r.Status
	case *r4.MedicationAdministration:
		return &r.Status
	case *r4.MedicationDispense:
		return &r.Status
	case *r4.ServiceRequest:
		return &r.Status
	case *r4.DeviceRequest:
		return &r.Status
	case *r4.Communication:
		return &r.Status
	}
	return nil
}

// setOpen replaces a status that means "in progress" or "done" with open.
func setOpen(status *string, open string) {
	if cda.IsOneOf(*status, "active", "completed", "final", "in-progress", "finished", "available") {
		*status = open
	}
}
