package ccda

import "recordbridge/shared/fhir/ccda/emit"

// Report describes the conversion of documents. It contains only numbers, codes and template ids, and no personal data.
type Report struct {
	Documents []DocumentReport `json:"documents"`
	Resources map[string]int   `json:"resources"` // resources emitted, by type
	// resources merged into another, because the documents state the fact repeatedly
	Merged int `json:"merged"`
}

// DocumentReport is the part of a Report that describes one document.
type DocumentReport = emit.DocumentReport
