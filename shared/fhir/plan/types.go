package plan

import (
	"slices"
	"strings"

	"recordbridge/shared/fhir"
)

// release is a FHIR release, as far as it matters for what is asked. Its values are bits of Query.Step, because the
// ladder has to know it, too.
type release int

const (
	r4    release = 0 // and later ones
	stu3  release = stepSTU3
	dstu2 release = stepDSTU2
)

// releaseOf reads CapabilityStatement.fhirVersion. A server that does not tell is taken for one of R4, the floor of
// the certification rules since 2022.
func releaseOf(fhirVersion string) release {
	switch {
	case strings.HasPrefix(fhirVersion, "1.0"), strings.HasPrefix(fhirVersion, "0.5"):
		return dstu2
	case strings.HasPrefix(fhirVersion, "3."):
		return stu3
	}
	return r4
}

// The types that are asked for before R4, in this order: those of Argonaut and US Core STU3, then those of payers and
// what EHRs offer besides. For R4 package fhir has them, since authorization requests name the same ones. Types that
// US Core does not search by patient come by reference (see Followed), or because the statement says otherwise.
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

// table lists the types to ask a server of the release for, in order.
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

// Compartment lists the types that belong to a patient and are found by a search, at a server of the version; none
// before R4, of which every server is taken to have a part only.
func Compartment(fhirVersion string) []string {
	if releaseOf(fhirVersion) != r4 {
		return nil
	}
	return fhir.CompartmentTypes()
}

// Searched reports whether resources of the type are found by a search for the patient's, at a server of some release.
func Searched(resourceType string) bool {
	return inCompartment(resourceType) || Common(resourceType)
}

// Followed reports whether resources of a type are read when the record refers to them (fhir.IsReferenced).
func Followed(resourceType string) bool { return fhir.IsReferenced(resourceType) }
