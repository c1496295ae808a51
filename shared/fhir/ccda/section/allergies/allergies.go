package allergies

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// allergyAct makes AllergyIntolerances of the observations in a concern.
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

const (
	allergyClinical = "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical"
	allergyVerified = "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification"
)

// allergy makes an AllergyIntolerance (C-CDA on FHIR, "Allergies"). act is the concern around it, or nil.
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
	status := cda.EntryOf(n, "2.16.840.1.113883.10.20.22.4.28", "33999-4")
	r.ClinicalStatus = allergyStatus(status, act, when)
	r.Verification = r4.Concept(allergyVerified, "confirmed", "Confirmed")
	if n.Attr("negationInd") == "true" {
		negateAllergy(r, value)
	}
	if r.Code == nil {
		r.Code = unnamedAllergy(c, n)
	}
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
	if r.Reaction == nil && reactionSeverity(severity) != "" { // it is said of no reaction that has a name
		r.Reaction = []r4.AllergyReaction{
			{Manifestation: []r4.CodeableConcept{*datatype.AbsentConcept(nil)}, Severity: reactionSeverity(severity)},
		}
	}
	c.Add(r, append(told, status, criticality, statement.SeverityOf(n), statement.SeverityOf(act))...)
}

// unnamedAllergy is the code of an allergy whose substance is not coded: the words that the document has for it.
func unnamedAllergy(c *statement.Context, n *cda.Node) *r4.CodeableConcept {
	return c.Read.InWords(n, n.At("participant", "participantRole", "playingEntity", "code"))
}

// setAllergyKind sets type and category, and keeps the codes and words of the value, since they say more than both
// (C-CDA on FHIR, "Allergies", row value).
func setAllergyKind(c *statement.Context, r *r4.AllergyIntolerance, value *cda.Node) {
	kind, category, _ := strings.Cut(kinds.Of(cda.CodeOf(value)), " ")
	if kind == "allergy" || kind == "intolerance" {
		r.Type = kind
	}
	if category != "" && category != "-" {
		r.Category = []string{category}
	}
	if concept := c.Read.Concept(value); concept != nil { // which R4 has no member for
		r.Tag(concept.Coding...)
		switch {
		case concept.Text == "":
		case r.Type != "":
			r.TypeText = r4.Original(concept.Text)
		default: // a code is required to have a value
			r.Note = append(r.Note, r4.Annotation{Text: concept.Text})
		}
	}
}

// allergyStatus returns the clinical status: of the status observation, else of the concern. One that has ended is
// resolved.
func allergyStatus(status, act, when *cda.Node) *r4.CodeableConcept {
	code := statuses.Of(cda.CodeOf(status.At("value")))
	if cda.CodeOf(status.At("value")) == "" {
		code = concernStatuses.Of(cda.StatusOf(act))
	}
	code = cmp.Or(code, "active")
	if high := when.At("high"); high != nil && code == "active" && (high.Attr("value") != "" ||
		high.Attr("nullFlavor") == "UNK") {
		code = "resolved"
	}
	return r4.Concept(allergyClinical, code, strings.ToUpper(code[:1])+code[1:])
}

// negateAllergy says that there is no such allergy. That there is none of a kind is a code of its own (ConceptMap of
// "C-CDA on FHIR" for NoKnownAllergies); that there is none to a substance refutes it.
func negateAllergy(r *r4.AllergyIntolerance, value *cda.Node) {
	if r.Code != nil && len(r.Code.Coding) > 0 {
		// with its clinical status, which ait-1 asks for
		r.Verification = r4.Concept(allergyVerified, "refuted", "Refuted")
		return
	}
	none := r4.Concept("http://snomed.info/sct", "716186003", "No known allergy")
	switch {
	case cda.Has(value, "416098002", "419511003", "DALG", "59037007"):
		none = r4.Concept("http://snomed.info/sct", "409137002", "No known drug allergy")
	case cda.Has(value, "414285001", "418471000", "FALG", "235719002"):
		none = r4.Concept("http://snomed.info/sct", "429625007", "No known food allergy")
	case cda.Has(value, "426232007", "232347008", "EALG"):
		none = r4.Concept("http://snomed.info/sct", "428607008", "No known environmental allergy")
	}
	if r.Code != nil {
		none.Text = r.Code.Text
	}
	r.Code = none
}

// readReaction reads one reaction. What it was treated with stands for itself.
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

// reactionSeverity maps the severity of SNOMED CT (ConceptMap of "C-CDA on FHIR" for Severity; the values between count
// as the higher one).
func reactionSeverity(n *cda.Node) string {
	value := n.At("value")
	return cmp.Or(severities.Of(cda.CodeOf(value)), severityWords.Of(strings.ToLower(value.Attr("displayName"))))
}
