// Package ccda converts C-CDA documents to FHIR R4 resources. Code outside this folder imports only this package. It
// parses documents, passes each section to its package (section/allergies and so on) and merges facts that several
// documents share. The package uses no clock, network or randomness, so the same documents always produce the same
// bytes.
//
// The conversion follows HL7 "C-CDA on FHIR" (hl7.org/fhir/us/ccda) for documents of C-CDA R1.1, R2.1 and later, and US
// Core for a resource's required elements. An entry without a known templateId is converted by its section and class.
// Content without a rule becomes a generic Observation and is counted in the Report. No document is rejected for its
// content.
//
// # Ids
//
// Ids are version 5 UUIDs (RFC 9562) in one namespace. Converting a document twice produces the same ids, and a fact
// that two documents share becomes one resource. The UUID is derived as follows:
//
//   - an independent entity (Patient, Practitioner, Organization, Device, Location, Encounter …): from its type and its
//     first real II;
//   - a clinical fact: from its type, its first real II, its code and its start, since senders reuse ids for other
//     facts;
//   - anything without a real II: from its document, its type, its enclosing fact and its content, but never
//     from its position in the document.
//
// If two facts in a document get the same id but contradict each other, both are retained and the second gets an id
// derived from its content.
package ccda

import "recordbridge/shared/fhir/ccda/cda"

// ErrInvalid means that a document can't be converted: it is not well-formed XML, contains no ClinicalDocument, is too
// large, or is nested too deeply. The error's text contains no part of the document.
var ErrInvalid = cda.ErrInvalid

// Resource is one FHIR R4 resource.
type Resource struct {
	Type string // resourceType
	ID   string // lower-case UUID
	JSON []byte // compact, without line breaks; the receiver may retain it
}

// Convert converts one document and emits its resources in document order, starting with the Patient. It returns
// ErrInvalid or the error from emit.
func Convert(document []byte, emit func(Resource) error) (Report, error) {
	var s Set
	if err := s.Add(document); err != nil {
		return Report{}, err
	}
	return s.Emit(emit)
}
