package allergies

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// allergyAct creates an AllergyIntolerance for each observation in a concern.
func allergyAct(c *statement.Context, act *cda.Node) {
	for r := range act.Each("entryRelationship") {
		for n := range r.Each("observation") {
			if n.At("participant") != nil ||
				n.At("value") != nil && !cda.Has(n.At("code"), "33999-4", "SEV", "82606-5") {
				allergy(c, n, act)
			}
		}
	}
}

// allergy creates an AllergyIntolerance (C-CDA on FHIR, "Allergies"). act is the enclosing concern, or nil.
func allergy(c *statement.Context, n, act *cda.Node) {
	when, value := n.At("effectiveTime"), n.At("value")
	substance := n.At("participant", "participantRole", "playingEntity")
	r := &r4.AllergyIntolerance{
		Header: c.Emit.Header("AllergyIntolerance", n), Identifier: datatype.Identifiers(n), Patient: c.Patient,
		Onset: c.Read.Start(when),
	}
	told := []*cda.Node{n}
	if act != nil {
		told = append(told, act)
	}
	r.Code = c.Read.Substance(substance)
	setAllergyKind(c, r, value)
	status := cda.EntryOf(n, statusRoot, "33999-4")
	setAllergyStatus(r, allergyStatus(c, n, act))
	r.Verification = r4.Concept(statement.AllergyVerified, "confirmed", "Confirmed")
	if cda.IsNegated(n) {
		negateAllergy(r, value)
	}
	if r.Code == nil {
		r.Code = unnamedAllergy(c, n)
	}
	nameNone(r)
	criticality := cda.EntryOf(n, "2.16.840.1.113883.10.20.22.4.145", "82606-5")
	r.Criticality = criticalities.Of(cda.CodeOf(criticality.At("value")))
	by := c.Make.Author(n)
	r.Recorder, r.Recorded = by.As("Practitioner", "PractitionerRole", "Patient", "RelatedPerson"), by.Time
	if ended := c.Read.DateTime(when.At("high")); ended != "" {
		r.Extension = append(r.Extension, r4.Extension{
			URL: "http://hl7.org/fhir/StructureDefinition/allergyintolerance-abatement", ValueDateTime: ended,
		})
	}
	r.Asserter = c.Make.Party(n.At("informant")).As("Patient", "RelatedPerson", "Practitioner", "PractitionerRole")
	r.Note = append(r.Note, c.Comments(n)...)
	severity := cmp.Or(statement.SeverityOf(n), statement.SeverityOf(act))
	for rel := range n.Each("entryRelationship") {
		for reaction := range rel.Each("observation") {
			if statement.IsReaction(rel, reaction) {
				r.Reaction = append(r.Reaction, readReaction(c, reaction, severity))
				told = append(told, reaction, statement.SeverityOf(reaction))
				if last := c.Read.DateTime(reaction.At("effectiveTime", "high")); last > r.LastOccurrence {
					r.LastOccurrence = last
				}
			}
		}
	}
	if r.Reaction == nil && reactionSeverity(severity) != "" { // The allergy's severity applies to an unnamed reaction.
		r.Reaction = []r4.AllergyReaction{
			{Manifestation: []r4.CodeableConcept{*datatype.AbsentConcept(nil)}, Severity: reactionSeverity(severity)},
		}
	}
	c.Add(r, append(told, status, criticality, statement.SeverityOf(n), statement.SeverityOf(act))...)
}

// unnamedAllergy returns the code for an allergy without a coded substance. If the value states the absence of
// allergies, the code is taken from the value. Otherwise, the code contains the document's text for the substance.
func unnamedAllergy(c *statement.Context, n *cda.Node) *r4.CodeableConcept {
	if cda.Has(n.At("value"), "716186003", "409137002", "429625007", "428607008", "1003774007", "160244002") {
		return c.Read.Concept(n.At("value"))
	}
	return c.Read.InWords(n, n.At("participant", "participantRole", "playingEntity", "code"))
}

// setAllergyKind sets type and category. setAllergyKind also keeps the value's codes and text, which are more specific
// (C-CDA on FHIR, "Allergies", row value).
func setAllergyKind(c *statement.Context, r *r4.AllergyIntolerance, value *cda.Node) {
	kind, category, _ := strings.Cut(kinds.Of(cda.CodeOf(value)), " ")
	if kind == "allergy" || kind == "intolerance" {
		r.Type = kind
	}
	if category != "" && category != "-" {
		r.Category = []string{category}
	}
	if concept := c.Read.Concept(value); concept != nil { // R4 has no member for the value's concept.
		r.Tag(concept.Coding...)
		switch {
		case concept.Text == "":
		case r.Type != "":
			r.TypeText = r4.Original(concept.Text)
		default: // A code element must have a value.
			r.Note = append(r.Note, r4.Annotation{Text: concept.Text})
		}
	}
}

const statusRoot = "2.16.840.1.113883.10.20.22.4.28"

// allergyStatus returns an allergy's clinical status. A status observation takes precedence over the concern's status
// and the end (C-CDA on FHIR, "Allergies", rows statusCode, effectiveTime/high and Allergy Status). FHIR requires a
// status (ait-1). An allergy without a status is active, because C-CDA states the end of every past allergy.
func allergyStatus(c *statement.Context, n, act *cda.Node) string {
	value, denied := statement.StatusIn(n, statusRoot)
	code := statuses.Of(strings.ToLower(cmp.Or(cda.CodeOf(value), value.Attr("displayName"))))
	switch {
	case denied && code == "active":
		return "inactive"
	case !denied && code != "":
		return code
	}
	return cmp.Or(statement.ClinicalStatus(cda.StatusOf(act), c.EndOf(n.At("effectiveTime"))), "active")
}

func setAllergyStatus(r *r4.AllergyIntolerance, code string) {
	r.ClinicalStatus = r4.Concept(statement.AllergyClinical, code, strings.ToUpper(code[:1])+code[1:])
}

// negateAllergy records a negated allergy (C-CDA on FHIR, "Allergies", rows participant). There are codes for the
// absence of all allergies of a kind and of allergies to certain substances. An allergy to any other substance is
// marked as refuted.
func negateAllergy(r *r4.AllergyIntolerance, value *cda.Node) {
	if datatype.IsUnnamed(r.Code) || len(r.Code.Coding) == 0 {
		words := ""
		if r.Code != nil {
			words = r.Code.Text
		}
		r.Code = noKnown(cmp.Or(none.Of(cda.CodeOf(value)), "716186003 No known allergy"))
		r.Code.Text = words
		return
	}
	for _, coding := range r.Code.Coding {
		if of := noneOf.Of(coding.Code); of != "" {
			r.Tag(r.Code.Coding...)
			r.Code = noKnown(of)
			return
		}
	}
	r.Verification = r4.Concept(statement.AllergyVerified, "refuted", "Refuted")
	setAllergyStatus(r, "inactive") // Constraint ait-1 requires a status, and a negated allergy can't be active.
}

// noKnown parses a SNOMED CT code followed by its display, and returns the concept.
func noKnown(of string) *r4.CodeableConcept {
	code, display, _ := strings.Cut(of, " ")
	return r4.Concept("http://snomed.info/sct", code, display)
}

// nameNone adds a "no known allergy" code to an allergy whose text states that there is none, because some senders
// write such text in the substance field.
func nameNone(r *r4.AllergyIntolerance) {
	of := noneInWords.Of(datatype.Normalized(r.Code.Text))
	for _, coding := range r.Code.Coding {
		of = cmp.Or(of, noneInWords.Of(datatype.Normalized(coding.Display)))
	}
	if of == "" || r.Verification.Has(statement.AllergyVerified, "refuted") {
		return
	}
	if code := noKnown(of).Coding[0]; !r.Code.Has(code.System, code.Code) {
		r.Code.Coding = append([]r4.Coding{code}, r.Code.Coding...)
	}
}

// readReaction converts one reaction. The treatment of a reaction becomes a separate resource.
func readReaction(c *statement.Context, n, severity *cda.Node) r4.AllergyReaction {
	manifestation := c.Read.Concept(n.At("value"))
	if manifestation == nil {
		manifestation = c.Read.InWords(n, n.At("value"))
	}
	own := cmp.Or(statement.SeverityOf(n), severity)
	return r4.AllergyReaction{
		Manifestation: []r4.CodeableConcept{*manifestation}, Onset: c.Read.Start(n.At("effectiveTime")),
		Severity: reactionSeverity(own), Note: c.Comments(n),
	}
}

// reactionSeverity maps SNOMED CT severities to FHIR's (the Severity ConceptMap of "C-CDA on FHIR"). A value between
// two levels maps to the higher level.
func reactionSeverity(n *cda.Node) string {
	value := n.At("value")
	return cmp.Or(severities.Of(cda.CodeOf(value)), severityWords.Of(strings.ToLower(value.Attr("displayName"))))
}
