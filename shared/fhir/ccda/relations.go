package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

const entryReference = "2.16.840.1.113883.10.20.22.4.122"

// relationEntries are statements that only point to others.
func relationEntries() []entryRule {
	const file = "relations.go"
	return []entryRule{
		{
			roots: []string{entryReference}, name: "Entry Reference", target: "a reference in the resource of the statement around it",
			file: file, convert: func(*converter, *node) {}, // it says nothing itself; who needs it asks related
		},
		{
			roots: []string{externalDocumentReference}, name: "External Document Reference", target: "DocumentReference",
			file: file, convert: (*converter).externalAct,
		},
	}
}

// externalDocumentReference is, in C-CDA, the template of the document; here also of an act that does nothing but refer to it.
const externalDocumentReference = "2.16.840.1.113883.10.20.22.4.115"

// related gives the resources of what a statement points to by relationships of some types (ActRelationshipType): statements in
// it, and those that an Entry Reference names. It knows them all only when every statement has its resource (later).
func (c *converter) related(n *node, kinds ...string) []r4.Reference {
	var list []r4.Reference
	for r := range n.each("entryRelationship") {
		if !isOneOf(r.attr("typeCode"), kinds...) {
			continue
		}
		for s := range r.each() {
			if ref := c.pointed(s); ref != nil && c.affords("entryRelationship", relationSize) {
				list = appendReference(list, *ref)
			}
		}
	}
	return list
}

// pointed gives the resource of a statement, or of another of its id when it only names that.
func (c *converter) pointed(s *node) *r4.Reference {
	if ref := c.reference(s); ref != nil && !isTemplate(s, entryReference) {
		return ref
	}
	for _, named := range c.acts[realID(s)] {
		if c.toldBy(named) != nil && !isTemplate(named, entryReference) {
			return c.reference(named)
		}
	}
	return nil
}

// ofType leaves the references to resources of some types.
func ofType(list []r4.Reference, types ...string) []r4.Reference {
	var some []r4.Reference
	for _, r := range list {
		if kind, _, _ := strings.Cut(r.Reference, "/"); isOneOf(kind, types...) {
			some = append(some, r)
		}
	}
	return some
}

// without leaves out one reference.
func without(list []r4.Reference, one *r4.Reference) []r4.Reference {
	var others []r4.Reference
	for _, r := range list {
		if r.Reference != one.Reference {
			others = append(others, r)
		}
	}
	return others
}

// resourceOf finds the resource of a reference, as it is after others of its id have completed it; nil when it is of another type.
func resourceOf[T any](c *converter, ref *r4.Reference) *T {
	if ref == nil {
		return nil
	}
	at, known := c.index[ref.Reference]
	if !known {
		return nil
	}
	r, _ := any(c.resources[at]).(*T)
	return r
}

// externalAct makes DocumentReferences of the documents that an act refers to.
func (c *converter) externalAct(n *node) {
	for r := range n.each("reference") {
		c.externalDocument(r.at("externalDocument"), n)
	}
}

// externalDocument makes a DocumentReference of a document that is somewhere else (External Document Reference,
// 2.16.840.1.113883.10.20.22.4.115). What is said to be at an address is not fetched. It is nil when nothing is known of it.
func (c *converter) externalDocument(n *node, told ...*node) *r4.Reference {
	text := n.at("text")
	a := &r4.Attachment{ContentType: text.attr("mediaType"), Title: conceptWords(c.concept(n.at("code")))}
	if url := text.at("reference").attr("value"); url != "" && !strings.ContainsAny(url, " \t\n") {
		a.URL = url
	} else if words := text.words(); words != "" {
		a.Title = words
	}
	ids := identifiers(n)
	if ids == nil && a.URL == "" && a.Title == "" {
		return nil
	}
	if a.URL == "" && a.Title == "" {
		a.Title = "External document"
	}
	r := &r4.DocumentReference{
		Identifier: ids, Status: "current", Type: c.conceptOr(n.at("code")), Category: clinicalNote(), Subject: c.patient,
		Content: []r4.DocumentContent{{Attachment: a}},
	}
	if setID, ok := identifier(n.at("setId")); ok && len(ids) == 0 {
		r.Identifier = []r4.Identifier{setID}
	}
	if realID(n) == "" {
		r.Header = c.headerWith("DocumentReference", derive(c.salt, "DocumentReference", c.key, digest(n)))
	} else {
		r.Header = c.entity("DocumentReference", n, c.salt)
	}
	if len(told) > 0 {
		return c.add(r, told...)
	}
	ref := c.addEntity(r)
	c.open.add(*ref)
	return ref
}
