package concerns

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
	"recordbridge/shared/fhir/ccda/terms"
)

// healthConcern creates Conditions for the problems in a concern (US Core Condition Problems and Health Concerns).
// Supporting statements (SPRT) become the Condition's evidence. A concern about something other than a problem, such as
// smoking, becomes a separate Condition. A concern that only refers to problems in other sections marks them as health
// concerns.
func healthConcern(c *statement.Context, act *cda.Node) {
	var made []r4.Reference
	var about *cda.Node
	for rel := range act.Each("entryRelationship") {
		for s := range rel.Each("observation") {
			supports := rel.Attr("typeCode") == "SPRT"
			switch {
			case supports || cda.IsTemplate(s, statement.PreferenceRoot):
			case c.Problems.Is(s):
				made = append(made, *c.Problems.Convert(s, act))
			case about == nil && !cda.IsNegated(s):
				about = s
			}
		}
	}
	if made == nil && (about != nil || c.Read.Text(act.At("text")) != "") {
		made = append(made, *concernAbout(c, act, about))
	}
	c.Emit.Take(act)
	c.Emit.Afterwards(act, func(act *cda.Node) { relateConcern(c, act, made) })
}

// concernAbout creates a Condition for a concern that contains no problem. The code is the value of the concern's
// subject or, if it has none, the concern's text.
func concernAbout(c *statement.Context, act, about *cda.Node) *r4.Reference {
	r := concernOf(c, act)
	if v, ok := c.Read.Value(about.At("value")); ok && v.ValueCodeableConcept != nil {
		r.Code = v.ValueCodeableConcept
	} else if code := c.Read.Concept(about.At("code")); code != nil {
		r.Code = code
	} else {
		r.Code = &r4.CodeableConcept{Text: cmp.Or(c.Read.Text(act.At("text")), "Health concern")}
	}
	return c.Add(r, act)
}

func concernOf(c *statement.Context, act *cda.Node) *r4.Condition {
	by := c.Make.Author(act)
	clinical := c.ProblemStatus(act, cda.StatusOf(act))
	verified := r4.Concept(statement.ConditionVerified, "confirmed", "Confirmed")
	if cda.IsNegated(act) {
		clinical, verified = nil, r4.Concept(statement.ConditionVerified, "refuted", "Refuted")
	}
	return &r4.Condition{
		Header: c.Emit.Header("Condition", act), Identifier: datatype.Identifiers(act), Subject: c.Patient,
		ClinicalStatus: clinical, Verification: verified,
		Category: []r4.CodeableConcept{*healthConcernCategory()},
		Recorder: by.As("Practitioner", "PractitionerRole", "Patient", "RelatedPerson"),
		Recorded: cmp.Or(by.Time, c.Read.Start(act.At("effectiveTime"))), Note: c.Comments(act),
	}
}

// statusByConcern returns the clinical status that a concern implies for a problem that has no status of its own. It
// returns nil if the concern implies no status.
func statusByConcern(act *cda.Node) *r4.CodeableConcept {
	code := statement.ClinicalStatus(cda.StatusOf(act), statement.NoEnd)
	if code == "" {
		return nil
	}
	return statement.ConditionStatus(code)
}

func healthConcernCategory() *r4.CodeableConcept {
	return r4.Concept(statement.ConditionOfUSCore, "health-concern", "Health Concern")
}

// relateConcern adds the evidence to a concern's Conditions, and adds the health concern category to problems in other
// sections.
func relateConcern(c *statement.Context, act *cda.Node, made []r4.Reference) {
	followed := c.Read.Start(act.At("effectiveTime"))
	if made == nil {
		made = r4.OfType(c.Related(act, "REFR", "COMP", "SUBJ"), "Condition")
	}
	for _, ref := range made {
		r := emit.ResourceOf[r4.Condition](c.Emit, &ref)
		if r == nil {
			continue
		}
		if r.ClinicalStatus == nil && !r.Verification.Has(statement.ConditionVerified, "refuted") {
			r.ClinicalStatus = statusByConcern(act)
		}
		if !statement.IsHealthConcern(r) {
			r.Category = append(r.Category, *healthConcernCategory())
		}
		r.Recorded = cmp.Or(r.Recorded, followed)
		if evidence := r4.Without(c.Related(act, "SPRT"), &ref); evidence != nil {
			r.Evidence = append(r.Evidence, r4.ConditionSupport{Detail: evidence})
		}
	}
}

// riskConcern creates a Condition for a risk. The code denotes the risk itself, because the patient does not have the
// possible problem. The possible problem becomes the Condition's evidence.
func riskConcern(c *statement.Context, act *cda.Node) {
	r := concernOf(c, act)
	r.Code = c.Read.Concept(act.At("code"))
	if r.Code == nil || r.Code.Has(terms.LOINC, "75310-3") {
		r.Code = r4.Concept("http://snomed.info/sct", "281694009", "Finding of at risk (finding)")
	}
	told := []*cda.Node{act}
	var words []string
	for rel := range act.Each("entryRelationship") {
		for s := range rel.Each("observation") {
			if rel.Attr("typeCode") != "SPRT" && c.Problems.Is(s) && !cda.IsNegated(s) {
				of := c.Read.ConceptOr(s.At("value"))
				r.Evidence = append(r.Evidence, r4.ConditionSupport{Code: []r4.CodeableConcept{*of}})
				words = append(words, r4.Words(of))
				told = append(told, s)
			}
		}
	}
	if of := strings.Join(words, ", "); of != "" {
		r.Code.Text = cmp.Or(r4.Words(r.Code), "At risk") + ": " + of
	} else {
		r.Code.Text = cmp.Or(r.Code.Text, c.Read.Text(act.At("text")))
	}
	made := []r4.Reference{*c.Add(r, told...)}
	c.Emit.Afterwards(act, func(act *cda.Node) { relateConcern(c, act, made) })
}
