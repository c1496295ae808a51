package statement

// Templates that several sections use. The rule for each template belongs to one of these sections or to package notes.
const (
	PlannedActRoot         = "2.16.840.1.113883.10.20.22.4.39"
	PlannedMedicationRoot  = "2.16.840.1.113883.10.20.22.4.42"
	SupplyOrderRoot        = "2.16.840.1.113883.10.20.22.4.17"
	SpecimenCollectionRoot = "2.16.840.1.113883.10.20.22.4.415"
	ProcedureActRoot       = "2.16.840.1.113883.10.20.22.4.12" // acts that were performed
	IndicationRoot         = "2.16.840.1.113883.10.20.22.4.19"
	GoalRoot               = "2.16.840.1.113883.10.20.22.4.121"
	PreferenceRoot         = "2.16.840.1.113883.10.20.22.4.143"
	InstructionRoot        = "2.16.840.1.113883.10.20.22.4.20"
	NoteActivityRoot       = "2.16.840.1.113883.10.20.22.4.202"
	EntryReference         = "2.16.840.1.113883.10.20.22.4.122"
	// ExternalDocumentReference is C-CDA's template for an external document. Acts that only refer to a document also
	// use this template.
	ExternalDocumentReference = "2.16.840.1.113883.10.20.22.4.115"
)

// InstructionRoots returns the Instruction templates in C-CDA, CCD and IHE.
func InstructionRoots() []string {
	return []string{InstructionRoot, "2.16.840.1.113883.10.20.1.49", "1.3.6.1.4.1.19376.1.5.3.1.4.3"}
}
