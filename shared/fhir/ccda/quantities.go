package ccda

import (
	"encoding/json"
	"strconv"
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

const ucum = "http://unitsofmeasure.org"

// number writes a REAL or INT as a JSON number with the digits that it has; "" when it is none.
func number(text string) json.Number {
	text = strings.TrimPrefix(strings.TrimSpace(text), "+")
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, fraction, point := strings.Cut(text, ".")
	if strings.Trim(whole+fraction, "0123456789") != "" || whole+fraction == "" || len(text) > 40 {
		if f, err := strconv.ParseFloat(text, 64); err == nil && f < 1e15 && strings.ContainsAny(text, "eE") && !strings.ContainsAny(text, "xXpP_") {
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

// quantity reads a PQ. A unit of UCUM is a code as well; "1", and words for a unit, are not. A PQ without a number but with
// words has none. It is nil without a number.
func quantity(n *node) *r4.Quantity {
	value := number(n.attr("value"))
	if value == "" {
		return nil
	}
	q := &r4.Quantity{Value: value}
	setUnit(q, n)
	return q
}

func setUnit(q *r4.Quantity, n *node) {
	unit := n.attr("unit")
	if unit == "" {
		if t := n.at("translation"); t.attr("value") == n.attr("value") || t.attr("code") != "" {
			unit = firstOf(t.attr("unit"), t.at("originalText").words(), t.attr("displayName"), t.attr("code"))
		}
		q.Unit = unit
		return
	}
	q.Unit = unit
	if isUCUM(unit) {
		q.System, q.Code = ucum, unit
	}
}

// isUCUM reports whether a unit can be a code of UCUM: printable ASCII without spaces (ucum.org, 1.1), and no word of English
// such as "tablet", which is not one.
func isUCUM(unit string) bool {
	letters := true
	for i := range len(unit) {
		if unit[i] <= ' ' || unit[i] > '~' {
			return false
		}
		letters = letters && (unit[i]|0x20 >= 'a' && unit[i]|0x20 <= 'z')
	}
	return unit != "" && (!letters || len(unit) < 4 || isOneOf(unit, "mmol", "umol", "nmol", "pmol", "fmol", "mosm", "kcal", "mbar", "nkat", "ukat", "mkat"))
}

// span reads an IVL_PQ as a range; a PQ is none, nor is one whose bounds are the wrong way round (rng-2).
func span(n *node) *r4.Range {
	r := &r4.Range{Low: quantity(n.at("low")), High: quantity(n.at("high"))}
	if r.Low == nil && r.High == nil || r.Low != nil && r.High != nil && r.Low.Unit == r.High.Unit && isAbove(r.Low.Value, r.High.Value) {
		return nil
	}
	return r
}

func isAbove(a, b json.Number) bool {
	x, errX := a.Float64()
	y, errY := b.Float64()
	return errX == nil && errY == nil && x > y
}

// bound reads an IVL_PQ with one bound as a quantity with a comparator ("> 10"); nil when it has both or none.
func bound(n *node) *r4.Quantity {
	low, high := n.at("low"), n.at("high")
	switch l, h := quantity(low), quantity(high); {
	case l != nil && h == nil:
		l.Comparator = comparator(low, ">=", ">")
		return l
	case h != nil && l == nil:
		h.Comparator = comparator(high, "<=", "<")
		return h
	}
	return nil
}

func comparator(bound *node, inclusive, exclusive string) string {
	if bound.attr("inclusive") == "false" {
		return exclusive
	}
	return inclusive
}

// ratio reads an RTO.
func ratio(n *node) *r4.Ratio {
	r := &r4.Ratio{Numerator: quantity(n.at("numerator")), Denominator: quantity(n.at("denominator"))}
	if r.Numerator == nil || r.Denominator == nil {
		return nil
	}
	return r
}

// firstOf gives the first text that is not empty.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// flag reads a BL; nil when it has no value.
func flag(n *node) *bool {
	if v := strings.ToLower(n.attr("value")); v == "true" || v == "false" {
		is := v == "true"
		return &is
	}
	return nil
}

// whole reads an INT that FHIR's integer can hold.
func whole(n *node) *int32 {
	v, err := strconv.ParseInt(n.attr("value"), 10, 32)
	if err != nil {
		return nil
	}
	is := int32(v)
	return &is
}
