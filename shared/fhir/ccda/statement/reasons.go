package statement

import (
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

// IsReaction reports whether a statement is a Reaction Observation of the enclosing statement, by its relationship and
// template.
func IsReaction(r, n *cda.Node) bool {
	if cda.IsNegated(n) {
		return false
	}
	if r.Attr("typeCode") == "MFST" {
		return true
	}
	for t := range n.Each("templateId") {
		if cda.IsOneOf(t.Attr("root"), "2.16.840.1.113883.10.20.22.4.9", "2.16.840.1.113883.10.20.1.54") {
			return true
		}
	}
	return false
}

// SeverityOf returns the Severity Observation nested in a statement, such as a reaction or an allergy, or nil if there
// is none. An allergy's applies to all of its reactions.
func SeverityOf(n *cda.Node) *cda.Node {
	return cda.EntryOf(n, "2.16.840.1.113883.10.20.22.4.8", "SEV")
}

// IsInstruction reports whether a statement's template identifies an Instruction.
func IsInstruction(s *cda.Node) bool {
	return s.Name == "act" && cda.IsTemplate(s, InstructionRoots()...)
}

// IsReason reports whether a statement is the reason for the enclosing statement (Indication,
// 2.16.840.1.113883.10.20.22.4.19).
func IsReason(rel, n *cda.Node) bool {
	return n.Name == "observation" && n.At("value") != nil && !cda.IsNegated(n) && (cda.IsTemplate(n, IndicationRoot) ||
		rel.Attr("typeCode") == "RSON" && n.At("templateId") == nil)
}

// Reason appends a reason's code to codes. If the Condition precedes the reason in the document, it also appends to
// references a reference to the Condition with the reason's id (C-CDA on FHIR, "Encounters": indication).
func (c *Context) Reason(
	n *cda.Node, codes []r4.CodeableConcept, references []r4.Reference,
) ([]r4.CodeableConcept, []r4.Reference) {
	for other := range c.Document.Acts(cda.RealID(n), c.Emit.HasFact) {
		if ref := c.Emit.Reference(other); ref != nil && strings.HasPrefix(ref.Reference, "Condition/") {
			references = r4.AppendReference(references, *ref)
		}
	}
	return append(codes, r4.Listed(c.Read.Concept(n.At("value")))...), references
}

// Reasons converts a statement's reasons. told contains the statements that give the reasons.
func (c *Context) Reasons(n *cda.Node) (codes []r4.CodeableConcept, references []r4.Reference, told []*cda.Node) {
	for rel := range n.Each("entryRelationship") {
		for inner := range rel.Each("observation") {
			if IsReason(rel, inner) {
				codes, references = c.Reason(inner, codes, references)
				told = append(told, inner)
			}
		}
	}
	return codes, references, told
}
