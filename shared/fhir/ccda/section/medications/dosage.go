package medications

import (
	"cmp"
	"strconv"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// setDosage reads how much, how often and which way (C-CDA on FHIR, "Medications": timing and frequency).
func setDosage(c *statement.Context, m *activity) {
	n, d := m.n, &m.dosage
	d.Timing = timing(c, n)
	d.Route, d.Site = c.Read.Concept(n.At("routeCode")), c.Read.Concept(n.At("approachSiteCode"))
	d.Method = c.Read.Concept(n.At("code"))
	if cda.Has(n.At("code"), "DRUG", "76662-6") { // what kind of act it is, and no method
		d.Method = nil
	}
	dose := r4.DoseAndRate{}
	dose.DoseQuantity, dose.DoseRange = amount(n.At("doseQuantity"))
	if unit := n.At("administrationUnitCode"); dose.DoseQuantity != nil && dose.DoseQuantity.Unit == "" && unit != nil {
		setFormUnit(dose.DoseQuantity, c.Read.Concept(unit))
	}
	dose.RateQuantity, dose.RateRange = amount(n.At("rateQuantity"))
	if !r4.IsEmpty(dose) {
		d.DoseAndRate = []r4.DoseAndRate{dose}
	}
	d.MaxDosePerPeriod = datatype.Ratio(n.At("maxDoseQuantity"))
	if d.MaxDosePerPeriod == nil {
		d.MaxDosePerAdministration = datatype.Quantity(n.At("maxDoseQuantity"))
	}
	setAsNeeded(c, d, n)
	if d.Text == "" {
		d.Text = c.Read.Text(n.At("text"))
	}
	switch repeat := c.Read.Count(n.At("repeatNumber")); {
	case repeat == nil:
	case *repeat <= 0:
		c.Emit.Drop("repeatNumber", "none or fewer")
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
func amount(n *cda.Node) (*r4.Quantity, *r4.Range) {
	if q := datatype.Quantity(cmp.Or(n.At("center"), n)); q != nil {
		return q, nil
	}
	return nil, datatype.Span(n)
}

// setFormUnit takes the form that is counted as the unit of a dose (2 puffs).
func setFormUnit(q *r4.Quantity, form *r4.CodeableConcept) {
	if form == nil {
		return
	}
	q.Unit = r4.Words(form)
	if len(form.Coding) > 0 {
		q.Code, q.System = form.Coding[0].Code, form.Coding[0].System
		if q.System == "" {
			q.Code = ""
		}
	}
}

// setAsNeeded reads the condition under which it is taken (Precondition for Substance Administration,
// 2.16.840.1.113883.10.20.22.4.25).
func setAsNeeded(c *statement.Context, d *r4.Dosage, n *cda.Node) {
	for p := range n.Each("precondition") {
		criterion := p.At("criterion")
		reason := c.Read.Concept(criterion.At("value"))
		if words := c.Read.Text(criterion.At("text")); reason == nil && words != "" {
			reason = &r4.CodeableConcept{Text: words}
		}
		if reason == nil && cda.CodeOf(criterion.At("code")) != "ASSERTION" {
			reason = c.Read.Concept(criterion.At("code"))
		}
		if reason != nil && d.AsNeededCodeableConcept == nil {
			d.AsNeededCodeableConcept = reason
		}
		if reason == nil && d.AsNeededCodeableConcept == nil {
			d.AsNeededBoolean = r4.True()
		}
	}
	if d.AsNeededCodeableConcept != nil {
		d.AsNeededBoolean = nil
	}
}

// boundsOf finds the effectiveTime that says from when to when and not how often.
func boundsOf(n *cda.Node) *cda.Node {
	for _, t := range times(n) {
		if !isPeriodic(t) && !isEventBased(t) {
			return t
		}
	}
	return nil
}

// times lists the times of a medication activity; a set of them (SXPR_TS) gives its parts.
func times(n *cda.Node) []*cda.Node {
	var list []*cda.Node
	for t := range n.Each("effectiveTime") {
		parts := false
		for part := range t.Each("comp") {
			list, parts = append(list, part), true
		}
		if !parts {
			list = append(list, t)
		}
	}
	return list
}

func isPeriodic(t *cda.Node) bool {
	return strings.HasSuffix(t.Attr("type"), "PIVL_TS") || t.At("period") != nil || t.At("frequency") != nil
}

func isEventBased(t *cda.Node) bool {
	return strings.HasSuffix(t.Attr("type"), "EIVL_TS") || t.At("event") != nil
}

// timing reads the times of a medication activity; nil when they say nothing.
func timing(c *statement.Context, n *cda.Node) *r4.Timing {
	timing := &r4.Timing{}
	repeat := &r4.Repeat{}
	for _, t := range times(n) {
		switch {
		case isPeriodic(t):
			setPeriod(repeat, t)
		case isEventBased(t):
			setEvent(timing, repeat, t)
		default:
			moment, period := c.Read.Effective(t)
			switch {
			case moment != "" && t.Attr("value") != "":
				timing.Event = append(timing.Event, moment)
			case period != nil:
				repeat.BoundsPeriod = period
			case moment != "":
				repeat.BoundsPeriod = &r4.Period{Start: moment}
			}
		}
	}
	if !r4.IsEmpty(*repeat) {
		timing.Repeat = repeat
	}
	if r4.IsEmpty(*timing) {
		return nil
	}
	return timing
}

// setPeriod reads a PIVL_TS. One that the institution fits into its day ("twice a day" at 12 hours) counts times a day;
// others count hours.
func setPeriod(repeat *r4.Repeat, t *cda.Node) {
	if times, every := t.At("frequency", "numerator"), t.At("frequency", "denominator"); times != nil {
		repeat.Frequency, _ = strconv.Atoi(times.Attr("value"))
		repeat.Period, repeat.PeriodUnit = datatype.PeriodOf(every)
	} else {
		period := t.At("period")
		low, unit := datatype.PeriodOf(cmp.Or(period.At("low"), period))
		if high, ofHigh := datatype.PeriodOf(period.At("high")); high != "" && ofHigh == unit {
			repeat.PeriodMax = high
		}
		if hours, err := strconv.Atoi(string(low)); cda.IsTrue(t.Attr("institutionSpecified")) && err == nil &&
			unit == "h" && hours > 0 && hours <= 24 && 24%hours == 0 && repeat.PeriodMax == "" {
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

// setEvent reads an EIVL_TS: FHIR has the same codes for events of the day, except for those between meals.
func setEvent(timing *r4.Timing, repeat *r4.Repeat, t *cda.Node) {
	code, minutes := strings.ToUpper(cda.CodeOf(t.At("event"))), offsetOf(t)
	if minutes < 0 && cda.IsOneOf(code, "C", "CM", "CD", "CV") { // some time before a meal is not with it
		code = "A" + code
	}
	switch {
	case cda.IsOneOf(code, "HS", "WAKE", "C", "CM", "CD", "CV", "AC", "ACM", "ACD", "ACV", "PC", "PCM", "PCD", "PCV"):
		repeat.When = r4.AppendNew(repeat.When, code)
	case code != "":
		timing.Code = &r4.CodeableConcept{
			Coding: []r4.Coding{{System: "http://terminology.hl7.org/CodeSystem/v3-TimingEvent", Code: code}},
		}
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

// offsetOf returns how many whole minutes after an event a dose is, below 0 before it; 0 when that is not said.
func offsetOf(t *cda.Node) int {
	n := cmp.Or(t.At("offset", "low"), t.At("offset", "center"), t.At("offset"))
	value, before := strings.CutPrefix(strings.TrimSpace(n.Attr("value")), "-")
	count, unit := datatype.Duration(value, n.Attr("unit"))
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
