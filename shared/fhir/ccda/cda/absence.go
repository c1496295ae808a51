package cda

import "recordbridge/shared/fhir/ccda/terms"

// Unstated describes, for the report, a part of the document that states no fact.
type Unstated struct {
	What   string // the element's template ID, or its name if the element has no template
	Reason string
}

const partOfNull = "part of a statement that has a nullFlavor"

// PartOfDenied is the reason recorded for omitting part of a negated statement.
const PartOfDenied = "part of a statement that is negated"

// NullReason returns the reason recorded for a statement with the given nullFlavor.
func NullReason(flavor string) string {
	if !IsOneOf(flavor, "ASKU", "INV", "MSK", "NA", "NASK", "NAV", "NI", "OTH", "QS", "TRC", "UNK") {
		flavor = "unknown"
	}
	return "statement with nullFlavor " + flavor
}

// TemplateOrName returns the element's template, or its name if the element has no template.
func TemplateOrName(n *Node) string {
	if root := n.At("templateId").Attr("root"); terms.IsOID(root) {
		return root
	}
	return n.Name
}

// NullFlavor returns the nullFlavor of a statement or of an enclosing statement, or "" if neither has a nullFlavor. A
// null statement states no fact (CDA R2, InfrastructureRoot.nullFlavor).
func NullFlavor(n *Node) string {
	for ; n != nil; n = Outer(n) {
		if flavor := n.Attr("nullFlavor"); flavor != "" {
			return flavor
		}
	}
	return ""
}

// IsNegated reports whether a statement is negated (CDA R2, negationInd). A statement that groups another statement can
// also negate it.
func IsNegated(n *Node) bool {
	for ; n != nil; n = grouping(n) {
		if IsTrue(n.Attr("negationInd")) {
			return true
		}
	}
	return false
}

// grouping returns the enclosing statement if it only groups statements, or nil.
func grouping(n *Node) *Node {
	if n.Parent == nil {
		return nil
	}
	if up := n.Parent.Parent; up != nil && groups(up) {
		return up
	}
	return nil
}

// groups reports whether a statement only groups others: an organizer, a concern, or an act that lists medications,
// diagnoses or policies. The members are independent statements, and the group's negation applies to each.
func groups(n *Node) bool {
	return n.Name == "organizer" || n.Name == "act" && (Has(n.At("code"), "CONC") || IsTemplate(n, groupRoots()...))
}

// IsEmptied reports whether an act only groups statements, all of which are null.
func IsEmptied(n *Node) bool {
	if n.Name != "act" || !groups(n) || n.At("entryRelationship") == nil {
		return false
	}
	for rel := range n.Each("entryRelationship") {
		for s := range rel.Each() {
			if IsStatement(s) {
				return false
			}
		}
	}
	return true
}

// groupRoots returns the template IDs of acts that only group other statements.
func groupRoots() []string {
	return []string{
		"2.16.840.1.113883.10.20.22.4.3", "2.16.840.1.113883.10.20.22.4.30", "2.16.840.1.113883.10.20.1.27",
		"1.3.6.1.4.1.19376.1.5.3.1.4.5.1", "1.3.6.1.4.1.19376.1.5.3.1.4.5.2", "1.3.6.1.4.1.19376.1.5.3.1.4.5.3",
		"2.16.840.1.113883.10.20.22.4.80", "2.16.840.1.113883.10.20.22.4.33", "2.16.840.1.113883.10.20.22.4.34",
		"2.16.840.1.113883.10.20.22.4.51", "2.16.840.1.113883.10.20.22.4.65", "2.16.840.1.113883.10.20.22.4.35",
		"2.16.840.1.113883.10.20.22.4.36", "2.16.840.1.113883.10.20.22.4.60", "2.16.840.1.113883.10.20.1.20",
	}
}

// hide removes the parts of a tree that state no fact, so that no rule converts them: null statements, and the contents
// of null and negated statements. An observation that has a nullFlavor but represents a question is retained without
// its value. hide indexes the remaining elements.
func (d *Document) hide(n *Node) {
	passOn(n)
	var last *Node
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		switch {
		case child.Name == "":
		case child.Name == "text":
			d.indexAll(child)
		case IsStatement(child) && !d.trim(child):
			unlink(n, last, child)
			continue
		default:
			d.index(child)
			d.hide(child)
		}
		last = child
	}
}

// passOn copies an entry's nullFlavor to its statement, because a null ActRelationship relates its section to no
// statement (CDA R2, InfrastructureRoot.nullFlavor).
func passOn(entry *Node) {
	flavor := entry.Attr("nullFlavor")
	if entry.Name != "entry" || flavor == "" {
		return
	}
	for s := range entry.Each() {
		if IsStatement(s) && s.Attr("nullFlavor") == "" {
			s.attrs = append(s.attrs, attribute{"nullFlavor", flavor})
		}
	}
}

// trim removes the parts of a statement that state no fact, and reports whether any parts are left.
func (d *Document) trim(n *Node) bool {
	isNull, isGroup := n.Attr("nullFlavor") != "", groups(n)
	if isNull && isGroup {
		d.keep(n, partOfNull, isOfGroup)
	} else if isNull {
		d.Unstated = append(d.Unstated, Unstated{TemplateOrName(n), NullReason(n.Attr("nullFlavor"))})
		if !d.asks(n) {
			return false
		}
		d.keep(n, partOfNull, isOfQuestion)
	}
	if IsNegated(n) && isGroup {
		d.keep(n, PartOfDenied, isOfGroup)
	} else if IsNegated(n) {
		d.keep(n, PartOfDenied, isOfDenial)
	}
	return true
}

// unlink removes a child. last is the preceding child, or nil.
func unlink(n, last, child *Node) {
	if flavor := child.Attr("nullFlavor"); flavor != "" && IsStatement(child) && n.Attr("nullFlavor") == "" {
		n.attrs = append(n.attrs, attribute{"nullFlavor", flavor}) // A null statement makes its parent null.
	}
	if last == nil {
		n.first = child.next
	} else {
		last.next = child.next
	}
}

// keep removes those of a statement's children for which isPart is false, and attaches them to the statement as hidden.
func (d *Document) keep(n *Node, reason string, isPart func(n, child *Node) bool) {
	var last *Node
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if child.Name == "" || isPart(n, child) {
			last = child
			continue
		}
		unlink(n, last, child)
		if n.more == nil {
			n.more = &more{}
		}
		n.more.hidden = append(n.more.hidden, child)
		if reason == PartOfDenied || child.Attr("nullFlavor") == "" {
			d.Unstated = append(d.Unstated, Unstated{child.Name, reason})
		}
	}
}

// isOfQuestion reports whether a child of an observation with a nullFlavor belongs to the question rather than the
// answer.
func isOfQuestion(_, child *Node) bool {
	switch child.Name {
	case "templateId", "id", "code", "text", "statusCode", "effectiveTime", "author", "informant", "methodCode":
		return true
	case "entryRelationship":
		return IsComment(child.At("act"))
	}
	return false
}

// isOfGroup reports whether a child of a null or negated organizer or concern is retained. All children are retained
// except the group's own specimens and participants.
func isOfGroup(_, child *Node) bool { return !IsOneOf(child.Name, "specimen", "participant") }

// isOfDenial reports whether a child of a negated statement is retained, as are the subject, author and reason. An act
// that did not take place has no devices, specimens, locations or nested statements.
func isOfDenial(n, child *Node) bool {
	switch child.Name {
	case "specimen":
		return false
	case "participant": // an allergy's substance
		return n.Name == "observation" && child.Attr("typeCode") == "CSM"
	case "entryRelationship", "component":
		return isAside(child)
	}
	return true
}

// isAside reports whether a relationship's statement holds regardless of the enclosing statement, as a comment, reason,
// instruction, status or reference does.
func isAside(rel *Node) bool {
	for s := range rel.Each() {
		if !IsStatement(s) {
			continue
		}
		isReason := rel.Attr("typeCode") == "RSON" && s.Name == "observation" &&
			!IsTemplate(s, "2.16.840.1.113883.10.20.22.4.143") // A Priority Preference is not a reason.
		isPointer := s.Name == "encounter" && s.At("code") == nil && s.At("effectiveTime") == nil
		return isReason || isPointer || IsComment(s) || Has(s.At("code"), "33999-4") || IsTemplate(s, asideRoots()...)
	}
	return true
}

// asideRoots returns the templates of reasons, refusals, instructions and references.
func asideRoots() []string {
	return []string{
		"2.16.840.1.113883.10.20.22.4.19", "2.16.840.1.113883.10.20.22.4.53", "2.16.840.1.113883.10.20.22.4.122",
		"2.16.840.1.113883.10.20.22.4.20", "2.16.840.1.113883.10.20.1.49", "1.3.6.1.4.1.19376.1.5.3.1.4.3",
	}
}
