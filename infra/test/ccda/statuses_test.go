package ccdatest_test

import (
	"slices"
	"strings"
)

// statuses maps a resource type and a statement's status (HL7 ActStatus) to the allowed FHIR statuses. Sources: "C-CDA
// on FHIR" and FHIR R4's value sets, by type. Resources of types not listed must not have a status.
var statuses = map[string]map[string]string{
	"Observation": {
		"completed": "final amended corrected", "active": "registered preliminary", "new": "registered", "held": "registered",
		"suspended": "registered",
		"aborted":   "cancelled", "cancelled": "cancelled", "nullified": "entered-in-error",
	},
	"DiagnosticReport": {
		"completed": "final amended corrected", "active": "registered partial preliminary", "aborted": "cancelled",
		"cancelled": "cancelled",
		"nullified": "entered-in-error",
	},
	"Procedure": {
		"completed": "completed not-done", "active": "in-progress not-done", "aborted": "stopped not-done",
		"cancelled": "not-done", "new": "preparation",
		"suspended": "on-hold", "held": "on-hold preparation",
	},
	// Encounter statuses follow ConceptMap CF-EncounterStatus. The status of an encounter that is active in CDA depends
	// on the document's time.
	"Encounter": {
		"completed": "finished", "active": "in-progress planned arrived finished unknown", "aborted": "unknown",
		"cancelled": "cancelled",
		"new":       "unknown planned", "held": "planned", "suspended": "onleave",
	},
	"Immunization": {
		"completed": "completed not-done", "active": "completed not-done", "aborted": "not-done",
		"cancelled": "not-done",
	},
	// A MedicationRequest may still be active after its act is completed, because the act's status describes the
	// ordering or documenting of the medication.
	"MedicationRequest": {
		"completed": "completed active", "active": "active completed", "suspended": "on-hold", "held": "on-hold",
		"aborted": "stopped", "cancelled": "cancelled",
		"new": "draft",
	},
	"MedicationAdministration": {
		"completed": "completed not-done", "active": "in-progress not-done", "aborted": "stopped",
		"cancelled": "not-done",
	},
	"MedicationDispense": {
		"completed": "completed", "active": "in-progress preparation", "aborted": "stopped",
		"cancelled": "cancelled",
	},
	"ServiceRequest": {
		"completed": "completed", "active": "active", "suspended": "on-hold", "held": "on-hold", "aborted": "revoked",
		"cancelled": "revoked", "new": "draft active",
	},
	"Goal": {
		"completed": "completed", "active": "active accepted", "aborted": "cancelled", "cancelled": "cancelled",
		"suspended": "on-hold",
	},
	"CareTeam": {"completed": "inactive", "active": "active inactive", "suspended": "suspended"},
	// In problem and allergy statements, the status "completed" means that the observation is complete, not that the
	// condition has ended. The FHIR resource has a clinical or verification status instead.
	"Condition": {
		"completed": "active resolved inactive recurrence relapse remission confirmed refuted unconfirmed",
		"active":    "active resolved inactive confirmed refuted unconfirmed",
		"aborted":   "inactive resolved confirmed", "suspended": "inactive",
	},
	"AllergyIntolerance": {"completed": "active resolved inactive", "active": "active resolved inactive"},
	"Consent":            {"completed": "active inactive", "active": "active"},
	"Coverage":           {"completed": "active cancelled", "active": "active cancelled", "cancelled": "cancelled"},
	"DocumentReference":  {"completed": "current", "active": "current"},
	"Device":             {"completed": "active inactive", "active": "active"},
	"DeviceRequest":      {"completed": "completed", "active": "active", "new": "draft active"},
	"SupplyDelivery": {
		"completed": "completed", "active": "in-progress", "aborted": "abandoned",
		"cancelled": "abandoned",
	},
	"ImagingStudy":        {"completed": "available", "active": "registered available"},
	"Communication":       {"completed": "completed", "active": "in-progress"},
	"Specimen":            {"completed": "available", "active": "available"},
	"FamilyMemberHistory": {"completed": "completed partial health-unknown"},
	"CarePlan":            {"completed": "completed", "active": "active", "suspended": "on-hold", "aborted": "revoked"},
}

// actStatuses lists the HL7 ActStatus codes that a statement may have.
const actStatuses = "new active held completed suspended aborted cancelled nullified obsolete"

// fits reports whether a resource's status is a valid mapping from the statement's status.
func fits(kind, status, told string) bool {
	// A status outside HL7 ActStatus has no known meaning, so every FHIR status except entered-in-error is accepted.
	if status = strings.ToLower(status); !slices.Contains(strings.Fields(actStatuses), status) {
		return told != "entered-in-error"
	}
	return slices.Contains(strings.Fields(statuses[kind][status]), told)
}
