package fhir

import (
	"slices"
	"strings"
)

// Resource types of a patient's record in R4. Authorization requests and exports use the same lists, so every exported
// type has been requested. Each type appears only in the first list that fits it, except that compartment is complete.
const (
	// usCore lists the types that US Core searches by patient (CapabilityStatement us-core-server of US Core 9.0).
	usCore = "AllergyIntolerance Coverage Device Encounter FamilyMemberHistory Goal Immunization Procedure " +
		"QuestionnaireResponse RelatedPerson Condition CarePlan CareTeam MedicationRequest MedicationDispense " +
		"Observation DiagnosticReport DocumentReference ServiceRequest"

	// usCoreReferenced lists the types that US Core reads by reference, plus Binary, which holds documents.
	usCoreReferenced = "Binary Practitioner Organization Medication Location Provenance PractitionerRole Specimen " +
		"Questionnaire Media"

	// common lists payers' types and other types that many EHRs offer.
	common = "ExplanationOfBenefit Claim MedicationStatement MedicationAdministration Appointment Account " +
		"NutritionOrder Consent ImagingStudy"

	// compartment lists the types of R4's patient compartment (compartmentdefinition-patient.html), plus
	// GuidanceResponse and Task, which R4 also searches by patient.
	compartment = "Account AdverseEvent AllergyIntolerance Appointment AppointmentResponse AuditEvent Basic " +
		"BodyStructure CarePlan CareTeam ChargeItem Claim ClaimResponse ClinicalImpression Communication " +
		"CommunicationRequest Composition Condition Consent Coverage CoverageEligibilityRequest " +
		"CoverageEligibilityResponse DetectedIssue DeviceRequest DeviceUseStatement DiagnosticReport DocumentManifest " +
		"DocumentReference Encounter EnrollmentRequest EpisodeOfCare ExplanationOfBenefit FamilyMemberHistory Flag Goal " +
		"Group ImagingStudy Immunization ImmunizationEvaluation ImmunizationRecommendation Invoice List MeasureReport " +
		"Media MedicationAdministration MedicationDispense MedicationRequest MedicationStatement MolecularSequence " +
		"NutritionOrder Observation Person Procedure Provenance QuestionnaireResponse RelatedPerson RequestGroup " +
		"ResearchSubject RiskAssessment Schedule ServiceRequest Specimen SupplyDelivery SupplyRequest VisionPrescription " +
		"GuidanceResponse Task"

	// older lists the corresponding types that exist only in STU3 and DSTU2. A type name has the same meaning in all
	// releases.
	older = "MedicationOrder DiagnosticOrder ProcedureRequest ReferralRequest BodySite Contract DeviceUseRequest " +
		"EligibilityRequest EligibilityResponse ImagingManifest ImagingObjectSelection Order Sequence"

	// clinical lists the compartment's other types with clinical content, which precede administrative types.
	clinical = "ImmunizationRecommendation ClinicalImpression RiskAssessment DeviceRequest DeviceUseStatement " +
		"Composition " +
		"EpisodeOfCare AdverseEvent Flag VisionPrescription Communication List BodyStructure MolecularSequence"
)

// USCoreTypes returns the types that US Core searches by patient.
func USCoreTypes() []string { return strings.Fields(usCore) }

// CommonTypes returns types outside US Core that many EHRs offer.
func CommonTypes() []string { return strings.Fields(common) }

// CompartmentTypes returns the types that R4 searches by patient.
func CompartmentTypes() []string { return strings.Fields(compartment) }

// OlderTypes returns the types that only releases before R4 search by patient.
func OlderTypes() []string { return strings.Fields(older) }

// NeededTypes returns every type that an export may request, without duplicates, in order of importance. Patient comes
// first, because every export needs it. US Core's types, the types that they reference, and the rest of the compartment
// follow. If a request can't hold all types, the last types are dropped.
func NeededTypes() []string {
	all := make([]string, 0, 150)
	all = append(all, "Patient")
	for _, list := range [...]string{usCore, usCoreReferenced, common, older, clinical, compartment} {
		all = append(all, strings.Fields(list)...)
	}
	all = append(all, "ResearchStudy")
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(resourceType string) bool {
		twice := seen[resourceType]
		seen[resourceType] = true
		return twice
	})
}

// IsReferenced reports whether exports follow references to the type. References are followed to types that patient
// searches never return and to types that the record needs but that a server may omit from searches. Patient is
// excluded, because exports must never read another patient's record.
func IsReferenced(resourceType string) bool {
	switch resourceType {
	case "Binary", "Practitioner", "Organization", "Medication", "Location", "Provenance", "PractitionerRole", "Specimen",
		"Questionnaire", "Media", "Device", "RelatedPerson", "Encounter", "Observation", "DiagnosticReport", "ServiceRequest",
		"Condition", "Procedure", "CareTeam", "ResearchStudy":
		return true
	}
	return false
}
