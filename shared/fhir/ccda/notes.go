package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

const noteActivityRoot = "2.16.840.1.113883.10.20.22.4.202"

func noteEntries() []entryRule {
	return []entryRule{{
		roots: []string{noteActivityRoot}, name: "Note Activity", target: "DocumentReference", file: "notes.go", convert: (*converter).noteActivity,
	}}
}

// clinicalNote is the category of notes (US Core DocumentReference).
func clinicalNote() []r4.CodeableConcept {
	return []r4.CodeableConcept{*one("http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category", "clinical-note", "Clinical Note")}
}

// noteActivity makes a DocumentReference of a note (C-CDA on FHIR, "Notes"): its type from the code and its translations, its
// content from the text, whether that is there, in the narrative, or elsewhere.
func (c *converter) noteActivity(n *node) {
	by := c.author(n)
	r := &r4.DocumentReference{
		Header: c.header("DocumentReference", n), Identifier: identifiers(n), Status: noteStatus(n), DocStatus: docStatus(n), Type: c.conceptOr(n.at("code")),
		Category: clinicalNote(), Subject: c.patient, Date: c.instantOf(by.time), Content: c.contents(n.at("text")), Author: c.authorsOf(n),
		Custodian: c.party(c.document.at("custodian")).organization,
	}
	for ref := range n.each("reference") {
		if to := c.externalDocument(ref.at("externalDocument")); to != nil {
			r.RelatesTo = append(r.RelatesTo, r4.DocumentRelation{Code: "appends", Target: to})
		}
	}
	for p := range n.each("participant") {
		if p.attr("typeCode") == "LA" {
			r.Authenticator = c.party(p).as("Practitioner", "PractitionerRole", "Organization")
		}
	}
	context := r4.DocumentReferenceContext{Period: c.period(n.at("effectiveTime"))}
	if c.encounter != nil {
		context.Encounter = []r4.Reference{*c.encounter}
	}
	if context.Encounter != nil || context.Period != nil {
		r.Context = &context
	}
	if r.Content == nil {
		r.Content = []r4.DocumentContent{{Attachment: &r4.Attachment{ContentType: "text/plain", Title: firstOf(conceptWords(r.Type), "Note")}}}
	}
	ref := c.add(r, n)
	c.after(ref, func() { c.relateNote(ref, n) })
}

// relateNote adds the encounter of a note and what else it points to.
func (c *converter) relateNote(ref *r4.Reference, n *node) {
	all := without(c.related(n, "COMP", "REFR", "SUBJ", "RSON", "SPRT"), ref)
	r := resourceOf[r4.DocumentReference](c, ref)
	if r == nil || all == nil {
		return
	}
	if r.Context == nil {
		r.Context = &r4.DocumentReferenceContext{}
	}
	if encounters := ofType(all, "Encounter"); encounters != nil {
		r.Context.Encounter = encounters
	}
	for _, other := range all {
		if !strings.HasPrefix(other.Reference, "Encounter/") {
			r.Context.Related = appendReference(r.Context.Related, other)
		}
	}
}

// noteStatus maps ActStatus to DocumentReferenceStatus.
func noteStatus(n *node) string {
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "nullified":
		return "entered-in-error"
	case "obsolete":
		return "superseded"
	}
	return "current"
}

// docStatus maps ActStatus to CompositionStatus: a note that is being written is preliminary.
func docStatus(n *node) string {
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "completed":
		return "final"
	case "active", "new", "held", "suspended":
		return "preliminary"
	case "nullified":
		return "entered-in-error"
	}
	return ""
}

// authorsOf gives all authors of a statement or section, or else the first of what is around it.
func (c *converter) authorsOf(n *node) []r4.Reference {
	types := []string{"Practitioner", "PractitionerRole", "Organization", "Device", "Patient", "RelatedPerson"}
	var list []r4.Reference
	for a := range n.each("author") {
		if who := c.party(a).as(types...); who != nil {
			list = appendReference(list, *who)
		}
	}
	if list == nil {
		list = listed(c.author(n).as(types...))
	}
	return list
}

// instantOf writes a dateTime as an instant; "" when it is not known to the day.
func (c *converter) instantOf(moment string) string {
	zone := firstOf(c.zone, "Z")
	switch {
	case len(moment) > len("2006-01-02"):
		return moment
	case len(moment) == len("2006-01-02"):
		return moment + "T00:00:00" + zone
	}
	return ""
}

// contents gives the forms of a text: its bytes in the format that it names, where it is, or the words of the narrative as XHTML
// and as plain text. It is nil when there are none.
func (c *converter) contents(text *node) []r4.DocumentContent {
	url := text.at("reference").attr("value")
	kind := text.attr("mediaType")
	switch target := c.narrative[strings.TrimPrefix(url, "#")]; {
	case target != nil && target.words() != "":
		return wordsAs(target)
	case text.attr("representation") == "B64" || kind != "" && !strings.HasPrefix(kind, "text/plain") && text.words() != "":
		return attached(&r4.Attachment{ContentType: firstOf(kind, "application/octet-stream"), Data: bytesOf(text)})
	case url != "" && !strings.HasPrefix(url, "#") && !strings.ContainsAny(url, " \t\n"):
		return attached(&r4.Attachment{ContentType: firstOf(kind, "application/octet-stream"), URL: url})
	case text.words() != "":
		return attached(&r4.Attachment{ContentType: "text/plain", Data: []byte(text.words())})
	}
	return nil
}

func attached(a *r4.Attachment) []r4.DocumentContent {
	return []r4.DocumentContent{{Attachment: a}}
}

// wordsAs gives a part of the narrative as XHTML and as plain text.
func wordsAs(n *node) []r4.DocumentContent {
	var b strings.Builder
	writeInner(&b, n)
	html := xhtml(b.String())
	return append(attached(&r4.Attachment{ContentType: "text/html", Data: []byte(html)}), attached(&r4.Attachment{ContentType: "text/plain", Data: []byte(n.words())})...)
}

// noteOfWords makes a DocumentReference of the words of a section, which are all that some sections have.
func (c *converter) noteOfWords(section *node) {
	text := section.at("text")
	if text.words() == "" {
		return
	}
	r := &r4.DocumentReference{
		Header: c.sectionHeader("DocumentReference", section), Identifier: identifiers(section), Status: "current", Type: c.conceptOr(section.at("code")),
		Category: clinicalNote(), Subject: c.patient, Date: c.instantOf(c.author(section).time), Author: c.authorsOf(section),
		Custodian: c.party(c.document.at("custodian")).organization, Description: section.at("title").words(), Content: wordsAs(text),
	}
	if r.Date == "" {
		r.Date = c.instant(c.document.at("effectiveTime"))
	}
	if title := r.Description; len(r.Type.Coding) == 1 && r.Type.Coding[0].System == absentSystem && title != "" {
		r.Type = &r4.CodeableConcept{Text: title}
	}
	if c.encounter != nil {
		r.Context = &r4.DocumentReferenceContext{Encounter: []r4.Reference{*c.encounter}}
	}
	c.open.add(*c.addEntity(r))
}

// sectionHeader begins a resource that tells a section: the same as long as its name and its words are, whatever its entries.
func (c *converter) sectionHeader(kind string, section *node) r4.Header {
	return c.headerWith(kind, derive(
		c.salt, kind, c.key, realID(section), codeOf(section.at("code")), section.at("title").words(), digestOf([]byte(section.at("text").words()))))
}
