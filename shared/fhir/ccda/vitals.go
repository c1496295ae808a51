package ccda

import (
	"iter"
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// vitalSections is the section whose entries are vital signs.
func vitalSections() []sectionRule {
	return []sectionRule{*vitalSection()}
}

func vitalSection() *sectionRule {
	return &sectionRule{
		codes: []string{"8716-3"}, name: "Vital Signs", titles: []string{"vital signs", "vitals"}, file: "vitals.go",
		roots: []string{"2.16.840.1.113883.10.20.22.2.4", "2.16.840.1.113883.10.20.1.16", "1.3.6.1.4.1.19376.1.5.3.1.3.25", "1.3.6.1.4.1.19376.1.5.3.1.1.5.3.2", "2.16.840.1.113883.3.88.11.83.119"},
		assume: []assumption{
			{"organizer", "", "2.16.840.1.113883.10.20.22.4.26"},
			{"observation", "", "2.16.840.1.113883.10.20.22.4.27"},
		},
		shared: []string{"2.16.840.1.113883.10.20.1.32", "2.16.840.1.113883.10.20.1.31", "1.3.6.1.4.1.19376.1.5.3.1.4.13"},
	}
}

func vitalEntries() []entryRule {
	const file = "vitals.go"
	return []entryRule{
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.26", "2.16.840.1.113883.10.20.1.35", "1.3.6.1.4.1.19376.1.5.3.1.4.13.1"},
			name:  "Vital Signs Organizer", target: "Observation (panel)", file: file, convert: (*converter).vitalPanel,
		},
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.27", "2.16.840.1.113883.3.88.11.83.14", "1.3.6.1.4.1.19376.1.5.3.1.4.13.2"},
			name:  "Vital Sign Observation", target: "Observation", file: file, convert: (*converter).vitalSign,
		},
	}
}

func vitalCategory() *r4.CodeableConcept {
	return one(observationCategory, "vital-signs", "Vital Signs")
}

// vitalPanel makes the panel of the vital signs that were taken together (C-CDA on FHIR, "Vital Signs": organizer).
func (c *converter) vitalPanel(n *node) {
	o := c.panel(n, vitalSection(), vitalCategory())
	recode(o, "85353-1", "Vital signs, weight, height, head circumference, oxygen saturation and BMI panel")
	setAbsent(o, nil)
	setTime(o, n)
	c.add(o, n)
}

// vitalCodes has the code that US Core asks for by those that senders use for the same (US Core Vital Signs Profiles;
// observation-vitalsigns.html). It stands beside the sender's.
const vitalCodes = `
3141-9 29463-7 Body weight
3142-7 29463-7 Body weight
8350-1 29463-7 Body weight
8351-9 29463-7 Body weight
27113001 29463-7 Body weight
3137-7 8302-2 Body height
3138-5 8302-2 Body height
8306-3 8302-2 Body height
8301-4 8302-2 Body height
50373000 8302-2 Body height
8287-5 9843-4 Head Occipital-frontal circumference
363812007 9843-4 Head Occipital-frontal circumference
60621009 39156-5 Body mass index (BMI) [Ratio]
8331-1 8310-5 Body temperature
8332-9 8310-5 Body temperature
8328-7 8310-5 Body temperature
8333-7 8310-5 Body temperature
11289-6 8310-5 Body temperature
386725007 8310-5 Body temperature
276885007 8310-5 Body temperature
8889-8 8867-4 Heart rate
8893-0 8867-4 Heart rate
364075005 8867-4 Heart rate
78564009 8867-4 Heart rate
86290005 9279-1 Respiratory rate
2710-2 2708-6 Oxygen saturation in Arterial blood
59408-5 2708-6 Oxygen saturation in Arterial blood
2708-6 59408-5 Oxygen saturation in Arterial blood by Pulse oximetry
431314004 2708-6 Oxygen saturation in Arterial blood
103228002 2708-6 Oxygen saturation in Arterial blood
271649006 8480-6 Systolic blood pressure
271650006 8462-4 Diastolic blood pressure
75367002 85354-9 Blood pressure panel with all children optional
55284-4 85354-9 Blood pressure panel with all children optional
`

// vitalUnits has the UCUM code of units as senders write them, in lower case and without spaces and points. The sender's way
// stays as the unit's text.
const vitalUnits = `
mmhg mm[Hg]
mm[hg] mm[Hg]
mm(hg) mm[Hg]
bpm /min
1/min /min
min-1 /min
beats/min /min
beats/minute /min
beatsperminute /min
breaths/min /min
breaths/minute /min
breathsperminute /min
br/min /min
perminute /min
/minute /min
f [degF]
degf [degF]
[degf] [degF]
degreesf [degF]
fahrenheit [degF]
degreesfahrenheit [degF]
°f [degF]
c Cel
cel Cel
degc Cel
degreesc Cel
celsius Cel
degreescelsius Cel
°c Cel
lb [lb_av]
lbs [lb_av]
lb_av [lb_av]
lbs_av [lb_av]
pounds [lb_av]
pound [lb_av]
oz [oz_av]
ounces [oz_av]
kgs kg
kilogram kg
kilograms kg
grams g
gm g
in [in_i]
in_i [in_i]
in_us [in_i]
inch [in_i]
inches [in_i]
[in_us] [in_i]
ft [ft_i]
feet [ft_i]
cms cm
centimeter cm
centimeters cm
kg/m^2 kg/m2
kg/m² kg/m2
kg/(m^2) kg/m2
kg/sqm kg/m2
percent %
%o2 %
`

// vitalSign makes an Observation of a vital sign (C-CDA on FHIR, "Vital Signs"; US Core Vital Signs Profiles). A part of a
// blood pressure or of an oximetry becomes a component of it.
func (c *converter) vitalSign(n *node) {
	switch code := n.at("code"); {
	case isSystolic(code) || isDiastolic(code):
		c.bloodPressure(n)
		return
	case isSaturation(code):
		c.oximetry(n, nil)
		return
	case isInhaled(code):
		if saturation := first(c.siblings(n), isSaturation); saturation != nil {
			c.oximetry(saturation, n)
			return
		}
	}
	o := c.vital(n)
	splitPressure(o)
	setAbsent(o, n.at("value"))
	c.add(o, n)
}

// oximetry makes an Observation of a saturation and the oxygen that was inhaled meanwhile, of which one may stand before it (US
// Core Pulse Oximetry).
func (c *converter) oximetry(n, before *node) {
	o := c.vital(n)
	told := []*node{n}
	take := func(inhaled *node) {
		o.Component = append(o.Component, component(c.join(o, inhaled)))
		told = append(told, inhaled)
	}
	if before != nil {
		take(before)
	}
	for other := range c.siblings(firstNode(before, n)) {
		if isInhaled(other.at("code")) {
			take(other)
		}
	}
	setAbsent(o, n.at("value"))
	c.add(o, told...)
}

// vital reads a vital sign by itself, with codes and units as profiles have them. Its value is a quantity, also where a sender
// calls it a number or a text.
func (c *converter) vital(n *node) *r4.Observation {
	o := c.observed(n, vitalCategory())
	setTime(o, n)
	for _, coding := range o.Code.Coding {
		code, display, found := strings.Cut(lookup(vitalCodes, coding.Code), " ")
		if found && !o.Code.Has(loinc, code) {
			o.Code.Coding = append(o.Code.Coding, r4.Coding{System: loinc, Code: code, Display: display})
		}
	}
	if digits, unit, _ := strings.Cut(o.ValueString, " "); number(digits) != "" {
		o.Value = r4.Value{ValueQuantity: &r4.Quantity{Value: number(digits), Unit: strings.TrimSpace(unit)}}
	}
	if o.ValueInteger != nil {
		o.Value = r4.Value{ValueQuantity: quantity(n.at("value"))}
	}
	if q := o.ValueQuantity; q != nil {
		setVitalUnit(q)
	}
	return o
}

func setVitalUnit(q *r4.Quantity) {
	written := strings.NewReplacer(" ", "", ".", "").Replace(strings.ToLower(q.Unit))
	if unit := lookup(vitalUnits, written); unit != "" {
		q.System, q.Code = ucum, unit
	}
}

func isSystolic(code *node) bool  { return has(code, "8480-6", "271649006") }
func isDiastolic(code *node) bool { return has(code, "8462-4", "271650006") }
func isInhaled(code *node) bool   { return has(code, "3150-6", "3150-0", "3151-8") }

func isSaturation(code *node) bool {
	return has(code, "59408-5", "2708-6", "2710-2", "431314004", "103228002")
}

// bloodPressure makes one Observation of a systolic and a diastolic pressure of the same time (US Core Blood Pressure). The
// half that is missing is said to be.
func (c *converter) bloodPressure(n *node) {
	var systolic, diastolic *node
	if isSystolic(n.at("code")) {
		systolic, diastolic = n, first(c.siblings(n), isDiastolic)
	} else {
		systolic, diastolic = first(c.siblings(n), isSystolic), n
	}
	var upper, lower r4.Component
	o := c.vital(firstNode(systolic, diastolic))
	switch {
	case systolic == nil:
		lower = component(o)
	case diastolic == nil:
		upper = component(o)
	default:
		upper, lower = component(o), component(c.join(o, diastolic))
	}
	setHalf(&upper, systolic, "8480-6", "Systolic blood pressure")
	setHalf(&lower, diastolic, "8462-4", "Diastolic blood pressure")
	o.Code = one(loinc, "85354-9", "Blood pressure panel with all children optional")
	o.Value, o.Absent, o.Interpretation, o.ReferenceRange = r4.Value{}, nil, nil, nil
	o.Component = append([]r4.Component{upper, lower}, o.Component...)
	if systolic == nil {
		c.add(o, diastolic)
	} else {
		c.add(o, systolic, diastolic)
	}
}

// first gives the first observation of a code; nil when there is none.
func first(list iter.Seq[*node], isIt func(code *node) bool) *node {
	for n := range list {
		if isIt(n.at("code")) {
			return n
		}
	}
	return nil
}

// setHalf completes a half of a blood pressure.
func setHalf(half *r4.Component, n *node, code, display string) {
	if half.Code == nil {
		half.Code = one(loinc, code, display)
	}
	if half.Value == (r4.Value{}) && half.Absent == nil {
		half.Absent = absentConcept(n.at("value"))
	}
}

// join adds to an Observation who did another that becomes a part of it, and its ids and notes, and gives the other.
func (c *converter) join(o *r4.Observation, n *node) *r4.Observation {
	other := c.vital(n)
	for _, id := range other.Identifier {
		known := false
		for _, mine := range o.Identifier {
			known = known || mine.System == id.System && mine.Value == id.Value
		}
		if !known {
			o.Identifier = append(o.Identifier, id)
		}
	}
	o.Performer = appendReference(o.Performer, other.Performer...)
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
	setAbsent(other, n.at("value"))
	return other
}

// splitPressure makes components of a blood pressure that is written as "120/80".
func splitPressure(o *r4.Observation) {
	if !o.Code.Has(loinc, "85354-9") {
		return
	}
	written, unit, _ := strings.Cut(o.ValueString, " ")
	above, below, found := strings.Cut(written, "/")
	if q := o.ValueRatio; q != nil && q.Numerator != nil && q.Denominator != nil {
		above, below, unit, found = string(q.Numerator.Value), string(q.Denominator.Value), q.Numerator.Unit, true
	}
	if !found || number(above) == "" || number(below) == "" {
		return
	}
	half := func(code, display, value string) r4.Component {
		q := &r4.Quantity{Value: number(value), Unit: firstOf(unit, "mm[Hg]")}
		setVitalUnit(q)
		return r4.Component{Code: one(loinc, code, display), Value: r4.Value{ValueQuantity: q}}
	}
	o.Component = append(o.Component, half("8480-6", "Systolic blood pressure", above), half("8462-4", "Diastolic blood pressure", below))
	o.Value = r4.Value{}
}
