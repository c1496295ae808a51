package fhir

// AnyType is the base of all resource types (FHIR R4 resource.html), and the name under which resources of unknown
// types are counted.
const AnyType = "Resource"

// TypeName returns the name under which resources of a type are counted: the type itself, or AnyType if no FHIR release
// defines it. A server therefore can't add names. The types are from the resourcelist.html of each release.
func TypeName(resourceType string) string {
	switch resourceType { // R4
	case "Account", "ActivityDefinition", "AdverseEvent", "AllergyIntolerance", "Appointment", "AppointmentResponse",
		"AuditEvent",
		"Basic", "Binary", "BiologicallyDerivedProduct", "BodyStructure", "Bundle", "CapabilityStatement",
		"CarePlan", "CareTeam",
		"CatalogEntry", "ChargeItem", "ChargeItemDefinition", "Claim", "ClaimResponse", "ClinicalImpression", "CodeSystem",
		"Communication", "CommunicationRequest", "CompartmentDefinition", "Composition", "ConceptMap", "Condition", "Consent",
		"Contract", "Coverage", "CoverageEligibilityRequest", "CoverageEligibilityResponse", "DetectedIssue", "Device",
		"DeviceDefinition", "DeviceMetric", "DeviceRequest", "DeviceUseStatement", "DiagnosticReport", "DocumentManifest",
		"DocumentReference", "EffectEvidenceSynthesis", "Encounter", "Endpoint", "EnrollmentRequest", "EnrollmentResponse",
		"EpisodeOfCare", "EventDefinition", "Evidence", "EvidenceVariable", "ExampleScenario", "ExplanationOfBenefit",
		"FamilyMemberHistory", "Flag", "Goal", "GraphDefinition", "Group", "GuidanceResponse", "HealthcareService",
		"ImagingStudy",
		"Immunization", "ImmunizationEvaluation", "ImmunizationRecommendation", "ImplementationGuide",
		"InsurancePlan", "Invoice",
		"Library", "Linkage", "List", "Location", "Measure", "MeasureReport", "Media", "Medication",
		"MedicationAdministration",
		"MedicationDispense", "MedicationKnowledge", "MedicationRequest", "MedicationStatement", "MedicinalProduct",
		"MedicinalProductAuthorization", "MedicinalProductContraindication", "MedicinalProductIndication",
		"MedicinalProductIngredient", "MedicinalProductInteraction", "MedicinalProductManufactured",
		"MedicinalProductPackaged",
		"MedicinalProductPharmaceutical", "MedicinalProductUndesirableEffect", "MessageDefinition", "MessageHeader",
		"MolecularSequence", "NamingSystem", "NutritionOrder", "Observation", "ObservationDefinition", "OperationDefinition",
		"OperationOutcome", "Organization", "OrganizationAffiliation", "Parameters", "Patient", "PaymentNotice",
		"PaymentReconciliation", "Person", "PlanDefinition", "Practitioner", "PractitionerRole", "Procedure", "Provenance",
		"Questionnaire", "QuestionnaireResponse", "RelatedPerson", "RequestGroup", "ResearchDefinition",
		"ResearchElementDefinition",
		"ResearchStudy", "ResearchSubject", "RiskAssessment", "RiskEvidenceSynthesis", "Schedule", "SearchParameter",
		"ServiceRequest",
		"Slot", "Specimen", "SpecimenDefinition", "StructureDefinition", "StructureMap", "Subscription", "Substance",
		"SubstanceNucleicAcid", "SubstancePolymer", "SubstanceProtein", "SubstanceReferenceInformation",
		"SubstanceSourceMaterial",
		"SubstanceSpecification", "SupplyDelivery", "SupplyRequest", "Task", "TerminologyCapabilities", "TestReport",
		"TestScript",
		"ValueSet", "VerificationResult", "VisionPrescription":
		return resourceType
	}
	switch resourceType { // DSTU2 and STU3
	case "BodySite", "Conformance", "DataElement", "DeviceComponent", "DeviceUseRequest", "DiagnosticOrder",
		"EligibilityRequest",
		"EligibilityResponse", "ExpansionProfile", "ImagingManifest", "ImagingObjectSelection", "MedicationOrder", "Order",
		"OrderResponse", "ProcedureRequest", "ProcessRequest", "ProcessResponse", "ReferralRequest", "Sequence",
		"ServiceDefinition":
		return resourceType
	}
	switch resourceType { // R4B and R5
	case "ActorDefinition", "AdministrableProductDefinition", "ArtifactAssessment", "BiologicallyDerivedProductDispense",
		"Citation", "ClinicalUseDefinition", "ConditionDefinition", "DeviceAssociation", "DeviceDispense", "DeviceUsage",
		"EncounterHistory", "EvidenceReport", "FormularyItem", "GenomicStudy", "ImagingSelection", "Ingredient",
		"InventoryItem",
		"InventoryReport", "ManufacturedItemDefinition", "MedicinalProductDefinition", "NutritionIntake", "NutritionProduct",
		"PackagedProductDefinition", "Permission", "RegulatedAuthorization", "RequestOrchestration", "Requirements",
		"SubscriptionStatus", "SubscriptionTopic", "SubstanceDefinition", "TestPlan", "Transport":
		return resourceType
	}
	return AnyType
}
