package datatype

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/ucum"
)

// AgeOf converts an age. It returns nil if FHIR doesn't allow the unit for ages (age-1).
func AgeOf(value *cda.Node) *r4.Quantity {
	age := Quantity(value)
	if age == nil || !cda.IsOneOf(age.Code, "a", "mo", "wk", "d", "h", "min") ||
		strings.Trim(string(age.Value), "-0.") == "" || age.Value[0] == '-' {
		return nil
	}
	return age
}

// UCUM is the system URI of UCUM.
const UCUM = "http://unitsofmeasure.org"

// Number converts a REAL or INT to a JSON number with the original digits. It returns "" if the text is not a number.
func Number(text string) json.Number {
	text = strings.TrimPrefix(strings.TrimSpace(text), "+")
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, fraction, point := strings.Cut(text, ".")
	if strings.Trim(whole+fraction, "0123456789") != "" || whole+fraction == "" || len(text) > 40 {
		if f, err := strconv.ParseFloat(text, 64); err == nil && f < 1e15 && strings.ContainsAny(text, "eE") &&
			!strings.ContainsAny(text, "xXpP_") {
			return json.Number(sign + strconv.FormatFloat(f, 'f', -1, 64))
		}
		return ""
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if point && fraction != "" {
		return json.Number(sign + whole + "." + fraction)
	}
	return json.Number(sign + whole)
}

// Quantity converts a PQ. It returns nil if there is no number. The unit is spelled as in the document. The Quantity
// has a code only if its unit is a UCUM unit, as CDA requires (HL7 V3 data types R1, PQ.unit), or a known synonym.
func Quantity(n *cda.Node) *r4.Quantity {
	value := Number(n.Attr("value"))
	if value == "" {
		return nil
	}
	q := &r4.Quantity{Value: value}
	setUnit(q, n)
	return q
}

func setUnit(q *r4.Quantity, n *cda.Node) {
	unit := n.Attr("unit")
	if unit == "" {
		if t := n.At("translation"); t.Attr("value") == n.Attr("value") || t.Attr("code") != "" {
			unit = cmp.Or(t.Attr("unit"), t.At("originalText").Words(), t.Attr("displayName"), t.Attr("code"))
		}
		q.Unit = unit
		return
	}
	q.Unit = unit
	if code := ucum.Code(unit); code != "" {
		q.System, q.Code = UCUM, code
	}
}

// Span converts an IVL_PQ to a range. It returns nil for a PQ or if the bounds are in the wrong order (rng-2).
func Span(n *cda.Node) *r4.Range {
	r := &r4.Range{Low: Quantity(n.At("low")), High: Quantity(n.At("high"))}
	if r.Low == nil && r.High == nil ||
		r.Low != nil && r.High != nil && r.Low.Unit == r.High.Unit && isAbove(r.Low.Value, r.High.Value) {
		return nil
	}
	return r
}

func isAbove(a, b json.Number) bool {
	x, errX := a.Float64()
	y, errY := b.Float64()
	return errX == nil && errY == nil && x > y
}

// Bound converts an IVL_PQ with one bound to a quantity with a comparator ("> 10"). It returns nil if both bounds are
// given or neither is.
func Bound(n *cda.Node) *r4.Quantity {
	low, high := n.At("low"), n.At("high")
	switch l, h := Quantity(low), Quantity(high); {
	case l != nil && h == nil:
		l.Comparator = comparator(low, ">=", ">")
		return l
	case h != nil && l == nil:
		h.Comparator = comparator(high, "<=", "<")
		return h
	}
	return nil
}

func comparator(bound *cda.Node, inclusive, exclusive string) string {
	if bound.Attr("inclusive") == "false" {
		return exclusive
	}
	return inclusive
}

// Ratio converts an RTO. It returns nil if either number is missing.
func Ratio(n *cda.Node) *r4.Ratio {
	r := &r4.Ratio{Numerator: Quantity(n.At("numerator")), Denominator: Quantity(n.At("denominator"))}
	if r.Numerator == nil || r.Denominator == nil {
		return nil
	}
	return r
}

// Flag converts a Boolean (BL). It returns nil if the value is missing.
func Flag(n *cda.Node) *bool {
	if v := strings.ToLower(n.Attr("value")); v == "true" || v == "false" {
		is := v == "true"
		return &is
	}
	return nil
}

// Whole converts an integer (INT). It returns nil if the value does not fit into a FHIR integer.
func Whole(n *cda.Node) *int32 {
	v, err := strconv.ParseInt(n.Attr("value"), 10, 32)
	if err != nil {
		return nil
	}
	is := int32(v)
	return &is
}
