package datatype

import (
	"strconv"
	"time"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

// completed derives the missing bounds of an IVL_TS (HL7 V3 data types R1, IVL: center and width). If one bound is
// given, the other is derived from the width. If only a center is given, that time becomes the start. If both a center
// and a width are given, the width is dropped.
func (r *times) completed(n *cda.Node, start, end string) (from, to string) {
	width, center := n.At("width"), n.At("center")
	isKnown := start != "" || end != ""
	if !isKnown {
		start = r.DateTime(center)
	}
	if width.Attr("value") == "" || !isKnown && start == "" {
		return start, end
	}
	r.account.Take(width)
	switch {
	case start != "" && end != "":
		return start, end
	case isKnown && end == "":
		end = shifted(start, width, 1)
	case isKnown:
		start = shifted(end, width, -1)
	}
	if start == "" || end == "" {
		r.account.Drop("width", "a length of time that cannot be counted from a bound")
	}
	return start, end
}

// shifted returns from plus (sign 1) or minus (sign -1) a duration, with from's precision. It returns "" if from is
// less precise than the duration's unit.
func shifted(from string, width *cda.Node, sign int) string {
	amount, unit := PeriodOf(width)
	count, err := strconv.Atoi(string(amount))
	if err != nil || count > 1e6 {
		return ""
	}
	count *= sign
	layout := time.DateOnly
	if len(from) > len(time.DateOnly) {
		layout = time.RFC3339
	}
	at, err := time.Parse(layout, from)
	if err != nil {
		return ""
	}
	switch unit {
	case "d":
		at = at.AddDate(0, 0, count)
	case "wk":
		at = at.AddDate(0, 0, 7*count)
	case "mo":
		at = at.AddDate(0, count, 0)
	case "a":
		at = at.AddDate(count, 0, 0)
	default:
		length := map[string]time.Duration{"h": time.Hour, "min": time.Minute, "s": time.Second}[unit]
		if layout == time.DateOnly || length == 0 {
			return ""
		}
		at = at.Add(time.Duration(count) * length)
	}
	if at.Year() > 9999 || at.Year() < 1 {
		return ""
	}
	if len(from) > len(time.DateOnly) && unit != "h" && unit != "min" && unit != "s" {
		layout = time.DateOnly // A bound derived from a width in days is precise to the day.
	}
	return at.Format(layout)
}

// Width converts the length of an IVL_TS without bounds, such as a supply's duration in days. It returns nil if the
// interval has bounds.
func (r *times) Width(n *cda.Node) *r4.Quantity {
	width := n.At("width")
	if width == nil || r.Start(n) != "" {
		return nil
	}
	value, unit := PeriodOf(width)
	if value == "" {
		return nil
	}
	r.account.Take(width)
	return &r4.Quantity{Value: value, Unit: width.Attr("unit"), System: UCUM, Code: unit}
}
