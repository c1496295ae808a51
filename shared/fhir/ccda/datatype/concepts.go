package datatype

import (
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/terms"
)

// Substance converts the code of a substance, product or device. The concept's text is the entity's name.
func (r *concepts) Substance(entity *cda.Node) *r4.CodeableConcept {
	code := r.Concept(entity.At("code"))
	name := entity.At("name").Words()
	switch {
	case code == nil && name != "":
		return &r4.CodeableConcept{Text: name}
	case code != nil && code.Text == "" && name != "":
		code.Text = name
	}
	return code
}

// repeated returns the text of the narrative part to which a statement refers. The section's narrative contains the
// same text.
func (r *texts) repeated(narrative *cda.Node) string {
	if narrative == nil || r.account.IsFull() && !r.account.Affords("reference", 0) {
		return ""
	}
	words := narrative.Words()
	if words == "" || !r.account.Affords("reference", len(words)) {
		return ""
	}
	return words
}

// Coding converts the code of a CD, CE or CV, without its translations. ok is false if n has no code. If the code
// system has no URI, for example because its OID is invalid, the OID and name become an extension of Coding.system.
func Coding(n *cda.Node) (r4.Coding, bool) {
	// A FHIR code allows only single spaces between words (datatypes.html#code).
	code := strings.Join(strings.Fields(n.Attr("code")), " ")
	if code == "" {
		return r4.Coding{}, false
	}
	coding := r4.Coding{
		System:  terms.System(n.Attr("codeSystem"), n.Attr("codeSystemName")),
		Version: n.Attr("codeSystemVersion"),
		Code:    code,
		Display: n.Attr("displayName"),
	}
	switch {
	case coding.System == "":
		coding.SystemText = r4.Original(strings.TrimSpace(n.Attr("codeSystemName") + " " + n.Attr("codeSystem")))
	case coding.System == terms.ICD10CM && terms.IsICD10PCS(code):
		coding.System = terms.ICD10PCS
	}
	return coding, true
}

// Concept converts a CD with its translations, in order, and its text. The text is originalText, or the narrative part
// that it references. Without either, the text is the display name of a code that has no system (C-CDA on FHIR,
// "Mapping Guidance": CD). Concept returns nil if the CD is empty. It marks the converted parts as covered.
func (r *concepts) Concept(n *cda.Node) *r4.CodeableConcept {
	if n == nil {
		return nil
	}
	concept := &r4.CodeableConcept{Text: r.Text(n.At("originalText"))}
	r.addCodings(concept, n)
	if concept.Text == "" && len(concept.Coding) == 0 {
		concept.Text = n.Attr("displayName")
	}
	if concept.Text == "" && len(concept.Coding) == 0 && isWords(n) {
		concept.Text = n.Words()
	}
	if concept.Text == "" && len(concept.Coding) == 0 {
		return nil
	}
	return concept
}

// isWords reports whether an element is text (ST, ED) rather than a code.
func isWords(n *cda.Node) bool { return n.At("translation") == nil && n.At("originalText") == nil }

func (r *concepts) addCodings(concept *r4.CodeableConcept, n *cda.Node) {
	r.account.Take(n)
	if code, ok := Coding(n); ok && (code.SystemText != "" || !concept.Has(code.System, code.Code)) {
		concept.Coding = r4.AppendNew(concept.Coding, code)
	}
	if concept.Text == "" {
		concept.Text = r.Text(n.At("originalText"))
	}
	for t := range n.Each("translation") {
		r.addCodings(concept, t)
	}
}

// ConceptOr is like Concept, but returns AbsentConcept(n) if the concept is missing.
func (r *concepts) ConceptOr(n *cda.Node) *r4.CodeableConcept {
	if concept := r.Concept(n); concept != nil {
		return concept
	}
	return AbsentConcept(n)
}

// Concepts converts all nonempty child elements that have one of the given names.
func (r *concepts) Concepts(parent *cda.Node, names ...string) []r4.CodeableConcept {
	var list []r4.CodeableConcept
	for n := range parent.Each(names...) {
		if concept := r.Concept(n); concept != nil {
			list = append(list, *concept)
		}
	}
	return list
}

// Text returns the text of an ED or ST, or of the narrative part that it references. The attribute reference/@value is
// the part's ID, with or without "#".
func (r *texts) Text(n *cda.Node) string {
	if n == nil {
		return ""
	}
	if id := strings.TrimPrefix(n.At("reference").Attr("value"), "#"); id != "" {
		if words := r.repeated(r.document.Named(id)); words != "" {
			return words
		}
	}
	return n.Words()
}

// Note returns the text of a statement as a note. It returns nil if known has the same text.
func (r *texts) Note(n *cda.Node, known *r4.CodeableConcept) []r4.Annotation {
	words := r.Text(n.At("text"))
	if words == "" || known != nil && strings.EqualFold(words, known.Text) {
		return nil
	}
	return []r4.Annotation{{Text: words}}
}

// CodeOrWords converts a statement's code, or its text if it has no code.
func (r *concepts) CodeOrWords(n *cda.Node) *r4.CodeableConcept {
	if code := r.Concept(n.At("code")); code != nil {
		return code
	}
	return r.InWords(n, n.At("code"))
}

// InWords returns a concept with a statement's text. If there is no text, it returns AbsentConcept(null).
func (r *concepts) InWords(n, null *cda.Node) *r4.CodeableConcept {
	if words := r.Text(n.At("text")); words != "" {
		return &r4.CodeableConcept{Text: words}
	}
	return AbsentConcept(null)
}

// Joined joins two texts with a line feed. If either text is empty, Joined returns the other.
func Joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
