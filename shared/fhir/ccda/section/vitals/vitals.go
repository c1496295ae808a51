package vitals

import (
	"cmp"
	"iter"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
	"recordbridge/shared/fhir/ccda/terms"
)

// siblings iterates over later observations with the same time, in the same organizer or section. Observations that a
// resource already represents are skipped. Only a limited number of observations is examined, because related ones are
// close together, so the time is linear in the list's length.
func siblings(c *statement.Context, n *cda.Node) iter.Seq[*cda.Node] {
	const closeBy = 200
	return func(yield func(*cda.Node) bool) {
		part := n.Parent.NextSibling()
		for range closeBy {
			if part == nil {
				return
			}
			for other := range part.Each("observation") {
				if !c.Emit.IsTaken(other) && !cda.IsNegated(other) && sameTime(other, n) && !yield(other) {
					return
				}
			}
			part = part.NextSibling()
		}
	}
}

// sameTime reports whether two statements have the same time, or either time is unknown.
func sameTime(a, b *cda.Node) bool {
	timeOf := func(n *cda.Node) string {
		at := n.At("effectiveTime")
		return cmp.Or(at.Attr("value"), at.At("low").Attr("value"))
	}
	x, y := timeOf(a), timeOf(b)
	return x == y || x == "" || y == ""
}

func vitalCategory() *r4.CodeableConcept {
	return r4.Concept(observation.Category, "vital-signs", "Vital Signs")
}

// vitalPanel creates the panel for vital signs measured together (C-CDA on FHIR, "Vital Signs": organizer).
func vitalPanel(c *statement.Context, n *cda.Node) {
	o := observation.Panel(c, n, vitalSection(), vitalCategory())
	observation.Recode(o, "85353-1", "Vital signs, weight, height, head circumference, oxygen saturation and BMI panel")
	observation.SetAbsent(o, nil)
	observation.SetTime(o, n)
	c.Add(o, n)
}

// vitalSign creates an Observation for a vital sign (C-CDA on FHIR, "Vital Signs"; US Core Vital Signs Profiles). If
// the vital sign is part of a blood pressure or oximetry, it becomes a component.
func vitalSign(c *statement.Context, n *cda.Node) {
	switch code := n.At("code"); {
	case cda.IsNegated(n): // A negated vital sign is not a component.
	case isSystolic(code) || isDiastolic(code):
		bloodPressure(c, n)
		return
	case isSaturation(code):
		oximetry(c, n, nil)
		return
	case isInhaled(code):
		if saturation := first(siblings(c, n), isSaturation); saturation != nil {
			oximetry(c, saturation, n)
			return
		}
	}
	o := vital(c, n)
	splitPressure(o)
	observation.SetAbsent(o, n.At("value"))
	c.Add(o, n)
}

// oximetry creates an Observation for an oxygen saturation and the inhaled oxygen measured at the same time; either may
// come first (US Core Pulse Oximetry).
func oximetry(c *statement.Context, n, before *cda.Node) {
	o := vital(c, n)
	told := []*cda.Node{n}
	take := func(inhaled *cda.Node) {
		o.Component = append(o.Component, observation.Component(join(c, o, inhaled)))
		told = append(told, inhaled)
	}
	if before != nil {
		take(before)
	}
	for other := range siblings(c, cmp.Or(before, n)) {
		if isInhaled(other.At("code")) {
			take(other)
		}
	}
	observation.SetAbsent(o, n.At("value"))
	c.Add(o, told...)
}

// vital converts a single vital sign, with the codes and units that profiles require. The vital sign's value becomes a
// quantity even if the sender labels it as a number or text.
func vital(c *statement.Context, n *cda.Node) *r4.Observation {
	o := observation.NewIn(c, n, vitalCategory())
	observation.AddAuthors(c, o, n)
	observation.SetTime(o, n)
	for _, coding := range o.Code.Coding {
		code, display, found := strings.Cut(standardCodes.Of(coding.Code), " ")
		if found && !o.Code.Has(terms.LOINC, code) {
			o.Code.Coding = append(o.Code.Coding, r4.Coding{System: terms.LOINC, Code: code, Display: display})
		}
	}
	if digits, unit, _ := strings.Cut(o.ValueString, " "); datatype.Number(digits) != "" {
		o.Value = r4.Value{ValueQuantity: &r4.Quantity{Value: datatype.Number(digits), Unit: strings.TrimSpace(unit)}}
	}
	if o.ValueInteger != nil {
		o.Value = r4.Value{ValueQuantity: datatype.Quantity(n.At("value"))}
	}
	if q := o.ValueQuantity; q != nil {
		setVitalUnit(q)
	}
	return o
}

func setVitalUnit(q *r4.Quantity) {
	written := strings.NewReplacer(" ", "", ".", "").Replace(strings.ToLower(q.Unit))
	if unit := standardUnits.Of(written); unit != "" {
		q.System, q.Code = datatype.UCUM, unit
	}
}

func isSystolic(code *cda.Node) bool { return cda.Has(code, "8480-6", "271649006") }

func isDiastolic(code *cda.Node) bool { return cda.Has(code, "8462-4", "271650006") }

func isInhaled(code *cda.Node) bool { return cda.Has(code, "3150-6", "3150-0", "3151-8") }

func isSaturation(code *cda.Node) bool {
	return cda.Has(code, "59408-5", "2708-6", "2710-2", "431314004", "103228002")
}

// bloodPressure creates one Observation for a systolic and a diastolic pressure measured at the same time (US Core
// Blood Pressure). If one of the two pressures is missing, its component has a dataAbsentReason.
func bloodPressure(c *statement.Context, n *cda.Node) {
	var systolic, diastolic *cda.Node
	if isSystolic(n.At("code")) {
		systolic, diastolic = n, first(siblings(c, n), isDiastolic)
	} else {
		systolic, diastolic = first(siblings(c, n), isSystolic), n
	}
	var upper, lower r4.Component
	o := vital(c, cmp.Or(systolic, diastolic))
	switch {
	case systolic == nil:
		lower = observation.Component(o)
	case diastolic == nil:
		upper = observation.Component(o)
	default:
		upper, lower = observation.Component(o), observation.Component(join(c, o, diastolic))
	}
	setHalf(&upper, systolic, "8480-6", "Systolic blood pressure")
	setHalf(&lower, diastolic, "8462-4", "Diastolic blood pressure")
	o.Code = r4.Concept(terms.LOINC, "85354-9", "Blood pressure panel with all children optional")
	o.Value, o.Absent, o.Interpretation, o.ReferenceRange = r4.Value{}, nil, nil, nil
	o.Component = append([]r4.Component{upper, lower}, o.Component...)
	if systolic == nil {
		c.Add(o, diastolic)
	} else {
		c.Add(o, systolic, diastolic)
	}
}

func first(list iter.Seq[*cda.Node], isIt func(code *cda.Node) bool) *cda.Node {
	for n := range list {
		if isIt(n.At("code")) {
			return n
		}
	}
	return nil
}

func setHalf(half *r4.Component, n *cda.Node, code, display string) {
	if half.Code == nil {
		half.Code = r4.Concept(terms.LOINC, code, display)
	}
	if half.Value == (r4.Value{}) && half.Absent == nil {
		half.Absent = datatype.AbsentConcept(n.At("value"))
	}
}

// join converts n, which becomes part of o, and adds n's performers, ids and notes to o. It returns the Observation
// created for n.
func join(c *statement.Context, o *r4.Observation, n *cda.Node) *r4.Observation {
	other := vital(c, n)
	for _, id := range other.Identifier {
		known := false
		for _, mine := range o.Identifier {
			known = known || mine.System == id.System && mine.Value == id.Value
		}
		if !known {
			o.Identifier = append(o.Identifier, id)
		}
	}
	o.Performer = r4.AppendReference(o.Performer, other.Performer...)
	for _, note := range other.Note {
		if len(o.Note) == 0 || o.Note[len(o.Note)-1].Text != note.Text {
			o.Note = append(o.Note, note)
		}
	}
	if o.Method == nil {
		o.Method = other.Method
	}
	if o.BodySite == nil {
		o.BodySite = other.BodySite
	}
	if o.Effective == "" && o.EffectivePeriod == nil && other.EffectiveAbsent == nil {
		o.Effective, o.EffectivePeriod, o.EffectiveAbsent = other.Effective, other.EffectivePeriod, nil
	}
	observation.SetAbsent(other, n.At("value"))
	return other
}

// splitPressure splits a blood pressure written as "120/80" into components.
func splitPressure(o *r4.Observation) {
	if !o.Code.Has(terms.LOINC, "85354-9") {
		return
	}
	written, unit, _ := strings.Cut(o.ValueString, " ")
	above, below, found := strings.Cut(written, "/")
	if q := o.ValueRatio; q != nil && q.Numerator != nil && q.Denominator != nil {
		above, below, unit, found = string(q.Numerator.Value), string(q.Denominator.Value), q.Numerator.Unit, true
	}
	if !found || datatype.Number(above) == "" || datatype.Number(below) == "" {
		return
	}
	half := func(code, display, value string) r4.Component {
		q := &r4.Quantity{Value: datatype.Number(value), Unit: cmp.Or(unit, "mm[Hg]")}
		setVitalUnit(q)
		return r4.Component{Code: r4.Concept(terms.LOINC, code, display), Value: r4.Value{ValueQuantity: q}}
	}
	o.Component = append(
		o.Component, half("8480-6", "Systolic blood pressure", above),
		half("8462-4", "Diastolic blood pressure", below),
	)
	o.Value = r4.Value{}
}
