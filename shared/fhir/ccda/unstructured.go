package ccda

import (
	"encoding/base64"
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// addUnstructured keeps a body that is no XML (Unstructured Document, 2.16.840.1.113883.10.20.22.1.10): a DocumentReference to
// a Binary with its bytes, to where it is, or with its words.
func (c *converter) addUnstructured(text *node) {
	d := c.document
	r := &r4.DocumentReference{
		Header: c.headerWith("DocumentReference", derive(c.salt, "DocumentReference", c.version)), Identifier: identifiers(d), Status: "current",
		Type: c.conceptOr(d.at("code")), Subject: c.patient, Date: c.instant(d.at("effectiveTime")),
		Category:  []r4.CodeableConcept{*one("http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category", "clinical-note", "Clinical Note")},
		Custodian: c.party(d.at("custodian")).organization, Description: d.at("title").words(),
	}
	if id, ok := identifier(d.at("id")); ok {
		r.Master = &id
	}
	for author := range d.each("author") {
		if who := c.party(author).as("Practitioner", "PractitionerRole", "Organization", "Device", "Patient", "RelatedPerson"); who != nil {
			r.Author = appendReference(r.Author, *who)
		}
	}
	if c.encounter != nil {
		r.Context = &r4.DocumentReferenceContext{Encounter: []r4.Reference{*c.encounter}}
	}
	a := &r4.Attachment{ContentType: firstOf(strings.ReplaceAll(text.attr("mediaType"), " ", ""), "text/plain")}
	switch url := text.at("reference").attr("value"); {
	case url != "":
		a.URL = strings.ReplaceAll(url, " ", "%20")
	default:
		b := &r4.Binary{Header: c.headerWith("Binary", derive(c.salt, "Binary", c.version)), ContentType: a.ContentType, Data: bytesOf(text)}
		a.URL = c.addEntity(b).Reference
	}
	r.Content = []r4.DocumentContent{{Attachment: a}}
	c.addEntity(r)
}

// bytesOf gives the bytes of an ED: decoded when it says that they are base64, or when it says nothing and they are no text.
func bytesOf(n *node) []byte {
	var b strings.Builder
	n.write(&b)
	text := b.String()
	if n.attr("representation") == "B64" || n.attr("representation") == "" && !strings.HasPrefix(n.attr("mediaType"), "text/") {
		packed := strings.Join(strings.Fields(text), "")
		if raw, err := base64.StdEncoding.DecodeString(packed); err == nil {
			return raw
		}
		if raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(packed, "=")); err == nil {
			return raw
		}
	}
	return []byte(strings.TrimSpace(text))
}
