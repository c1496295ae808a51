package plan

import (
	"slices"
	"strings"

	"recordbridge/shared/fhir"
)

// release is a FHIR release, to the extent that it affects requests. The values are bits of Query.Step, because the
// alternatives also depend on the release.
type release int

const (
	r4    release = 0 // R4 and later
	stu3  release = stepSTU3
	dstu2 release = stepDSTU2
)

// releaseOf parses CapabilityStatement.fhirVersion. If the version is missing, R4 is assumed, because the certification
// rules have required at least R4 since 2022.
func releaseOf(fhirVersion string) release {
	switch {
	case strings.HasPrefix(fhirVersion, "1.0"), strings.HasPrefix(fhirVersion, "0.5"):
		return dstu2
	case strings.HasPrefix(fhirVersion, "3."):
		return stu3
	}
	return r4
}

// Types requested from servers older than R4: first the Argonaut and US Core STU3 types, then payers' types and others
// that EHRs offer. The types of R4 are in package fhir, because authorization requests name them. Types that US Core
// doesn't search by patient are searched if the CapabilityStatement lists a search for them, and otherwise read by
// reference (see Followed).
const (
	usCoreSTU3 = "AllergyIntolerance Coverage Device Encounter FamilyMemberHistory Goal Immunization Procedure " +
		"QuestionnaireResponse RelatedPerson Condition CarePlan CareTeam MedicationRequest MedicationStatement " +
		"MedicationDispense Observation DiagnosticReport DocumentReference ProcedureRequest ReferralRequest"
	extraSTU3 = "ExplanationOfBenefit Claim MedicationAdministration Appointment Account NutritionOrder Consent " +
		"ImagingStudy"

	// In DSTU2, Coverage and ExplanationOfBenefit can't be searched by patient.
	usCoreDSTU2 = "AllergyIntolerance Device Encounter FamilyMemberHistory Goal Immunization Procedure " +
		"QuestionnaireResponse RelatedPerson Condition CarePlan MedicationOrder MedicationStatement " +
		"MedicationDispense Observation DiagnosticReport DocumentReference DiagnosticOrder ProcedureRequest " +
		"ReferralRequest"
	extraDSTU2 = "Claim MedicationAdministration Appointment Account NutritionOrder ImagingStudy"
)

// table returns the types to request from a server of release r, in order.
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

// inCompartment reports whether resources of the type belong to the patient compartment.
func inCompartment(resourceType string) bool {
	return slices.Contains(fhir.CompartmentTypes(), resourceType) || slices.Contains(fhir.OlderTypes(), resourceType)
}

// Compartment returns the searchable types of the patient compartment for a server's FHIR version. It returns nil
// before R4, because older servers may support only some of these types.
func Compartment(fhirVersion string) []string {
	if releaseOf(fhirVersion) != r4 {
		return nil
	}
	return fhir.CompartmentTypes()
}

// Searched reports whether the type can be searched by patient in any release.
func Searched(resourceType string) bool {
	return inCompartment(resourceType) || Common(resourceType)
}

// Followed reports whether references to the type are followed (fhir.IsReferenced).
func Followed(resourceType string) bool { return fhir.IsReferenced(resourceType) }
