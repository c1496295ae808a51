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

// boundsOf returns the effectiveTime that states the start and end rather than the one that states the frequency.
func boundsOf(n *cda.Node) *cda.Node {
	for _, t := range times(n) {
		if !isPeriodic(t) && !isEventBased(t) {
			return t
		}
	}
	return nil
}

// times returns the times of a medication activity, including the components of a set (SXPR_TS).
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

// isPeriodic reports whether a time is a PIVL_TS. A PIVL_TS that contains only bounds is an interval, so isPeriodic
// returns false.
func isPeriodic(t *cda.Node) bool {
	return t.At("period") != nil || t.At("frequency") != nil ||
		strings.HasSuffix(t.Attr("type"), "PIVL_TS") && t.At("low") == nil && t.At("high") == nil
}

func isEventBased(t *cda.Node) bool {
	return strings.HasSuffix(t.Attr("type"), "EIVL_TS") || t.At("event") != nil
}

// timing converts a medication activity's times. It returns nil if the times are empty.
func timing(c *statement.Context, n *cda.Node) *r4.Timing {
	timing := &r4.Timing{}
	repeat := &r4.Repeat{}
	for _, t := range times(n) {
		switch {
		case isPeriodic(t):
			setSchedule(timing, repeat, t)
		case isEventBased(t):
			setEvent(c, timing, repeat, t)
		default:
			setBounds(c, timing, repeat, t)
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

// setBounds converts the time or period at which a medication is taken (C-CDA on FHIR, "Medications":
// effectiveTime[1]).
func setBounds(c *statement.Context, timing *r4.Timing, repeat *r4.Repeat, t *cda.Node) {
	moment, period := c.Read.Effective(t)
	if moment != "" && t.Attr("value") != "" {
		timing.Event = append(timing.Event, moment)
		return
	}
	if moment != "" {
		period = &r4.Period{Start: moment}
	}
	if period == nil && repeat.BoundsPeriod == nil {
		repeat.BoundsDuration = cmp.Or(repeat.BoundsDuration, c.Read.Width(t))
		return
	}
	if has := repeat.BoundsPeriod; period != nil && has != nil && (period.Start != has.Start || period.End != has.End) {
		c.Emit.Drop("effectiveTime", "a second interval of one medication")
		return
	}
	repeat.BoundsPeriod, repeat.BoundsDuration = cmp.Or(period, repeat.BoundsPeriod), nil
}

// setSchedule converts a PIVL_TS. Schedules with the same period, such as a morning dose and an evening dose, are
// combined. FHIR has no member for a free-text schedule or a second schedule, so both become text.
func setSchedule(timing *r4.Timing, repeat *r4.Repeat, t *cda.Node) {
	var one r4.Repeat
	setPeriod(&one, t)
	switch {
	case one.Period == "":
		if words := scheduleWords(t); words != "" {
			addWords(timing, words)
		}
	case repeat.Period == "":
		repeat.Frequency, repeat.Period, repeat.PeriodUnit, repeat.PeriodMax =
			one.Frequency, one.Period, one.PeriodUnit, one.PeriodMax
	case repeat.Period == one.Period && repeat.PeriodUnit == one.PeriodUnit && repeat.PeriodMax == one.PeriodMax &&
		repeat.Frequency > 0 && one.Frequency > 0:
		repeat.Frequency += one.Frequency
	default:
		addWords(timing, scheduleWords(t))
	}
}

// addWords adds a free-text schedule (FHIR R4, Timing.code: "or just text in code.text").
func addWords(timing *r4.Timing, words string) {
	if timing.Code == nil {
		timing.Code = &r4.CodeableConcept{}
	}
	timing.Code.Text = datatype.Joined(timing.Code.Text, words)
}

// scheduleWords returns the sender's text for the period or frequency of a PIVL_TS.
func scheduleWords(t *cda.Node) string {
	amount := func(n *cda.Node) string { return strings.TrimSpace(n.Attr("value") + " " + n.Attr("unit")) }
	if frequency := t.At("frequency"); frequency != nil {
		of, every := amount(frequency.At("numerator")), amount(frequency.At("denominator"))
		return strings.Trim(of+" / "+every, " /")
	}
	period := t.At("period")
	if low, high := amount(period.At("low")), amount(period.At("high")); low+high != "" {
		return strings.Trim(low+" - "+high, " -")
	}
	return cmp.Or(amount(period), period.Words(), period.At("originalText").Words())
}

// setPeriod converts the period of a PIVL_TS. If the institution chooses the exact times ("twice a day" for 12 hours),
// the period is converted to a number of times per day. Any other period is converted to a number of hours.
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
	if repeat.Period == "" || repeat.PeriodUnit == "" { // Constraint tim-2: a period and a unit require each other.
		repeat.Frequency, repeat.Period, repeat.PeriodUnit, repeat.PeriodMax = 0, "", "", ""
	}
}

// setEvent converts an EIVL_TS. FHIR has the same event codes except those for times between meals.
func setEvent(c *statement.Context, timing *r4.Timing, repeat *r4.Repeat, t *cda.Node) {
	code, minutes := strings.ToUpper(cda.CodeOf(t.At("event"))), offsetOf(t)
	if minutes == 0 && hasOffset(t) {
		c.Emit.Drop("offset", "no length of time in minutes or hours")
	}
	if minutes < 0 && cda.IsOneOf(code, "C", "CM", "CD", "CV") { // a time before a meal is not "with" the meal
		code = "A" + code
	}
	switch {
	case cda.IsOneOf(code, "HS", "WAKE", "C", "CM", "CD", "CV", "AC", "ACM", "ACD", "ACV", "PC", "PCM", "PCD", "PCV"):
		repeat.When = r4.AppendNew(repeat.When, code)
	case code != "":
		if timing.Code == nil {
			timing.Code = &r4.CodeableConcept{}
		}
		timing.Code.Coding = append(timing.Code.Coding, r4.Coding{
			System: "http://terminology.hl7.org/CodeSystem/v3-TimingEvent", Code: code,
		})
		countOffset(c, minutes)
		return
	}
	switch {
	case code == "" || strings.HasPrefix(code, "C"): // Constraint tim-9 forbids an offset for these events.
		countOffset(c, minutes)
	case minutes >= 0:
		repeat.Offset = minutes
	case code == "HS" || strings.HasPrefix(code, "AC"): // FHIR has no negative offsets; the code means "before".
		repeat.Offset = -minutes
	default:
		countOffset(c, minutes)
	}
}

func countOffset(c *statement.Context, minutes int) {
	if minutes != 0 {
		c.Emit.Drop("offset", "FHIR takes none for the event")
	}
}

func hasOffset(t *cda.Node) bool {
	for n := range t.At("offset").Descendants() {
		if strings.Trim(n.Attr("value"), "-0. ") != "" {
			return true
		}
	}
	return false
}

// offsetOf returns a dose's offset from an event in full minutes. The offset is negative before the event, and 0 if the
// document states none.
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
