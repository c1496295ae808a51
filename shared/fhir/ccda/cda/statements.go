package cda

import (
	"iter"
	"strings"
)

// CodeOf returns an element's code attribute verbatim, or "".
func CodeOf(n *Node) string { return n.Attr("code") }

// StatusOf returns the code of a statement's statusCode (ActStatus) in lower case, or "" if it is missing or null.
func StatusOf(n *Node) string {
	status := n.At("statusCode")
	if n.Attr("nullFlavor") != "" || status.Attr("nullFlavor") != "" {
		return ""
	}
	return strings.ToLower(CodeOf(status))
}

// HasNoStatus reports whether a statement lacks a statusCode. The status of a statement with a nullFlavor is unknown
// rather than missing.
func HasNoStatus(n *Node) bool { return n.At("statusCode") == nil && n.Attr("nullFlavor") == "" }

// Has reports whether a CD or any of its translations has one of the given codes, in any code system.
func Has(n *Node, codes ...string) bool {
	if n == nil {
		return false
	}
	if code := n.Attr("code"); code != "" && IsOneOf(code, codes...) {
		return true
	}
	for t := range n.Each("translation") {
		if Has(t, codes...) {
			return true
		}
	}
	return false
}

// IsStatement reports whether an element is a clinical statement (CDA R2, clinicalStatement).
func IsStatement(n *Node) bool {
	switch n.Name {
	case "act", "encounter", "observation", "observationMedia", "organizer", "procedure", "regionOfInterest",
		"substanceAdministration", "supply":
		return true
	}
	return false
}

// Container returns the key of the closest enclosing statement with a real id, or "".
func Container(n *Node) string {
	for up := n.Parent; up != nil; up = up.Parent {
		if IsStatement(up) {
			if own := RealID(up); own != "" {
				return own
			}
		}
	}
	return ""
}

// Outer returns the closest enclosing statement, or nil for an outermost statement.
func Outer(n *Node) *Node {
	up := n.Parent
	for up != nil && !IsStatement(up) {
		up = up.Parent
	}
	return up
}

// Members iterates over the statements in an organizer's components.
func Members(n *Node) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for part := range n.Each("component") {
			for member := range part.Each() {
				if IsStatement(member) && !yield(member) {
					return
				}
			}
		}
	}
}

// EntryOf returns the first statement in n's entryRelationships with the given template or one of the codes. Negated
// statements are ignored, because they add no fact to n.
func EntryOf(n *Node, root string, codes ...string) *Node {
	for r := range n.Each("entryRelationship") {
		for s := range r.Each() {
			if !IsStatement(s) || IsTrue(s.Attr("negationInd")) {
				continue
			}
			for t := range s.Each("templateId") {
				if t.Attr("root") == root {
					return s
				}
			}
			if len(codes) > 0 && Has(s.At("code"), codes...) {
				return s
			}
		}
	}
	return nil
}

// IsComment reports whether a statement's code identifies a Comment Activity (2.16.840.1.113883.10.20.22.4.64).
func IsComment(n *Node) bool { return n != nil && n.Name == "act" && Has(n.At("code"), "48767-8") }

// IsTemplate reports whether an element has one of the given templates, in any version.
func IsTemplate(n *Node, roots ...string) bool {
	for t := range n.Each("templateId") {
		if IsOneOf(t.Attr("root"), roots...) {
			return true
		}
	}
	return false
}

// IsTrue reports whether an attribute of type bl is true.
func IsTrue(text string) bool { return strings.EqualFold(text, "true") || text == "1" }
