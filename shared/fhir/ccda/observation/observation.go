// Package observation creates Observations, which occur in every section. It converts panels and generic facts from
// statements without a rule, and sets the fields common to all Observations (C-CDA on FHIR, "Results":
// hl7.org/fhir/us/ccda/CF-results.html).
package observation

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/entity"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// Generic converts a statement that has no rule. Generic creates an Observation for an observed or completed statement,
// and a ServiceRequest for a planned statement. A statement that has no code, value or text only groups other
// statements, so Generic doesn't create a resource for it.
func Generic(c *statement.Context, n *cda.Node) {
	code, value := c.Read.Concept(n.At("code")), n.At("value")
	_, valued := c.Read.Value(value)
	if code == nil && !valued && c.Read.Text(n.At("text")) == "" {
		c.Emit.Take(n)
		return
	}
	if mood := n.Attr("moodCode"); mood != "" && mood != "EVN" && mood != "EVN.CRT" && mood != "DEF" {
		c.Rules.ConvertBy(statement.PlannedActRoot, n)
		return
	}
	o := New(c, n)
	o.Category = sectionCategory(c)
	if around := c.Emit.Reference(cda.Outer(n)); around != nil {
		o.Focus = []r4.Reference{*around}
	}
	c.Add(o, n)
}

// sectionCategory returns the section's code or title as the category for a statement that has no rule.
func sectionCategory(c *statement.Context) []r4.CodeableConcept {
	if code, ok := datatype.Coding(c.InSection.At("code")); ok {
		return []r4.CodeableConcept{{Coding: []r4.Coding{code}, Text: c.InSection.At("title").Words()}}
	}
	if title := c.InSection.At("title").Words(); title != "" {
		return []r4.CodeableConcept{{Text: title}}
	}
	return nil
}

// New creates an Observation with the fields that all Observations share (C-CDA on FHIR, "Results"). The rules add the
// category and more specific fields.
func New(c *statement.Context, n *cda.Node) *r4.Observation {
	o := &r4.Observation{
		Header: c.Emit.Header("Observation", n), Identifier: datatype.Identifiers(n), Status: StatusOf(n),
		Code:    c.Read.CodeOrWords(n),
		Subject: c.Patient, Interpretation: c.Read.Concepts(n, "interpretationCode"),
		BodySite: c.Read.Concept(n.At("targetSiteCode")),
		Method:   c.Read.Concept(n.At("methodCode")), ReferenceRange: referenceRanges(c, n),
	}
	o.Effective, o.EffectivePeriod = effectiveOf(c, n)
	o.Note = append(c.Read.Note(n, o.Code), c.Comments(n)...)
	setValues(c, o, n)
	o.Performer = performers(nil, c.Make.Performers(n))
	for author := range n.Each("author") {
		o.Issued = cmp.Or(o.Issued, c.Read.Issued(author.At("time")))
	}
	return o
}

// performers returns the distinct performers from known and parties. An organizer may name a thousand performers, each
// of whom applies to all of the organizer's members.
func performers(known []r4.Reference, parties []entity.Party) []r4.Reference {
	var set r4.ReferenceSet
	for _, one := range known {
		set.Add(one)
	}
	for _, who := range parties {
		if p := who.As("Practitioner", "PractitionerRole", "Organization", "RelatedPerson", "Patient"); p != nil {
			set.Add(*p)
		}
	}
	return set.List
}

// AddAuthors adds a statement's authors to the performers, for sections whose authors performed the statements (C-CDA
// on FHIR, "Vital Signs": author). For other observations, only Provenance names the authors ("Results": author).
func AddAuthors(c *statement.Context, o *r4.Observation, n *cda.Node) {
	var authors []entity.Party
	for author := range n.Each("author") {
		authors = append(authors, c.Make.Party(author))
	}
	o.Performer = performers(o.Performer, authors)
}

// effectiveOf returns a statement's time. If the statement doesn't have a time, effectiveOf returns the enclosing
// organizer's time.
func effectiveOf(c *statement.Context, n *cda.Node) (moment string, period *r4.Period) {
	for at := n; at != nil; at = cda.Outer(at) {
		moment, period = c.Read.Effective(at.At("effectiveTime"))
		if moment != "" || period != nil || at.Parent.Parent == nil || cda.Outer(at) == nil ||
			cda.Outer(at).Name != "organizer" {
			break
		}
	}
	return moment, period
}

// setValues sets value[x] or the reason for its absence. A second value becomes a component of the Observation. A
// negated value (negationInd) becomes a component whose value is false, so the negated value does not appear to be
// asserted.
func setValues(c *statement.Context, o *r4.Observation, n *cda.Node) {
	negated := cda.IsNegated(n)
	if n.Attr("nullFlavor") != "" { // an unanswered question
		o.Absent, o.Interpretation, o.ReferenceRange = datatype.AbsentConcept(n), nil, nil
		return
	}
	first := true
	for value := range n.Each("value") {
		v, ok := c.Read.Value(value)
		switch {
		case !ok && first && value.Attr("nullFlavor") != "" && !negated:
			o.Absent = datatype.AbsentConcept(value)
		case !ok:
			continue
		case negated:
			o.Component = append(o.Component, denied(v, o.Code))
		case first:
			o.Value = v
		default: // obs-7: value[x] must be absent if a component has the same code
			if o.Value != (r4.Value{}) {
				o.Component = append(o.Component, r4.Component{Code: o.Code, Value: o.Value})
				o.Value = r4.Value{}
			}
			o.Component = append(o.Component, r4.Component{Code: o.Code, Value: v})
		}
		first = false
	}
	if negated && first {
		no := false
		o.Value = r4.Value{ValueBoolean: &no}
	}
}

func denied(v r4.Value, code *r4.CodeableConcept) r4.Component {
	no := false
	if v.ValueCodeableConcept != nil {
		code = v.ValueCodeableConcept
	}
	return r4.Component{Code: code, Value: r4.Value{ValueBoolean: &no}}
}

// StatusOf returns the status of an Observation or a DiagnosticReport.
func StatusOf(n *cda.Node) string {
	code := cmp.Or(cda.StatusOf(n), "completed")
	if code == "completed" && n.At("statusCode").Attr("nullFlavor") != "" {
		return "unknown"
	}
	return cmp.Or(statuses.Of(code), "unknown")
}

// referenceRanges converts the reference ranges of a value.
func referenceRanges(c *statement.Context, n *cda.Node) []r4.ReferenceRange {
	var list []r4.ReferenceRange
	for rangeNode := range n.Each("referenceRange") {
		for within := range rangeNode.Each("observationRange") {
			value := within.At("value")
			r := r4.ReferenceRange{
				Low: datatype.Quantity(value.At("low")), High: datatype.Quantity(value.At("high")),
				Text: c.Read.Text(within.At("text")),
			}
			r.Text = cmp.Or(r.Text, openBound(value))
			if r.Low == nil && r.High == nil {
				v, _ := c.Read.Value(value)
				r.Text = cmp.Or(r.Text, datatype.Spoken(v))
			}
			r.AppliesTo = c.Read.Concepts(within, "precondition")
			if meaning := c.Read.Concept(within.At("interpretationCode")); meaning != nil &&
				cda.CodeOf(within.At("interpretationCode")) != "N" {
				r.Type = meaning // FHIR treats a range without a type as the normal range.
				if r.Text == "" && r.Low == nil && r.High == nil {
					r.Text = r4.Words(meaning)
				}
			}
			if r.Low != nil || r.High != nil || r.Text != "" {
				list = append(list, r)
			}
		}
	}
	return list
}

// openBound returns an exclusive bound as text, because FHIR's bounds are inclusive. For any other bound, it returns
// "".
func openBound(value *cda.Node) string {
	if q := datatype.Bound(value); q != nil && cda.IsOneOf(q.Comparator, "<", ">") {
		return datatype.Spoken(r4.Value{ValueQuantity: q})
	}
	return ""
}

// SocialCategory returns the category for social history.
func SocialCategory() *r4.CodeableConcept {
	return r4.Concept(Category, "social-history", "Social History")
}

// Focus returns the people that an observation describes, such as a caregiver, excluding the patient.
func Focus(c *statement.Context, n *cda.Node) []*r4.Reference {
	var list []*r4.Reference
	for p := range n.Each("participant") {
		if who := c.Make.Party(p).As("RelatedPerson", "Practitioner"); who != nil && p.Attr("typeCode") == "IND" {
			list = append(list, who)
		}
	}
	return list
}
