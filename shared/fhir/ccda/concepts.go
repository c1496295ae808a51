package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// coding reads the code of a CD, CE or CV itself; ok is false when it has none.
func coding(n *node) (r4.Coding, bool) {
	code := strings.Join(strings.Fields(n.attr("code")), " ") // FHIR's code has no other spaces (datatypes.html#code)
	if code == "" {
		return r4.Coding{}, false
	}
	return r4.Coding{
		System:  system(n.attr("codeSystem"), n.attr("codeSystemName")),
		Version: n.attr("codeSystemVersion"),
		Code:    code,
		Display: n.attr("displayName"),
	}, true
}

// concept reads a CD with its translations, in their order, and its words: those of the sender (originalText, or the part of
// the narrative that it points to), else the display name of a code without a system (C-CDA on FHIR, "Mapping Guidance": CD).
// It is nil when it says nothing, and what it reads counts as told.
func (c *converter) concept(n *node) *r4.CodeableConcept {
	if n == nil {
		return nil
	}
	concept := &r4.CodeableConcept{Text: c.text(n.at("originalText"))}
	c.addCodings(concept, n)
	if concept.Text == "" && len(concept.Coding) == 0 {
		concept.Text = n.attr("displayName")
	}
	if concept.Text == "" && len(concept.Coding) == 0 && isWords(n) {
		concept.Text = n.words()
	}
	if concept.Text == "" && len(concept.Coding) == 0 {
		return nil
	}
	return concept
}

// isWords reports whether an element is a text by itself (ST, ED) and not a code.
func isWords(n *node) bool { return n.at("translation") == nil && n.at("originalText") == nil }

func (c *converter) addCodings(concept *r4.CodeableConcept, n *node) {
	c.take(n)
	if code, ok := coding(n); ok && !concept.Has(code.System, code.Code) {
		concept.Coding = append(concept.Coding, code)
	}
	if concept.Text == "" {
		concept.Text = c.text(n.at("originalText"))
	}
	for t := range n.each("translation") {
		c.addCodings(concept, t)
	}
}

// conceptOr is concept with what stands for a required one that is missing: its nullFlavor.
func (c *converter) conceptOr(n *node) *r4.CodeableConcept {
	if concept := c.concept(n); concept != nil {
		return concept
	}
	return absentConcept(n)
}

// concepts reads every element of a name that says something.
func (c *converter) concepts(parent *node, names ...string) []r4.CodeableConcept {
	var list []r4.CodeableConcept
	for n := range parent.each(names...) {
		if concept := c.concept(n); concept != nil {
			list = append(list, *concept)
		}
	}
	return list
}

// listed makes a list of what may be nil.
func listed[T any](list ...*T) []T {
	var there []T
	for _, l := range list {
		if l != nil {
			there = append(there, *l)
		}
	}
	return there
}

// one makes a concept of a code that FHIR defines.
func one(system, code, display string) *r4.CodeableConcept {
	return &r4.CodeableConcept{Coding: []r4.Coding{{System: system, Code: code, Display: display}}}
}

// text gives the words of an ED or ST: what it points to in the narrative, or its own. Words of the narrative are found by
// the ID that reference/@value names, with or without its "#".
func (c *converter) text(n *node) string {
	if n == nil {
		return ""
	}
	if id := strings.TrimPrefix(n.at("reference").attr("value"), "#"); id != "" {
		if words := c.repeated(c.narrative[id]); words != "" {
			return words
		}
	}
	return n.words()
}

// codeOf gives the code of an element in upper or lower case as it stands, or "" for one with a nullFlavor.
func codeOf(n *node) string { return n.attr("code") }

// has reports whether a CD has a code in any system, itself or in a translation.
func has(n *node, codes ...string) bool {
	if n == nil {
		return false
	}
	if code := n.attr("code"); code != "" && isOneOf(code, codes...) {
		return true
	}
	for t := range n.each("translation") {
		if has(t, codes...) {
			return true
		}
	}
	return false
}
