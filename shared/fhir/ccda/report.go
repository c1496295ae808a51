package ccda

import "recordbridge/shared/fhir/ccda/emit"

// Report describes the conversion of documents, using only numbers, codes and template ids: it contains no personal
// data.
type Report struct {
	Documents []DocumentReport `json:"documents"`
	Resources map[string]int   `json:"resources"` // by type, as emitted
	Merged    int              `json:"merged"`    // resources already stated elsewhere in the documents
}

// DocumentReport is the part of a Report for one document.
type DocumentReport = emit.DocumentReport
