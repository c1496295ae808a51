package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// value reads the value of an observation by its xsi:type, or by its looks when the type is missing or wrong (C-CDA on FHIR,
// "Results": value[x]). ok is false when it says nothing.
func (c *converter) value(n *node) (v r4.Value, ok bool) {
	if n == nil || isFile(n) {
		return v, false
	}
	kind := n.attr("type")
	if _, after, found := strings.Cut(kind, ":"); found {
		kind = after
	}
	switch kind {
	case "PQ":
		v.ValueQuantity = quantity(n)
	case "IVL_PQ", "IVL_INT", "IVL_REAL":
		v = interval(n)
	case "INT":
		v.ValueInteger = whole(n)
	case "REAL", "MO":
		v.ValueQuantity = quantity(n)
	case "BL":
		v.ValueBoolean = flag(n)
	case "TS":
		v.ValueDateTime = c.dateTime(n)
	case "IVL_TS":
		v.ValueDateTime, v.ValuePeriod = c.effective(n)
	case "RTO", "RTO_PQ_PQ", "RTO_QTY_QTY":
		v.ValueRatio = ratio(n)
	case "CD", "CE", "CV", "CO", "CS":
		v.ValueCodeableConcept = c.concept(n)
	case "ST", "ED", "SC":
		v.ValueString = c.text(n)
		if n.attr("representation") == "B64" {
			v.ValueString = strings.ToValidUTF8(string(bytesOf(n)), "\uFFFD")
		}
	}
	if v != (r4.Value{}) {
		c.take(n)
		return v, true
	}
	v = c.guess(n)
	return v, v != (r4.Value{})
}

// isFile reports whether an ED is a file in base64, such as a PDF, and no text.
func isFile(n *node) bool {
	return n.attr("representation") == "B64" && !strings.HasPrefix(firstOf(n.attr("mediaType"), "text/plain"), "text/")
}

func interval(n *node) (v r4.Value) {
	switch q := bound(n); {
	case q != nil:
		v.ValueQuantity = q
	case span(n) != nil:
		v.ValueRange = span(n)
	case n.at("center") != nil || n.attr("value") != "":
		v.ValueQuantity = quantity(firstNode(n.at("center"), n))
	case quantity(n.at("low")) != nil:
		v.ValueString = spoken(r4.Value{ValueQuantity: quantity(n.at("low"))}) + " - " + spoken(r4.Value{ValueQuantity: quantity(n.at("high"))})
	}
	return v
}

// guess reads a value whose type is missing, or whose looks are not those of its type.
func (c *converter) guess(n *node) (v r4.Value) {
	c.take(n)
	switch concept := c.concept(n); {
	case n.attr("code") != "" || n.at("translation").attr("code") != "":
		v.ValueCodeableConcept = concept
	case number(n.attr("value")) != "":
		v.ValueQuantity = quantity(n)
	case n.at("low") != nil || n.at("high") != nil:
		v = interval(n)
	case n.attr("value") != "":
		v.ValueString = strings.TrimSpace(n.attr("value") + " " + n.attr("unit"))
	default:
		v.ValueString = firstOf(c.text(n), c.text(n.at("originalText")), n.attr("displayName"))
	}
	return v
}

func firstNode(nodes ...*node) *node {
	for _, n := range nodes {
		if n != nil {
			return n
		}
	}
	return nil
}
