package fhirserver

import "slices"

// paramKind determines how a search parameter's values are compared.
type paramKind string

const (
	kindReference paramKind = "reference"
	kindToken     paramKind = "token"
	kindURI       paramKind = "uri"
	kindDate      paramKind = "date" // only meta.lastUpdated can be searched by date
)

type param struct {
	name string
	kind paramKind
	// paths lists the elements that hold the parameter's values. Arrays on a path are traversed. For reference
	// parameters, each path ends before Reference.reference.
	paths [][]string
	// target restricts references to one resource type, like "where(resolve() is Patient)" in the FHIR definitions.
	target string
	// prefix is the comparison used for a date that has no prefix.
	prefix string
}

// compartment lists the searchable resource types in R4's patient compartment
// (https://hl7.org/fhir/R4/compartmentdefinition-patient.html).
const compartment = "Account AdverseEvent AllergyIntolerance Appointment AppointmentResponse AuditEvent Basic " +
	"BodyStructure CarePlan " +
	"CareTeam ChargeItem Claim ClaimResponse ClinicalImpression Communication CommunicationRequest Composition " +
	"Condition Consent " +
	"Coverage CoverageEligibilityRequest CoverageEligibilityResponse DetectedIssue DeviceRequest DeviceUseStatement " +
	"DiagnosticReport DocumentManifest DocumentReference Encounter EnrollmentRequest EpisodeOfCare ExplanationOfBenefit " +
	"FamilyMemberHistory Flag Goal Group GuidanceResponse ImagingStudy Immunization ImmunizationEvaluation " +
	"ImmunizationRecommendation Invoice List MeasureReport Media MedicationAdministration MedicationDispense " +
	"MedicationRequest " +
	"MedicationStatement MolecularSequence NutritionOrder Observation Person Procedure Provenance QuestionnaireResponse " +
	"RelatedPerson RequestGroup ResearchSubject RiskAssessment Schedule ServiceRequest Specimen SupplyDelivery " +
	"SupplyRequest Task " +
	"VisionPrescription"

// searchParams returns the search parameters supported for a type, in CapabilityStatement order. Types without a
// reference to the patient are searched by ID. Binary resources can't be searched.
func searchParams(resourceType string) []param {
	id := param{name: "_id", kind: kindToken, paths: [][]string{{"id"}}}
	updated := param{name: "_lastUpdated", kind: kindDate, prefix: "eq"}
	switch resourceType {
	case "Binary":
		return nil
	case "Questionnaire":
		return []param{{name: "url", kind: kindURI, paths: [][]string{{"url"}}}, id, updated}
	}
	params := append(patientParams(resourceType), id, updated)
	if hasCategory(resourceType) {
		params = append(params, param{name: "category", kind: kindToken, paths: [][]string{{"category"}}})
	}

	return params
}

// patientParams returns the parameters that select a patient's resources in FHIR R4
// (https://hl7.org/fhir/R4/searchparameter-registry.html). The resource type determines which element refers to the
// patient, and whether the parameter is called patient, subject or both.
func patientParams(resourceType string) []param {
	link := func(name string, path ...string) param {
		return param{name: name, kind: kindReference, paths: [][]string{path}}
	}
	patient := func(path ...string) param {
		return param{name: "patient", kind: kindReference, paths: [][]string{path}, target: "Patient"}
	}
	switch resourceType {
	case "Account", "Basic", "CarePlan", "CareTeam", "ChargeItem", "ClinicalImpression", "Communication",
		"CommunicationRequest", "Composition", "Condition", "Contract", "DeviceRequest", "DeviceUseStatement",
		"DiagnosticReport", "DocumentManifest", "DocumentReference", "Encounter", "Flag", "Goal",
		"GuidanceResponse", "ImagingStudy", "Invoice", "List", "MeasureReport", "Media",
		"MedicationAdministration", "MedicationDispense", "MedicationRequest", "MedicationStatement", "Observation",
		"Procedure", "QuestionnaireResponse", "RequestGroup", "RiskAssessment", "ServiceRequest", "Specimen":
		return []param{patient("subject"), link("subject", "subject")}
	case "AllergyIntolerance", "BodyStructure", "Claim", "ClaimResponse", "Consent", "CoverageEligibilityRequest",
		"CoverageEligibilityResponse", "DetectedIssue", "Device", "EpisodeOfCare", "ExplanationOfBenefit",
		"FamilyMemberHistory", "Immunization", "ImmunizationEvaluation", "ImmunizationRecommendation",
		"MolecularSequence", "NutritionOrder", "RelatedPerson", "SupplyDelivery", "VisionPrescription":
		return []param{patient("patient")}
	case "AdverseEvent":
		return []param{link("subject", "subject")}
	case "Appointment":
		return []param{patient("participant", "actor")}
	case "AppointmentResponse":
		return []param{patient("actor")}
	case "AuditEvent":
		either := patient("entity", "what")
		either.paths = append(either.paths, []string{"agent", "who"})

		return []param{either}
	case "Coverage":
		return []param{patient("beneficiary"), link("beneficiary", "beneficiary")}
	case "Group":
		return []param{{name: "member", kind: kindReference, paths: [][]string{{"member", "entity"}}, target: "Patient"}}
	case "Schedule":
		return []param{{name: "actor", kind: kindReference, paths: [][]string{{"actor"}}, target: "Patient"}}
	case "EnrollmentRequest":
		return []param{patient("candidate"), link("subject", "candidate")}
	case "Person":
		return []param{patient("link", "target")}
	case "Provenance":
		return []param{patient("target"), link("target", "target")}
	case "ResearchSubject":
		return []param{patient("individual"), link("individual", "individual")}
	case "SupplyRequest":
		return []param{link("subject", "deliverTo")}
	case "Task":
		return []param{patient("for"), link("subject", "for")}
	default:
		return nil
	}
}

// params returns the search parameters that the server supports for a type. If SearchBy is set, the search uses only
// that parameter for types that have both patient and subject.
func (s *Server) params(resourceType string) []param {
	all := searchParams(resourceType)
	has := func(name string) bool { return slices.ContainsFunc(all, func(p param) bool { return p.name == name }) }
	if s.options.SearchBy == "" || !has("patient") || !has("subject") {
		return all
	}

	return slices.DeleteFunc(all, func(p param) bool {
		return (p.name == "patient" || p.name == "subject") && p.name != s.options.SearchBy
	})
}

// hasCategory reports whether the type has the category search parameter in R4.
func hasCategory(resourceType string) bool {
	switch resourceType {
	case "AllergyIntolerance", "CarePlan", "CareTeam", "Communication", "CommunicationRequest", "Composition",
		"Condition", "Consent", "DiagnosticReport", "DocumentReference", "Goal",
		"MedicationRequest", "MedicationStatement", "Observation", "Procedure", "ServiceRequest":
		return true
	default:
		return false
	}
}
