// Package entity creates the resources of independent entities, which are named in many parts of a document: people and
// their roles, organizations, places, devices and specimens (C-CDA on FHIR, "Participations").
package entity

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
)

// Maker creates the entities of one document, each once.
type Maker struct {
	document *cda.Document
	patient  *r4.Reference
	read     *datatype.Reader
	emit     *emit.Emitter

	parties   map[int32]Party           // by the number of the participation
	authors   map[int32]*cda.Node       // of sections and the document, by the number of either
	roles     map[string]Party          // by each of the ids
	specimens map[int32][]*r4.Reference // by the number of the statement
}

// NewMaker returns a Maker for a document about a patient.
func NewMaker(document *cda.Document, patient *r4.Reference, read *datatype.Reader, to *emit.Emitter) *Maker {
	return &Maker{
		document: document, patient: patient, read: read, emit: to,
		parties: map[int32]Party{}, authors: map[int32]*cda.Node{}, roles: map[string]Party{},
		specimens: map[int32][]*r4.Reference{},
	}
}
