// Package docref creates DocumentReferences from narrative, external documents and unstructured bodies (C-CDA on FHIR,
// "Notes": hl7.org/fhir/us/ccda/CF-notes.html).
package docref

import (
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// Category returns the category for notes (US Core DocumentReference).
func Category() []r4.CodeableConcept {
	return []r4.CodeableConcept{
		*r4.Concept(
			"http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category", "clinical-note",
			"Clinical Note",
		),
	}
}

// Attached returns the content of a DocumentReference with a single attachment.
func Attached(a *r4.Attachment) []r4.DocumentContent {
	return []r4.DocumentContent{{Attachment: a}}
}

// WordsAs returns parts of the narrative as both XHTML and plain text.
func WordsAs(c *statement.Context, parts ...*cda.Node) []r4.DocumentContent {
	markup, plain := c.Read.Forms(parts...)
	return append(Attached(markup), Attached(plain)...)
}

// OfWords creates a DocumentReference from the text of a section.
func OfWords(c *statement.Context, section *cda.Node) {
	text := section.At("text")
	if !text.HasWords() {
		return
	}
	r := &r4.DocumentReference{
		Header: SectionHeader(c, "DocumentReference", section), Identifier: datatype.Identifiers(section),
		Status: "current", Type: c.Read.ConceptOr(section.At("code")),
		Category: Category(), Subject: c.Patient, Date: c.Read.InstantOf(c.Make.Author(section).Time),
		Author:    c.Make.AuthorsOf(section),
		Custodian: c.Make.Party(c.Document.Root.At("custodian")).Organization, Description: section.At("title").Words(),
		Content: WordsAs(c, text),
	}
	if r.Date == "" {
		r.Date = c.Read.Instant(c.Document.Root.At("effectiveTime"))
	}
	if title := r.Description; len(r.Type.Coding) == 1 && r.Type.Coding[0].System == datatype.AbsentSystem &&
		title != "" {
		r.Type = &r4.CodeableConcept{Text: title}
	}
	if c.Encounter != nil {
		r.Context = &r4.DocumentReferenceContext{Encounter: []r4.Reference{*c.Encounter}}
	}
	c.Open.Add(*c.Emit.AddEntity(r))
}

// SectionHeader starts the resource for a section. The id depends only on the section's name and text.
func SectionHeader(c *statement.Context, kind string, section *cda.Node) r4.Header {
	return c.Emit.HeaderWith(kind, emit.Derive(
		c.Emit.Salt, kind, c.Emit.Key, cda.RealID(section), cda.CodeOf(section.At("code")), section.At("title").Words(),
		cda.DigestOfWords(section.At("text"))))
}

// ExternalAct creates a DocumentReference for each external document that an act references.
func ExternalAct(c *statement.Context, n *cda.Node) {
	for r := range n.Each("reference") {
		External(c, r.At("externalDocument"), n)
	}
}

// External creates a DocumentReference for an external document (External Document Reference,
// 2.16.840.1.113883.10.20.22.4.115). External does not fetch the document. External returns nil if nothing is known
// about the document.
func External(c *statement.Context, n *cda.Node, told ...*cda.Node) *r4.Reference {
	text := n.At("text")
	a := &r4.Attachment{ContentType: text.Attr("mediaType"), Title: r4.Words(c.Read.Concept(n.At("code")))}
	if url := text.At("reference").Attr("value"); url != "" && !strings.ContainsAny(url, " \t\n") {
		a.URL = url
	} else if words := text.Words(); words != "" {
		a.Title = words
	}
	ids := datatype.Identifiers(n)
	if ids == nil && a.URL == "" && a.Title == "" {
		return nil
	}
	if a.URL == "" && a.Title == "" {
		a.Title = "External document"
	}
	r := &r4.DocumentReference{
		Identifier: ids, Status: "current", Type: c.Read.ConceptOr(n.At("code")), Category: Category(),
		Subject: c.Patient,
		Content: []r4.DocumentContent{{Attachment: a}},
	}
	if setID, ok := datatype.Identifier(n.At("setId")); ok && len(ids) == 0 {
		r.Identifier = []r4.Identifier{setID}
	}
	if cda.RealID(n) == "" {
		r.Header = c.Emit.HeaderWith(
			"DocumentReference", emit.Derive(c.Emit.Salt, "DocumentReference", c.Emit.Key, cda.Digest(n)),
		)
	} else {
		r.Header = c.Emit.Entity("DocumentReference", n, c.Emit.Salt)
	}
	if len(told) > 0 {
		return c.Add(r, told...)
	}
	ref := c.Emit.AddEntity(r)
	c.Open.Add(*ref)
	return ref
}
