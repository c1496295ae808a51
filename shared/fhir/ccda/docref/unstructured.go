package docref

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// AddUnstructured adds a body that is not XML (Unstructured Document, 2.16.840.1.113883.10.20.22.1.10). AddUnstructured
// creates a DocumentReference that points to the body's URL or to a Binary with the body's bytes.
func AddUnstructured(c *statement.Context, text *cda.Node) {
	d := c.Document.Root
	r := &r4.DocumentReference{
		Header: c.Emit.HeaderWith(
			"DocumentReference", emit.Derive(c.Emit.Salt, "DocumentReference", c.Emit.Version),
		),
		Identifier: datatype.Identifiers(d), Status: "current",
		Type: c.Read.ConceptOr(d.At("code")), Subject: c.Patient, Date: c.Read.Instant(d.At("effectiveTime")),
		Category: []r4.CodeableConcept{
			*r4.Concept(
				"http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category", "clinical-note",
				"Clinical Note",
			),
		},
		Custodian: c.Make.Party(d.At("custodian")).Organization, Description: d.At("title").Words(),
	}
	if id, ok := datatype.Identifier(d.At("id")); ok {
		r.Master = &id
	}
	for author := range d.Each("author") {
		if who := c.Make.Party(author).As(
			"Practitioner", "PractitionerRole", "Organization", "Device", "Patient", "RelatedPerson",
		); who != nil {
			r.Author = r4.AppendReference(r.Author, *who)
		}
	}
	if c.Encounter != nil {
		r.Context = &r4.DocumentReferenceContext{Encounter: []r4.Reference{*c.Encounter}}
	}
	a := &r4.Attachment{ContentType: cmp.Or(strings.ReplaceAll(text.Attr("mediaType"), " ", ""), "text/plain")}
	switch url := text.At("reference").Attr("value"); {
	case url != "":
		a.URL = strings.ReplaceAll(url, " ", "%20")
	default:
		b := &r4.Binary{
			Header:      c.Emit.HeaderWith("Binary", emit.Derive(c.Emit.Salt, "Binary", c.Emit.Version)),
			ContentType: a.ContentType,
		}
		b.Data, b.Large = c.Read.Data(text)
		a.URL = c.Emit.AddEntity(b).Reference
	}
	r.Content = []r4.DocumentContent{{Attachment: a}}
	c.Emit.AddEntity(r)
}
