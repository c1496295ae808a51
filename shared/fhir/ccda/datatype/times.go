package datatype

import (
	"cmp"
	"encoding/json"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/ucum"
)

// PeriodOf converts a duration in a unit that FHIR supports (UnitsOfTime).
func PeriodOf(n *cda.Node) (value json.Number, unit string) {
	return Duration(n.Attr("value"), n.Attr("unit"))
}

// Duration is like PeriodOf, for a given amount and unit.
func Duration(amount, of string) (value json.Number, unit string) {
	value = Number(amount)
	unit = cmp.Or(timeUnits.Of(strings.ToLower(of)), timeUnits.Of(ucum.Code(of)))
	if unit == "" || value == "" || strings.HasPrefix(string(value), "-") || strings.Trim(string(value), "0.") == "" {
		return "", ""
	}
	return value, unit
}

// InstantOf converts a dateTime to an instant. It returns "" for a dateTime that is less precise than a day.
func (r *times) InstantOf(moment string) string {
	zone := cmp.Or(r.document.Zone, "Z")
	switch {
	case len(moment) > len("2006-01-02"):
		return moment
	case len(moment) == len("2006-01-02"):
		return moment + "T00:00:00" + zone
	}
	return ""
}

// DateTime converts a TS to a FHIR dateTime with the same precision (C-CDA on FHIR, "Mapping Guidance": times). FHIR
// requires a time zone for a time of day. The time zone is that of the time itself or, if it has none, that of the
// document. If neither the time nor the document has a zone, the time of day is dropped.
func (r *times) DateTime(n *cda.Node) string {
	if n != nil {
		r.account.Take(n)
	}
	return r.moment(n)
}

func (r *times) moment(n *cda.Node) string {
	value := n.Attr("value")
	s, ok := cda.ReadStamp(value)
	switch {
	case !ok && cda.IsPlaceholder(value):
		r.dropPlaceholder(n, "time")
		return ""
	case !ok && strings.TrimSpace(value) != "":
		if r.isFirst(n) {
			r.account.Drop("time", "no time that exists")
		}
		return ""
	case !ok:
		return ""
	}
	d := s.Digits
	switch {
	case len(d) == 4:
		return d
	case len(d) == 6:
		return d[:4] + "-" + d[4:6]
	}
	date := d[:4] + "-" + d[4:6] + "-" + d[6:8]
	zone := s.Zone
	if zone == "" {
		zone = r.document.Zone
	}
	if len(d) == 8 || zone == "" {
		return date
	}
	return date + "T" + clock(d[8:]) + s.Frac + zone
}

// clock formats hours, minutes and seconds as hh:mm:ss, padding missing digits with zeros.
func clock(digits string) string {
	digits = (digits + "000000")[:6]
	return digits[:2] + ":" + digits[2:4] + ":" + digits[4:]
}

// Date is like DateTime, but returns a FHIR date without the time of day.
func (r *times) Date(n *cda.Node) string {
	t := r.DateTime(n)
	return t[:min(len(t), len("2006-01-02"))]
}

// Instant is like DateTime, but returns a FHIR instant, which requires a precision of seconds. A day begins in the
// document's time zone or, if that is unknown, in UTC.
func (r *times) Instant(n *cda.Node) string {
	t := r.DateTime(n)
	switch {
	case len(t) > len("2006-01-02"):
		return t
	case len(t) < len("2006-01-02"):
		return ""
	case r.document.Zone == "":
		return t + "T00:00:00Z"
	}
	return t + "T00:00:00" + r.document.Zone
}

// Issued is like Instant, but requires a precision of minutes, because a day alone doesn't state when a result became
// available.
func (r *times) Issued(n *cda.Node) string {
	if t := r.DateTime(n); len(t) > len("2006-01-02") {
		return t
	}
	return ""
}

// Period converts an IVL_TS. It returns nil if all times are unknown. A single value becomes a period whose start and
// end are that value. A missing bound is derived from the width.
func (r *times) Period(n *cda.Node) *r4.Period {
	start, end := r.DateTime(n.At("low")), r.DateTime(n.At("high"))
	if start == "" && end == "" {
		start = r.DateTime(n)
		end = start
	} else if value := n.Attr("value"); value != "" && value != n.At("low").Attr("value") &&
		value != n.At("high").Attr("value") {
		r.account.Drop("time", "a point in time beside the bounds of an interval")
	}
	start, end = r.completed(n, start, end)
	if start == "" && end == "" {
		return nil
	}
	if end != "" && start > end && len(start) == len(end) && SameZone(start, end) {
		r.account.Drop("time", "ends before it starts")
		end = ""
	}
	return &r4.Period{Start: start, End: end}
}

// SameZone reports whether two dateTimes have the same time zone or no time of day.
func SameZone(a, b string) bool { return len(a) <= 10 || a[19:] == b[19:] }

// Start returns the time at which a fact began: the first known time among low, the value itself, center and high.
func (r *times) Start(n *cda.Node) string {
	for _, at := range []*cda.Node{n.At("low"), n, n.At("center"), n.At("high")} {
		if t := r.DateTime(at); t != "" {
			return t
		}
	}
	return ""
}

// Effective converts a time that FHIR represents as a dateTime or a Period. It is a Period if n has a start and a
// different end.
func (r *times) Effective(n *cda.Node) (moment string, period *r4.Period) {
	p := r.Period(n)
	switch {
	case p == nil:
		return "", nil
	case p.Start == p.End, p.End == "" && n.At("high") == nil:
		return p.Start, nil
	}
	return "", p
}

// Lasting adjusts the result of Effective for facts that continue until a stated end. If there is no end, the result is
// an open Period (FHIR Observation.effective[x]) rather than the first day.
func Lasting(n *cda.Node, moment string, period *r4.Period) (string, *r4.Period) {
	if moment != "" && n.At("low").Attr("value") != "" && n.At("high") == nil {
		return "", &r4.Period{Start: moment}
	}
	return moment, period
}
