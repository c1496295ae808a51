package statement

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
)

// Add adds a resource that represents one or more statements, starting with the main one, and returns a reference to
// it. If a resource with the same id exists, it is completed with the new data unless the two contradict each other.
// Codes for which a resource has no element, such as an act's class, become tags. A resource that would assert more
// than its statement is limited (docs/reference/ccda.md, "Status, negation and absence"), or dropped and counted.
func (c *Context) Add(r r4.Resource, told ...*cda.Node) *r4.Reference {
	head := r.Base()
	for _, n := range told {
		if n != nil {
			c.Emit.Take(n)
			c.TagUncovered(head, n)
			c.tagComments(head, n)
			c.tagHidden(head, n)
		}
	}
	if len(told) > 0 && told[0] != nil {
		if why := c.limit(r, told[0]); why != "" {
			drop := c.Emit.Drop
			if told[0].Attr("nullFlavor") != "" {
				drop = c.Emit.DropUnstated
			}
			drop(cda.TemplateOrName(told[0]), why)
			return emit.NotStated()
		}
	}
	if !c.Emit.AffordsResource(r) {
		return emit.LeftOut()
	}
	head = c.Emit.Merge(r, told)
	for _, n := range told {
		if n == nil {
			continue
		}
		c.Emit.SetFact(n, head)
		c.Attribute(head, n, told[0])
	}
	ref := c.Emit.ReferenceTo(head)
	if len(told) > 0 {
		c.Open.Add(*ref)
	}
	return ref
}

// TagUncovered tags a resource with those codes in a statement's code, value and interpretation that no rule has read.
func (c *Context) TagUncovered(head *r4.Header, n *cda.Node) {
	for part := range n.Each("code", "value", "interpretationCode") {
		for cd := range part.Descendants() {
			if code, ok := datatype.Coding(cd); ok && !c.Emit.IsTaken(cd) &&
				cda.IsOneOf(cd.Name, "code", "value", "interpretationCode", "translation") {
				code.Version = ""
				head.Tag(code)
				c.Emit.Take(cd)
			}
		}
	}
}

// tagHidden tags a resource with codes from the hidden parts of a negated statement, such as the device of a procedure
// that was not done.
func (c *Context) tagHidden(head *r4.Header, n *cda.Node) {
	if len(n.Hidden()) == 0 || !cda.IsNegated(n) {
		return
	}
	for _, part := range n.Hidden() {
		for cd := range part.Descendants() {
			if code, ok := datatype.Coding(cd); ok && cda.IsOneOf(cd.Name, "code", "value", "translation") {
				code.Version = ""
				head.Tag(code)
			}
		}
	}
}

// tagComments tags a resource with the codes of comments that became its notes.
func (c *Context) tagComments(head *r4.Header, n *cda.Node) {
	for r := range n.Each("entryRelationship") {
		if act := r.At("act"); act != nil && c.Emit.IsTaken(act) && cda.IsComment(act) {
			c.TagUncovered(head, act)
		}
	}
}

// Comments returns a statement's Comment Activities (2.16.840.1.113883.10.20.22.4.64) as notes.
func (c *Context) Comments(n *cda.Node) []r4.Annotation {
	var notes []r4.Annotation
	for r := range n.Each("entryRelationship") {
		for act := range r.Each("act") {
			words := cmp.Or(c.Read.Text(act.At("text")), c.Read.Text(act.At("code", "originalText")))
			if !cda.IsComment(act) || c.Emit.IsTaken(act) {
				continue
			}
			c.Emit.Take(act)
			if by := c.Make.OwnAuthor(act); words != "" {
				notes = append(notes, r4.Annotation{
					AuthorReference: by.As("Practitioner", "Organization", "Patient", "RelatedPerson"), Time: by.Time,
					Text: words,
				})
			}
		}
	}
	return notes
}
