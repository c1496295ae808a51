package observation

import (
	"slices"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
	"recordbridge/shared/fhir/ccda/terms"
)

// Code systems from FHIR and US Core for Observation.category.
const (
	Category       = "http://terminology.hl7.org/CodeSystem/observation-category"
	USCoreCategory = "http://hl7.org/fhir/us/core/CodeSystem/us-core-category"
)

// NewIn is like New but adds the given categories.
func NewIn(c *statement.Context, n *cda.Node, categories ...*r4.CodeableConcept) *r4.Observation {
	o := New(c, n)
	o.Category = r4.Listed(categories...)
	return o
}

// Panel creates an Observation for an organizer whose members are Observations (observation.html, "hasMember"). The
// time is the organizer's or, if it has none, the span from its first member to its last.
func Panel(
	c *statement.Context, n *cda.Node, section *statement.Section, categories ...*r4.CodeableConcept,
) *r4.Observation {
	o := NewIn(c, n, categories...)
	for member := range cda.Members(n) {
		if ref := c.Rules.Member(member, section); ref != nil && strings.HasPrefix(ref.Reference, "Observation/") {
			o.HasMember = r4.AppendReference(o.HasMember, *ref)
		}
	}
	if o.Effective == "" && o.EffectivePeriod == nil {
		o.Effective, o.EffectivePeriod = SpanOf(c, n)
	}
	return o
}

// SpanOf returns the span from an organizer's earliest member to its latest (C-CDA on FHIR, "Results" and "Vital
// Signs": an organizer without effectiveTime). If the times can't be ordered because their zones or precisions differ,
// it returns the first time.
func SpanOf(c *statement.Context, n *cda.Node) (moment string, period *r4.Period) {
	var times []string
	for member := range cda.Members(n) {
		if t := c.Read.Start(member.At("effectiveTime")); t != "" {
			times = append(times, t)
		}
	}
	if times == nil {
		return "", nil
	}
	first, last := slices.Min(times), slices.Max(times)
	for _, t := range times {
		if len(t) != len(times[0]) || !datatype.SameZone(t, times[0]) {
			return times[0], nil
		}
	}
	if first == last {
		return first, nil
	}
	return "", &r4.Period{Start: first, End: last}
}

// Recode adds a LOINC code required by a US Core profile to a statement's codes. The LOINC code replaces any code that
// only marks an assertion.
func Recode(o *r4.Observation, code, display string) {
	kept := []r4.Coding{{System: terms.LOINC, Code: code, Display: display}}
	for _, coding := range o.Code.Coding {
		switch {
		case coding.System == terms.LOINC && coding.Code == code:
			kept[0] = coding
		case coding.Code == "ASSERTION":
			o.Tag(coding)
		case coding.System != datatype.AbsentSystem:
			kept = append(kept, coding)
		}
	}
	o.Code.Coding = kept
}

// Component returns an Observation's content as a component of another Observation.
func Component(o *r4.Observation) r4.Component {
	if o.Value == (r4.Value{}) && o.Absent == nil && len(o.Component) == 1 { // The value is negated.
		return o.Component[0]
	}
	return r4.Component{
		Code: o.Code, Value: o.Value, Absent: o.Absent, Interpretation: o.Interpretation,
		ReferenceRange: o.ReferenceRange,
	}
}

// SetAbsent records that an Observation's value is missing. It does nothing if the Observation has a value, components
// or members (US Core: us-core-2).
func SetAbsent(o *r4.Observation, value *cda.Node) {
	if o.Value == (r4.Value{}) && o.Absent == nil && o.Component == nil && o.HasMember == nil {
		o.Absent = datatype.AbsentConcept(value)
	}
}

// SetTime records that an Observation's time is unknown, for profiles that require a time.
func SetTime(o *r4.Observation, n *cda.Node) {
	if o.Effective == "" && o.EffectivePeriod == nil {
		o.EffectiveAbsent = datatype.Absent(n.At("effectiveTime"))
	}
}

// YetToDo converts a planned statement found among completed statements as if it were in a plan section.
func YetToDo(c *statement.Context, n *cda.Node) {
	root := plannedRoots.Of(n.Name)
	if !c.Rules.ConvertBy(root, n) {
		Generic(c, n)
	}
}
