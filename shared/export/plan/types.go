package plan

import (
	"slices"
	"strings"
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

// The types that are asked for, in this order: those of US Core (CapabilityStatement us-core-server of 9.0; for the
// older releases Argonaut and US Core STU3), then those of payers and what EHRs offer besides. Types that US Core
// does not search by patient come by reference (see Followed), or because the statement says otherwise.
const (
	usCoreR4 = "AllergyIntolerance Coverage Device Encounter FamilyMemberHistory Goal Immunization Procedure " +
		"QuestionnaireResponse RelatedPerson Condition CarePlan CareTeam MedicationRequest MedicationDispense " +
		"Observation DiagnosticReport DocumentReference ServiceRequest"
	extraR4 = "ExplanationOfBenefit Claim MedicationStatement MedicationAdministration Appointment Account " +
		"NutritionOrder Consent ImagingStudy"

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

// compartment holds the types that belong to a patient: those of R4's patient compartment
// (compartmentdefinition-patient.html), two outside it that R4 gives a search by patient all the same, then those
// that only STU3 and DSTU2 have. No release has a type of the others' names for something else.
const compartment = compartmentR4 + " " + compartmentOlder

const compartmentR4 = "Account AdverseEvent AllergyIntolerance Appointment AppointmentResponse AuditEvent Basic " +
	"BodyStructure CarePlan CareTeam ChargeItem Claim ClaimResponse ClinicalImpression Communication " +
	"CommunicationRequest Composition Condition Consent Coverage CoverageEligibilityRequest " +
	"CoverageEligibilityResponse DetectedIssue DeviceRequest DeviceUseStatement DiagnosticReport DocumentManifest " +
	"DocumentReference Encounter EnrollmentRequest EpisodeOfCare ExplanationOfBenefit FamilyMemberHistory Flag Goal " +
	"Group ImagingStudy Immunization ImmunizationEvaluation ImmunizationRecommendation Invoice List MeasureReport " +
	"Media MedicationAdministration MedicationDispense MedicationRequest MedicationStatement MolecularSequence " +
	"NutritionOrder Observation Person Procedure Provenance QuestionnaireResponse RelatedPerson RequestGroup " +
	"ResearchSubject RiskAssessment Schedule ServiceRequest Specimen SupplyDelivery SupplyRequest VisionPrescription " +
	"GuidanceResponse Task"

const compartmentOlder = "BodySite Contract DeviceUseRequest DiagnosticOrder EligibilityRequest EligibilityResponse ImagingManifest " +
	"ImagingObjectSelection MedicationOrder Order ProcedureRequest ReferralRequest Sequence"

// table lists the types to ask a server of the release for, in order.
func table(r release) []string {
	switch r {
	case dstu2:
		return strings.Fields(usCoreDSTU2 + " " + extraDSTU2)
	case stu3:
		return strings.Fields(usCoreSTU3 + " " + extraSTU3)
	case r4:
	}
	return strings.Fields(usCoreR4 + " " + extraR4)
}

// inCompartment reports whether resources of the type belong to a patient.
func inCompartment(resourceType string) bool {
	return slices.Contains(strings.Fields(compartment), resourceType)
}

// Compartment lists the types that belong to a patient and are found by a search, at a server of the version; none before R4,
// of which every server is taken to have a part only.
func Compartment(fhirVersion string) []string {
	if releaseOf(fhirVersion) != r4 {
		return nil
	}
	return strings.Fields(compartmentR4)
}

// Searched reports whether resources of the type are found by a search for the patient's, at a server of some release.
func Searched(resourceType string) bool {
	return inCompartment(resourceType) ||
		slices.ContainsFunc([]release{r4, stu3, dstu2}, func(r release) bool { return slices.Contains(table(r), resourceType) })
}

// Followed reports whether resources of a type are read when the record refers to them: what no search by patient
// returns (US Core reads those by reference), and what a server may leave out of the searches although the record
// needs it. Patient is not among them: another patient's record must never be read.
func Followed(resourceType string) bool {
	switch resourceType {
	case "Practitioner", "PractitionerRole", "Organization", "Location", "Medication", "Specimen", "Media", "Device",
		"RelatedPerson", "Provenance", "Questionnaire", "Encounter", "Observation", "DiagnosticReport",
		"ServiceRequest", "Condition", "Procedure", "CareTeam", "ResearchStudy", "Binary":
		return true
	}
	return false
}
