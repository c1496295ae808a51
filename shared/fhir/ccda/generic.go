package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// generic takes a statement that no rule takes: what is observed or done as an Observation, what is planned as a
// ServiceRequest. One that has neither a code, a value nor words is only a frame for others and leaves nothing itself.
func (c *converter) generic(n *node) {
	code, value := c.concept(n.at("code")), n.at("value")
	_, valued := c.value(value)
	if code == nil && !valued && c.text(n.at("text")) == "" {
		c.take(n)
		return
	}
	if mood := n.attr("moodCode"); mood != "" && mood != "EVN" && mood != "EVN.CRT" && mood != "DEF" {
		c.convertBy(plannedActRoot, n)
		return
	}
	o := c.observation(n)
	o.Category = c.sectionCategory()
	if around := c.reference(outer(n)); around != nil {
		o.Focus = []r4.Reference{*around}
	}
	c.add(o, n)
}

// sectionCategory is what stands for a category where no rule knows one: the section.
func (c *converter) sectionCategory() []r4.CodeableConcept {
	if code, ok := coding(c.inSection.at("code")); ok {
		return []r4.CodeableConcept{{Coding: []r4.Coding{code}, Text: c.inSection.at("title").words()}}
	}
	if title := c.inSection.at("title").words(); title != "" {
		return []r4.CodeableConcept{{Text: title}}
	}
	return nil
}

// outer gives the closest statement around one.
func outer(n *node) *node {
	up := n.parent
	for up != nil && !isStatement(up) {
		up = up.parent
	}
	return up
}

// observation reads what all observations have (C-CDA on FHIR, "Results"). Rules add a category and what else is theirs.
func (c *converter) observation(n *node) *r4.Observation {
	o := &r4.Observation{
		Header: c.header("Observation", n), Identifier: identifiers(n), Status: observationStatus(n), Code: c.codeOrWords(n),
		Subject: c.patient, Interpretation: c.concepts(n, "interpretationCode"), BodySite: c.concept(n.at("targetSiteCode")),
		Method: c.concept(n.at("methodCode")), ReferenceRange: c.referenceRanges(n),
	}
	o.Effective, o.EffectivePeriod = c.effectiveOf(n)
	o.Note = append(c.note(n, o.Code), c.comments(n)...)
	c.setValues(o, n)
	add := func(who party) {
		if p := who.as("Practitioner", "PractitionerRole", "Organization", "RelatedPerson", "Patient"); p != nil {
			o.Performer = appendReference(o.Performer, *p)
		}
	}
	for _, who := range c.performers(n) {
		add(who)
	}
	for author := range n.each("author") {
		add(c.party(author))
		o.Issued = firstOf(o.Issued, c.issued(author.at("time")))
	}
	if o.Performer == nil {
		add(c.author(n))
	}
	return o
}

// codeOrWords gives the code of a statement, or else its words.
func (c *converter) codeOrWords(n *node) *r4.CodeableConcept {
	if code := c.concept(n.at("code")); code != nil {
		return code
	}
	return c.inWords(n, n.at("code"))
}

// inWords is a concept of a statement's text, where its code is null; without a text it has the reason for that.
func (c *converter) inWords(n, null *node) *r4.CodeableConcept {
	if words := c.text(n.at("text")); words != "" {
		return &r4.CodeableConcept{Text: words}
	}
	return absentConcept(null)
}

// effectiveOf gives the time of a statement, else that of the organizer around it.
func (c *converter) effectiveOf(n *node) (moment string, period *r4.Period) {
	for at := n; at != nil; at = outer(at) {
		moment, period = c.effective(at.at("effectiveTime"))
		if moment != "" || period != nil || at.parent.parent == nil || outer(at) == nil || outer(at).name != "organizer" {
			break
		}
	}
	return moment, period
}

// setValues sets value[x], or why there is none. A second value is a component, and what is said not to be (negationInd) is a
// component that is false, so that nothing denied reads as if it were so.
func (c *converter) setValues(o *r4.Observation, n *node) {
	negated := n.attr("negationInd") == "true"
	first := true
	for value := range n.each("value") {
		v, ok := c.value(value)
		switch {
		case !ok && first && value.attr("nullFlavor") != "" && !negated:
			o.Absent = absentConcept(value)
		case !ok:
			continue
		case negated:
			o.Component = append(o.Component, denied(v, o.Code))
		case first:
			o.Value = v
		default: // obs-7: values of one code stand together
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

// observationStatus maps ActStatus to ObservationStatus (ConceptMap of "C-CDA on FHIR" for result status).
func observationStatus(n *node) string {
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "completed", "":
		if n.at("statusCode").attr("nullFlavor") != "" {
			return "unknown"
		}
		return "final"
	case "active", "new", "held", "suspended":
		return "registered"
	case "aborted", "cancelled", "canceled":
		return "cancelled"
	case "nullified", "obsolete":
		return "entered-in-error"
	}
	return "unknown"
}

// referenceRanges reads what a value is compared with.
func (c *converter) referenceRanges(n *node) []r4.ReferenceRange {
	var list []r4.ReferenceRange
	for rangeNode := range n.each("referenceRange") {
		for within := range rangeNode.each("observationRange") {
			value := within.at("value")
			r := r4.ReferenceRange{Low: quantity(value.at("low")), High: quantity(value.at("high")), Text: c.text(within.at("text"))}
			r.Text = firstOf(r.Text, openBound(value))
			if r.Low == nil && r.High == nil {
				v, _ := c.value(value)
				r.Text = firstOf(r.Text, spoken(v))
			}
			r.AppliesTo = c.concepts(within, "precondition")
			if meaning := c.concept(within.at("interpretationCode")); meaning != nil && codeOf(within.at("interpretationCode")) != "N" {
				r.Type = meaning // FHIR takes a range without one for the normal one
				if r.Text == "" && r.Low == nil && r.High == nil {
					r.Text = conceptWords(meaning)
				}
			}
			if r.Low != nil || r.High != nil || r.Text != "" {
				list = append(list, r)
			}
		}
	}
	return list
}

// openBound gives the words of a bound that is no part of its range, since those of FHIR are; "" for any other.
func openBound(value *node) string {
	if q := bound(value); q != nil && isOneOf(q.Comparator, "<", ">") {
		return spoken(r4.Value{ValueQuantity: q})
	}
	return ""
}

// spoken writes a value as words.
func spoken(v r4.Value) string {
	switch {
	case v.ValueQuantity != nil:
		return strings.TrimSpace(v.ValueQuantity.Comparator + string(v.ValueQuantity.Value) + " " + v.ValueQuantity.Unit)
	case v.ValueCodeableConcept != nil:
		return firstOf(v.ValueCodeableConcept.Text, display(v.ValueCodeableConcept))
	}
	return v.ValueString
}

// display gives the first words that a concept's codes come with.
func display(concept *r4.CodeableConcept) string {
	for _, coding := range concept.Coding {
		if coding.Display != "" {
			return coding.Display
		}
	}
	return ""
}
