package ccda

import "recordbridge/shared/fhir/ccda/emit"

// Report describes the conversion of documents. The report contains only numbers, codes and template ids, and no
// personal data.
type Report struct {
	Documents []DocumentReport `json:"documents"`
	Resources map[string]int   `json:"resources"` // number of emitted resources, by type
	// number of resources merged into another because several documents, or several parts of one document, state the
	// same fact
	Merged int `json:"merged"`
}

// DocumentReport is the part of a Report that describes one document.
type DocumentReport = emit.DocumentReport
