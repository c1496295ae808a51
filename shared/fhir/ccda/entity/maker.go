// Package entity creates the resources for entities that occur in many parts of a document: people and their roles,
// organizations, locations, devices and specimens (C-CDA on FHIR, "Participations").
package entity

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
)

// Maker creates each entity of a document once.
type Maker struct {
	document *cda.Document
	patient  *r4.Reference
	read     *datatype.Reader
	emit     *emit.Emitter

	parties   map[int32]Party           // parties by the participation's node number
	authors   map[int32]*cda.Node       // authors of sections and of the document, by node number
	roles     map[string]Party          // roles by each of their ids
	specimens map[int32][]*r4.Reference // specimens by the statement's node number
}

// NewMaker returns a Maker for a document about the given patient.
func NewMaker(document *cda.Document, patient *r4.Reference, read *datatype.Reader, to *emit.Emitter) *Maker {
	return &Maker{
		document: document, patient: patient, read: read, emit: to,
		parties: map[int32]Party{}, authors: map[int32]*cda.Node{}, roles: map[string]Party{},
		specimens: map[int32][]*r4.Reference{},
	}
}
