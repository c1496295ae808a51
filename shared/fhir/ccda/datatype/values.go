package datatype

import (
	"cmp"
	"encoding/base64"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

// Spoken formats a value as plain text.
func Spoken(v r4.Value) string {
	switch {
	case v.ValueQuantity != nil:
		return strings.TrimSpace(
			v.ValueQuantity.Comparator + string(v.ValueQuantity.Value) + " " + v.ValueQuantity.Unit,
		)
	case v.ValueCodeableConcept != nil:
		return cmp.Or(v.ValueCodeableConcept.Text, r4.Display(v.ValueCodeableConcept))
	}
	return v.ValueString
}

// BytesOf returns the content of an ED. It decodes base64 if the ED declares it, or if the ED is not text and declares
// no representation.
func BytesOf(n *cda.Node) []byte {
	var b strings.Builder
	n.Write(&b)
	text := b.String()
	if isPacked(n) {
		packed := strings.Join(strings.Fields(text), "")
		if raw, err := base64.StdEncoding.DecodeString(packed); err == nil {
			return raw
		}
		if raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(packed, "=")); err == nil {
			return raw
		}
	}
	return []byte(strings.TrimSpace(text))
}

// Value converts an observation's value by its xsi:type or, if the type is missing or wrong, by its form (C-CDA on
// FHIR, "Results": value[x]). ok is false if there is no value.
func (r *Reader) Value(n *cda.Node) (v r4.Value, ok bool) {
	if n == nil || IsFile(n) {
		return v, false
	}
	kind := n.Attr("type")
	if _, after, found := strings.Cut(kind, ":"); found {
		kind = after
	}
	switch kind {
	case "PQ":
		v.ValueQuantity = Quantity(n)
	case "IVL_PQ", "IVL_INT", "IVL_REAL":
		v = interval(n)
	case "INT":
		v.ValueInteger = Whole(n)
	case "REAL", "MO":
		v.ValueQuantity = Quantity(n)
	case "BL":
		v.ValueBoolean = Flag(n)
	case "TS":
		v.ValueDateTime = r.DateTime(n)
	case "IVL_TS":
		v.ValueDateTime, v.ValuePeriod = r.Effective(n)
	case "RTO", "RTO_PQ_PQ", "RTO_QTY_QTY":
		v.ValueRatio = Ratio(n)
	case "CD", "CE", "CV", "CO", "CS":
		v.ValueCodeableConcept = r.Concept(n)
	case "ST", "ED", "SC":
		v.ValueString = r.Text(n)
		if n.Attr("representation") == "B64" {
			v.ValueString = strings.ToValidUTF8(string(BytesOf(n)), "\uFFFD")
		}
	}
	if v != (r4.Value{}) {
		r.account.Take(n)
		return v, true
	}
	v = r.guess(n)
	return v, v != (r4.Value{})
}

// IsFile reports whether an ED is a base64-encoded file, such as a PDF, rather than text.
func IsFile(n *cda.Node) bool {
	return n.Attr("representation") == "B64" && !strings.HasPrefix(cmp.Or(n.Attr("mediaType"), "text/plain"), "text/")
}

func interval(n *cda.Node) (v r4.Value) {
	switch q := Bound(n); {
	case q != nil:
		v.ValueQuantity = q
	case Span(n) != nil:
		v.ValueRange = Span(n)
	case n.At("center") != nil || n.Attr("value") != "":
		v.ValueQuantity = Quantity(cmp.Or(n.At("center"), n))
	case Quantity(n.At("low")) != nil:
		v.ValueString = Spoken(r4.Value{ValueQuantity: Quantity(n.At("low"))}) + " - " + Spoken(r4.Value{
			ValueQuantity: Quantity(n.At("high")),
		})
	}
	return v
}

// guess converts a value whose type is missing or doesn't match its form.
func (r *Reader) guess(n *cda.Node) (v r4.Value) {
	r.account.Take(n)
	switch concept := r.Concept(n); {
	case n.Attr("code") != "" || n.At("translation").Attr("code") != "":
		v.ValueCodeableConcept = concept
	case Number(n.Attr("value")) != "":
		v.ValueQuantity = Quantity(n)
	case n.At("low") != nil || n.At("high") != nil:
		v = interval(n)
	case n.Attr("value") != "":
		v.ValueString = strings.TrimSpace(n.Attr("value") + " " + n.Attr("unit"))
	default:
		v.ValueString = cmp.Or(r.Text(n), r.Text(n.At("originalText")), n.Attr("displayName"))
	}
	return v
}
