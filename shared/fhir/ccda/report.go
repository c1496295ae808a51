package ccda

import "recordbridge/shared/fhir/ccda/emit"

// Report states what became of documents, in numbers, codes and template ids alone: nothing in it is about a person.
type Report struct {
	Documents []DocumentReport `json:"documents"`
	Resources map[string]int   `json:"resources"` // by type, as emitted
	Merged    int              `json:"merged"`    // resources that an earlier document or place had already stated
}

// DocumentReport is the part of one document.
type DocumentReport = emit.DocumentReport
