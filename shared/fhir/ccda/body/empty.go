package body

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/terms"
)

const emptyReasonSystem = "http://terminology.hl7.org/CodeSystem/list-empty-reason"

// emptyReasons maps NullFlavor to list-empty-reason. Null flavors that are not in the map count as "unavailable" (FHIR
// R4, Composition.section.emptyReason; C-CDA general guidance, "Unknown and No Known Information").
const emptyReasons terms.Table = `
NASK notasked
MSK withheld
`

// emptyDisplays maps each list-empty-reason code to its display (terminology.hl7.org).
const emptyDisplays terms.Table = `
nilknown Nil Known
notasked Not Asked
withheld Information Withheld
unavailable Unavailable
`

// emptyReason returns the list-empty-reason code implied by a section's nullFlavor, or by its entries if all are
// negated or absent. It returns "" if neither the section nor its entries imply a code.
func emptyReason(section *cda.Node) string {
	if flavor := section.Attr("nullFlavor"); flavor != "" {
		return reasonOf(flavor)
	}
	reason := ""
	for entry := range section.Each("entry") {
		var of string
		switch flavor, denied := absence(entry); {
		case flavor != "":
			of = reasonOf(flavor)
		case denied:
			of = "nilknown"
		default:
			return ""
		}
		reason = cmp.Or(reason, of)
	}
	return reason
}

// absence returns the nullFlavor of an entry, its statement, or the statement's only nested statement, such as an
// observation in a concern act. denied reports whether the statement is negated.
func absence(entry *cda.Node) (flavor string, denied bool) {
	for at := entry; at != nil; at = inner(at) {
		if flavor := at.Attr("nullFlavor"); flavor != "" {
			return flavor, false
		}
		if at.Attr("negationInd") == "true" {
			return "", true
		}
	}
	return "", false
}

// inner returns the only statement nested in an entry or statement. If the nested statement was null and has been
// removed, inner returns the relationship that contained it. It returns nil if there is no such statement or more than
// one.
func inner(n *cda.Node) *cda.Node {
	var only *cda.Node
	for child := range n.Each() {
		found := child
		isRelation := child.Name == "entryRelationship" || child.Name == "component"
		if isRelation && child.Attr("nullFlavor") == "" {
			found = inner(child)
		}
		if found == nil || !isRelation && !cda.IsStatement(found) {
			continue
		}
		if only != nil {
			return nil
		}
		only = found
	}
	return only
}

func reasonOf(flavor string) string { return cmp.Or(emptyReasons.Of(flavor), "unavailable") }

// complete enforces the invariants of Composition.section (cmp-1: the section has text, entries or sections; cmp-2:
// only an empty section has a reason).
func complete(s r4.CompositionSection, n *cda.Node) r4.CompositionSection {
	if s.Entry != nil || s.Section != nil {
		return s
	}
	reason := emptyReason(n)
	if s.Text == nil {
		reason = cmp.Or(reason, "unavailable")
		s.Text = &r4.Narrative{
			Status: "empty", Div: datatype.XHTML("<p>" + datatype.Escaped(cmp.Or(s.Title, "Empty section")) + "</p>"),
		}
	}
	if reason != "" {
		s.EmptyReason = r4.Concept(emptyReasonSystem, reason, emptyDisplays.Of(reason))
	}
	return s
}
