package plan

import (
	"slices"
	"strings"

	"recordbridge/shared/fhir"
)

// release is a FHIR release, as far as it affects requests. Its values are bits of Query.Step, because the ladder also
// depends on it.
type release int

const (
	r4    release = 0 // R4 and later
	stu3  release = stepSTU3
	dstu2 release = stepDSTU2
)

// releaseOf parses CapabilityStatement.fhirVersion. A server that does not state it is assumed to use R4, the minimum
// of the certification rules since 2022.
func releaseOf(fhirVersion string) release {
	switch {
	case strings.HasPrefix(fhirVersion, "1.0"), strings.HasPrefix(fhirVersion, "0.5"):
		return dstu2
	case strings.HasPrefix(fhirVersion, "3."):
		return stu3
	}
	return r4
}

// The types requested before R4, in this order: those of Argonaut and US Core STU3, then those of payers and other
// types that EHRs offer. Package fhir has the types for R4, since authorization requests name the same ones. Types that
// US Core does not search by patient are read by reference (see Followed), or searched if the statement lists a search.
const (
	usCoreSTU3 = "AllergyIntolerance Coverage Device Encounter FamilyMemberHistory Goal Immunization Procedure " +
		"QuestionnaireResponse RelatedPerson Condition CarePlan CareTeam MedicationRequest MedicationStatement " +
		"MedicationDispense Observation DiagnosticReport DocumentReference ProcedureRequest ReferralRequest"
	extraSTU3 = "ExplanationOfBenefit Claim MedicationAdministration Appointment Account NutritionOrder Consent " +
		"ImagingStudy"

	// Coverage and ExplanationOfBenefit cannot be searched by patient in DSTU2.
	usCoreDSTU2 = "AllergyIntolerance Device Encounter FamilyMemberHistory Goal Immunization Procedure " +
		"QuestionnaireResponse RelatedPerson Condition CarePlan MedicationOrder MedicationStatement " +
		"MedicationDispense Observation DiagnosticReport DocumentReference DiagnosticOrder ProcedureRequest " +
		"ReferralRequest"
	extraDSTU2 = "Claim MedicationAdministration Appointment Account NutritionOrder ImagingStudy"
)

// table lists the types to request from a server of the release, in order.
func table(r release) []string {
	switch r {
	case dstu2:
		return strings.Fields(usCoreDSTU2 + " " + extraDSTU2)
	case stu3:
		return strings.Fields(usCoreSTU3 + " " + extraSTU3)
	case r4:
	}
	return slices.Concat(fhir.USCoreTypes(), fhir.CommonTypes())
}

// inCompartment reports whether resources of the type belong to a patient.
func inCompartment(resourceType string) bool {
	return slices.Contains(fhir.CompartmentTypes(), resourceType) || slices.Contains(fhir.OlderTypes(), resourceType)
}

// Compartment lists the types that belong to a patient and can be found by a search, for a server of the version; none
// before R4, since such servers are assumed to support only some of them.
func Compartment(fhirVersion string) []string {
	if releaseOf(fhirVersion) != r4 {
		return nil
	}
	return fhir.CompartmentTypes()
}

// Searched reports whether resources of the type can be found by a search by patient in any release.
func Searched(resourceType string) bool {
	return inCompartment(resourceType) || Common(resourceType)
}

// Followed reports whether resources of a type are read if the record refers to them (fhir.IsReferenced).
func Followed(resourceType string) bool { return fhir.IsReferenced(resourceType) }
