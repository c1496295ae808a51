package notes

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/docref"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// noteActivity creates a DocumentReference for a note (C-CDA on FHIR, "Notes"). The document's type is taken from the
// code and its translations. The content is taken from the text, which may be inline, in the narrative or at a URL.
func noteActivity(c *statement.Context, n *cda.Node) {
	by := c.Make.Author(n)
	r := &r4.DocumentReference{
		Header: c.Emit.Header("DocumentReference", n), Identifier: datatype.Identifiers(n), Status: noteStatus(n),
		DocStatus: docStatuses.Of(cda.StatusOf(n)), Type: noteType(c, n.At("code")),
		Category: docref.Category(), Subject: c.Patient, Date: c.Read.InstantOf(by.Time),
		Content: contents(c, n.At("text")), Author: c.Make.AuthorsOf(n),
		Custodian: c.Make.Party(c.Document.Root.At("custodian")).Organization,
	}
	for ref := range n.Each("reference") {
		if to := docref.External(c, ref.At("externalDocument")); to != nil {
			r.RelatesTo = append(r.RelatesTo, r4.DocumentRelation{Code: "appends", Target: to})
		}
	}
	for p := range n.Each("participant") {
		if p.Attr("typeCode") == "LA" {
			r.Authenticator = c.Make.Party(p).As("Practitioner", "PractitionerRole", "Organization")
		}
	}
	context := r4.DocumentReferenceContext{Period: c.Read.Period(n.At("effectiveTime"))}
	if c.Encounter != nil {
		context.Encounter = []r4.Reference{*c.Encounter}
	}
	if context.Encounter != nil || context.Period != nil {
		r.Context = &context
	}
	hasContent := r.Content != nil
	if !hasContent {
		r.Content = []r4.DocumentContent{
			{Attachment: &r4.Attachment{ContentType: "text/plain", Title: cmp.Or(r4.Words(r.Type), "Note")}},
		}
	}
	ref := c.Add(r, n)
	if text := n.At("text"); text.HasWords() || text.At("reference").Attr("value") != "" {
		c.Emit.CountText(hasContent && r4.IsKept(ref))
	}
	c.Emit.After(ref, n, func(n *cda.Node) { relateNote(c, ref, n) })
}

// relateNote adds the note's encounter and other references.
func relateNote(c *statement.Context, ref *r4.Reference, n *cda.Node) {
	all := r4.Without(c.Related(n, "COMP", "REFR", "SUBJ", "RSON", "SPRT"), ref)
	r := emit.ResourceOf[r4.DocumentReference](c.Emit, ref)
	if r == nil || all == nil {
		return
	}
	if r.Context == nil {
		r.Context = &r4.DocumentReferenceContext{}
	}
	if encounters := r4.OfType(all, "Encounter"); encounters != nil {
		r.Context.Encounter = encounters
	}
	for _, other := range all {
		if !strings.HasPrefix(other.Reference, "Encounter/") {
			r.Context.Related = r4.AppendReference(r.Context.Related, other)
		}
	}
}

// noteType converts a note's code. Any translations replace the template's fixed code, 34109-9 (C-CDA on FHIR, "Notes":
// /code/translation).
func noteType(c *statement.Context, code *cda.Node) *r4.CodeableConcept {
	kind := c.Read.ConceptOr(code)
	if code.Attr("code") == "34109-9" && len(kind.Coding) > 1 {
		kind.Coding = append(kind.Coding[1:len(kind.Coding):len(kind.Coding)], kind.Coding[0])
	}
	return kind
}

// noteStatus maps ActStatus to DocumentReferenceStatus.
func noteStatus(n *cda.Node) string {
	return cmp.Or(statuses.Of(cda.StatusOf(n)), "current")
}

// contents returns the available forms of a text: its bytes in the stated format, its URL, or the narrative as XHTML
// and plain text. Inline text precedes text from the narrative. It returns nil if there are none.
func contents(c *statement.Context, text *cda.Node) []r4.DocumentContent {
	url := text.At("reference").Attr("value")
	kind := text.Attr("mediaType")
	switch target := c.Document.Named(strings.TrimPrefix(url, "#")); {
	case target.HasWords() && text.HasWords():
		return docref.WordsAs(c, text, target)
	case target.HasWords():
		return docref.WordsAs(c, target)
	case text.Attr("representation") == "B64" ||
		kind != "" && !strings.HasPrefix(kind, "text/plain") && text.HasWords():
		a := &r4.Attachment{ContentType: cmp.Or(kind, "application/octet-stream")}
		c.Read.Attach(a, text)
		return docref.Attached(a)
	case url != "" && !strings.HasPrefix(url, "#") && !strings.ContainsAny(url, " \t\n"):
		return docref.Attached(&r4.Attachment{ContentType: cmp.Or(kind, "application/octet-stream"), URL: url})
	case text.HasWords():
		_, plain := c.Read.Forms(text)
		return docref.Attached(plain)
	}
	return nil
}
