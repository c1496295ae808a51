package ccda

import (
	"iter"
	"slices"
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

const (
	observationCategory = "http://terminology.hl7.org/CodeSystem/observation-category"
	usCoreCategory      = "http://hl7.org/fhir/us/core/CodeSystem/us-core-category"
)

// observed is observation with its categories.
func (c *converter) observed(n *node, categories ...*r4.CodeableConcept) *r4.Observation {
	o := c.observation(n)
	o.Category = listed(categories...)
	return o
}

// member converts a statement in an organizer by its own template, or as the section has it, and gives a reference to what
// tells it.
func (c *converter) member(n *node, section *sectionRule) *r4.Reference {
	if !c.isTaken(n) {
		if rule := c.ruleOf(n, section); rule != nil {
			rule.convert(c, n)
		}
	}
	return c.reference(n)
}

// panel makes an Observation of an organizer, whose members are Observations themselves (observation.html, "hasMember"). Its
// time is its own, or from the first of its members to the last.
func (c *converter) panel(n *node, section *sectionRule, categories ...*r4.CodeableConcept) *r4.Observation {
	o := c.observed(n, categories...)
	for member := range members(n) {
		if ref := c.member(member, section); ref != nil && strings.HasPrefix(ref.Reference, "Observation/") {
			o.HasMember = appendReference(o.HasMember, *ref)
		}
	}
	if o.Effective == "" && o.EffectivePeriod == nil {
		o.Effective, o.EffectivePeriod = c.spanOf(n)
	}
	return o
}

// members gives the statements in the components of an organizer.
func members(n *node) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for part := range n.each("component") {
			for member := range part.each() {
				if isStatement(member) && !yield(member) {
					return
				}
			}
		}
	}
}

// spanOf gives the time from the first member of an organizer to the last (C-CDA on FHIR, "Results" and "Vital Signs": an
// organizer without effectiveTime). Times of different zones or precision cannot be put in order: then it is the first one.
func (c *converter) spanOf(n *node) (moment string, period *r4.Period) {
	var times []string
	for member := range members(n) {
		if t := c.start(member.at("effectiveTime")); t != "" {
			times = append(times, t)
		}
	}
	if times == nil {
		return "", nil
	}
	first, last := slices.Min(times), slices.Max(times)
	for _, t := range times {
		if len(t) != len(times[0]) || !sameZone(t, times[0]) {
			return times[0], nil
		}
	}
	if first == last {
		return first, nil
	}
	return "", &r4.Period{Start: first, End: last}
}

// recode puts a LOINC code that the profiles of US Core ask for beside those that a statement has. One that says nothing but that
// something is asserted makes place for it.
func recode(o *r4.Observation, code, display string) {
	kept := []r4.Coding{{System: loinc, Code: code, Display: display}}
	for _, coding := range o.Code.Coding {
		switch {
		case coding.System == loinc && coding.Code == code:
			kept[0] = coding
		case coding.Code == "ASSERTION":
			o.Tag(coding)
		case coding.System != absentSystem:
			kept = append(kept, coding)
		}
	}
	o.Code.Coding = kept
}

// component takes what an Observation says as a part of another.
func component(o *r4.Observation) r4.Component {
	return r4.Component{Code: o.Code, Value: o.Value, Absent: o.Absent, Interpretation: o.Interpretation, ReferenceRange: o.ReferenceRange}
}

// setAbsent says that an Observation has no value, where it has none and no parts (US Core: us-core-2).
func setAbsent(o *r4.Observation, value *node) {
	if o.Value == (r4.Value{}) && o.Absent == nil && o.Component == nil && o.HasMember == nil {
		o.Absent = absentConcept(value)
	}
}

// setTime says that the time of an Observation is not known, where a profile asks for one.
func setTime(o *r4.Observation, n *node) {
	if o.Effective == "" && o.EffectivePeriod == nil {
		o.EffectiveAbsent = absent(n.at("effectiveTime"))
	}
}

// siblings gives the observations after one, in its organizer or its section, of the same time that nothing tells yet. What
// belongs together stands close by: looking no further keeps long lists linear.
func (c *converter) siblings(n *node) iter.Seq[*node] {
	const closeBy = 200
	return func(yield func(*node) bool) {
		part := n.parent.next
		for range closeBy {
			if part == nil {
				return
			}
			for other := range part.each("observation") {
				if !c.isTaken(other) && sameTime(other, n) && !yield(other) {
					return
				}
			}
			part = part.next
		}
	}
}

// sameTime reports whether two statements are of one time, as far as is known.
func sameTime(a, b *node) bool {
	timeOf := func(n *node) string {
		at := n.at("effectiveTime")
		return firstOf(at.attr("value"), at.at("low").attr("value"))
	}
	x, y := timeOf(a), timeOf(b)
	return x == y || x == "" || y == ""
}

// yetToDo takes a statement that stands among what has been done and is only planned, like one of a plan.
func (c *converter) yetToDo(n *node) {
	root := lookup(`
procedure 2.16.840.1.113883.10.20.22.4.41
observation 2.16.840.1.113883.10.20.22.4.44
act 2.16.840.1.113883.10.20.22.4.39
supply 2.16.840.1.113883.10.20.22.4.43
`, n.name)
	if !c.convertBy(root, n) {
		c.generic(n)
	}
}
