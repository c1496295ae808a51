package ccda

import (
	"recordbridge/shared/fhir/ccda/body"
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/header"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/section/problems"
	"recordbridge/shared/fhir/ccda/statement"
)

// convert converts a document to FHIR resources. The first resource is the Patient, and the last is the document's
// Provenance. bytes is the document's size. packer packs the resources of a large document, and is otherwise nil. salt
// is the patient's id if the ids must differ from another patient's, and otherwise empty.
func convert(d *cda.Document, bytes int, patientID, salt string, packer *r4.Packer) *emit.Emitter {
	made := emit.New(d, bytes, salt, packer)
	c := statement.NewContext(d, &r4.Reference{Reference: "Patient/" + patientID}, made)
	c.Problems = problems.New(c)
	dispatcher := body.New(c, ruleSets())
	header.Patient(c)
	composition := header.Composition(c)
	composition.Section = dispatcher.Read()
	made.RunLater()
	c.AddAuthorships()
	header.AddProvenance(c, composition)
	made.CountUnread(d.Root)
	return made
}
