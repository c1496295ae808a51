package ccda

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// setDosage reads how much, how often and which way (C-CDA on FHIR, "Medications": timing and frequency).
func (c *converter) setDosage(m *activity) {
	n, d := m.n, &m.dosage
	d.Timing = c.timing(n)
	d.Route, d.Site = c.concept(n.at("routeCode")), c.concept(n.at("approachSiteCode"))
	d.Method = c.concept(n.at("code"))
	if has(n.at("code"), "DRUG", "76662-6") { // what kind of act it is, and no method
		d.Method = nil
	}
	dose := r4.DoseAndRate{}
	dose.DoseQuantity, dose.DoseRange = amount(n.at("doseQuantity"))
	if unit := n.at("administrationUnitCode"); dose.DoseQuantity != nil && dose.DoseQuantity.Unit == "" && unit != nil {
		setFormUnit(dose.DoseQuantity, c.concept(unit))
	}
	dose.RateQuantity, dose.RateRange = amount(n.at("rateQuantity"))
	if !isEmpty(dose) {
		d.DoseAndRate = []r4.DoseAndRate{dose}
	}
	d.MaxDosePerPeriod = ratio(n.at("maxDoseQuantity"))
	if d.MaxDosePerPeriod == nil {
		d.MaxDosePerAdministration = quantity(n.at("maxDoseQuantity"))
	}
	c.setAsNeeded(d, n)
	if d.Text == "" {
		d.Text = c.text(n.at("text"))
	}
	switch repeat := whole(n.at("repeatNumber")); {
	case repeat == nil:
	case *repeat <= 0:
		c.drop("repeatNumber", "none or fewer")
	default: // how often it may be given, or has been
		if d.Timing == nil {
			d.Timing = &r4.Timing{}
		}
		if d.Timing.Repeat == nil {
			d.Timing.Repeat = &r4.Repeat{}
		}
		d.Timing.Repeat.Count = int(*repeat)
	}
}

// amount reads a PQ or an IVL_PQ: a quantity, or a range when it has two bounds.
func amount(n *node) (*r4.Quantity, *r4.Range) {
	if q := quantity(firstNode(n.at("center"), n)); q != nil {
		return q, nil
	}
	return nil, span(n)
}

// setFormUnit takes the form that is counted as the unit of a dose (2 puffs).
func setFormUnit(q *r4.Quantity, form *r4.CodeableConcept) {
	if form == nil {
		return
	}
	q.Unit = conceptWords(form)
	if len(form.Coding) > 0 {
		q.Code, q.System = form.Coding[0].Code, form.Coding[0].System
		if q.System == "" {
			q.Code = ""
		}
	}
}

// setAsNeeded reads the condition under which it is taken (Precondition for Substance Administration,
// 2.16.840.1.113883.10.20.22.4.25).
func (c *converter) setAsNeeded(d *r4.Dosage, n *node) {
	for p := range n.each("precondition") {
		criterion := p.at("criterion")
		reason := c.concept(criterion.at("value"))
		if words := c.text(criterion.at("text")); reason == nil && words != "" {
			reason = &r4.CodeableConcept{Text: words}
		}
		if reason == nil && codeOf(criterion.at("code")) != "ASSERTION" {
			reason = c.concept(criterion.at("code"))
		}
		if reason != nil && d.AsNeededCodeableConcept == nil {
			d.AsNeededCodeableConcept = reason
		}
		if reason == nil && d.AsNeededCodeableConcept == nil {
			d.AsNeededBoolean = yes()
		}
	}
	if d.AsNeededCodeableConcept != nil {
		d.AsNeededBoolean = nil
	}
}

// boundsOf finds the effectiveTime that says from when to when and not how often.
func boundsOf(n *node) *node {
	for _, t := range times(n) {
		if !isPeriodic(t) && !isEventBased(t) {
			return t
		}
	}
	return nil
}

// times lists the times of a medication activity; a set of them (SXPR_TS) gives its parts.
func times(n *node) []*node {
	var list []*node
	for t := range n.each("effectiveTime") {
		parts := false
		for part := range t.each("comp") {
			list, parts = append(list, part), true
		}
		if !parts {
			list = append(list, t)
		}
	}
	return list
}

func isPeriodic(t *node) bool {
	return strings.HasSuffix(t.attr("type"), "PIVL_TS") || t.at("period") != nil || t.at("frequency") != nil
}

func isEventBased(t *node) bool {
	return strings.HasSuffix(t.attr("type"), "EIVL_TS") || t.at("event") != nil
}

// timing reads the times of a medication activity; nil when they say nothing.
func (c *converter) timing(n *node) *r4.Timing {
	timing := &r4.Timing{}
	repeat := &r4.Repeat{}
	for _, t := range times(n) {
		switch {
		case isPeriodic(t):
			setPeriod(repeat, t)
		case isEventBased(t):
			setEvent(timing, repeat, t)
		default:
			moment, period := c.effective(t)
			switch {
			case moment != "" && t.attr("value") != "":
				timing.Event = append(timing.Event, moment)
			case period != nil:
				repeat.BoundsPeriod = period
			case moment != "":
				repeat.BoundsPeriod = &r4.Period{Start: moment}
			}
		}
	}
	if !isEmpty(*repeat) {
		timing.Repeat = repeat
	}
	if isEmpty(*timing) {
		return nil
	}
	return timing
}

// setPeriod reads a PIVL_TS. One that the institution fits into its day ("twice a day" at 12 hours) counts times a day; others
// count hours.
func setPeriod(repeat *r4.Repeat, t *node) {
	if times, every := t.at("frequency", "numerator"), t.at("frequency", "denominator"); times != nil {
		repeat.Frequency, _ = strconv.Atoi(times.attr("value"))
		repeat.Period, repeat.PeriodUnit = periodOf(every)
	} else {
		period := t.at("period")
		low, unit := periodOf(firstNode(period.at("low"), period))
		if high, ofHigh := periodOf(period.at("high")); high != "" && ofHigh == unit {
			repeat.PeriodMax = high
		}
		if hours, err := strconv.Atoi(string(low)); isTrue(t.attr("institutionSpecified")) && err == nil && unit == "h" && hours > 0 && hours <= 24 && 24%hours == 0 && repeat.PeriodMax == "" {
			repeat.Frequency, repeat.Period, repeat.PeriodUnit = 24/hours, "1", "d"
			return
		}
		repeat.Period, repeat.PeriodUnit = low, unit
		if low != "" {
			repeat.Frequency = 1
		}
	}
	if repeat.Period == "" || repeat.PeriodUnit == "" { // tim-2: neither without the other
		repeat.Frequency, repeat.Period, repeat.PeriodUnit, repeat.PeriodMax = 0, "", "", ""
	}
}

// periodOf reads a duration in a unit that FHIR has (UnitsOfTime).
func periodOf(n *node) (value json.Number, unit string) {
	return duration(n.attr("value"), n.attr("unit"))
}

func duration(amount, of string) (value json.Number, unit string) {
	value = number(amount)
	unit = lookup(`
s s
min min
h h
hr h
hour h
hours h
d d
day d
days d
wk wk
week wk
weeks wk
mo mo
month mo
a a
yr a
year a
`, strings.ToLower(of))
	if unit == "" || value == "" || strings.HasPrefix(string(value), "-") || strings.Trim(string(value), "0.") == "" {
		return "", ""
	}
	return value, unit
}

// setEvent reads an EIVL_TS: FHIR has the same codes for events of the day, except for those between meals.
func setEvent(timing *r4.Timing, repeat *r4.Repeat, t *node) {
	code, minutes := strings.ToUpper(codeOf(t.at("event"))), offsetOf(t)
	if minutes < 0 && isOneOf(code, "C", "CM", "CD", "CV") { // some time before a meal is not with it
		code = "A" + code
	}
	switch {
	case isOneOf(code, "HS", "WAKE", "C", "CM", "CD", "CV", "AC", "ACM", "ACD", "ACV", "PC", "PCM", "PCD", "PCV"):
		repeat.When = r4.AppendNew(repeat.When, code)
	case code != "":
		timing.Code = &r4.CodeableConcept{Coding: []r4.Coding{{System: "http://terminology.hl7.org/CodeSystem/v3-TimingEvent", Code: code}}}
		return
	}
	switch {
	case code == "" || strings.HasPrefix(code, "C"): // tim-9
	case minutes >= 0:
		repeat.Offset = minutes
	case code == "HS" || strings.HasPrefix(code, "AC"): // FHIR has no sign: the code says that it is before
		repeat.Offset = -minutes
	}
}

// offsetOf gives how many whole minutes after an event a dose is, below 0 before it; 0 when that is not said.
func offsetOf(t *node) int {
	n := firstNode(t.at("offset", "low"), t.at("offset", "center"), t.at("offset"))
	value, before := strings.CutPrefix(strings.TrimSpace(n.attr("value")), "-")
	count, unit := duration(value, n.attr("unit"))
	minutes, err := strconv.Atoi(string(count))
	switch {
	case err != nil || unit != "min" && unit != "h":
		return 0
	case unit == "h":
		minutes *= 60
	}
	if before {
		return -minutes
	}
	return minutes
}

// isEmpty reports whether nothing of a struct is set.
func isEmpty(v any) bool { return reflect.ValueOf(v).IsZero() }
