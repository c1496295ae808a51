package statement

import ()

const IndicationRoot = "2.16.840.1.113883.10.20.22.4.19"

const GoalRoot = "2.16.840.1.113883.10.20.22.4.121"

const PreferenceRoot = "2.16.840.1.113883.10.20.22.4.143"

// InstructionRoots are the templates of an instruction: of C-CDA, CCD and IHE.
func InstructionRoots() []string {
	return []string{"2.16.840.1.113883.10.20.22.4.20", "2.16.840.1.113883.10.20.1.49", "1.3.6.1.4.1.19376.1.5.3.1.4.3"}
}

const NoteActivityRoot = "2.16.840.1.113883.10.20.22.4.202"

const InstructionRoot = "2.16.840.1.113883.10.20.22.4.20"

const EntryReference = "2.16.840.1.113883.10.20.22.4.122"

// ExternalDocumentReference is, in C-CDA, the template of the document; here also of an act that does nothing but refer to it.
const ExternalDocumentReference = "2.16.840.1.113883.10.20.22.4.115"

// Templates that more than one section names. Their rules belong to one of them.
const (
	PlannedActRoot         = "2.16.840.1.113883.10.20.22.4.39"
	PlannedMedicationRoot  = "2.16.840.1.113883.10.20.22.4.42"
	SupplyOrderRoot        = "2.16.840.1.113883.10.20.22.4.17"
	SpecimenCollectionRoot = "2.16.840.1.113883.10.20.22.4.415"
	ProcedureActRoot       = "2.16.840.1.113883.10.20.22.4.12" // of acts that have been done
)
