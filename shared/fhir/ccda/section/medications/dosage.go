package medications

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// setDosage converts the amount, frequency and route (C-CDA on FHIR, "Medications": timing and frequency).
func setDosage(c *statement.Context, m *activity) {
	n, d := m.n, &m.dosage
	d.Timing = timing(c, n)
	d.Route, d.Site = c.Read.Concept(n.At("routeCode")), c.Read.Concept(n.At("approachSiteCode"))
	d.Method = c.Read.Concept(n.At("code"))
	if cda.Has(n.At("code"), "DRUG", "76662-6") { // The code identifies a kind of act rather than a method.
		d.Method = nil
	}
	dose := r4.DoseAndRate{}
	dose.DoseQuantity, dose.DoseRange = amount(n.At("doseQuantity"))
	if unit := n.At("administrationUnitCode"); dose.DoseQuantity != nil && dose.DoseQuantity.Unit == "" && unit != nil {
		setFormUnit(dose.DoseQuantity, c.Read.Concept(unit))
	}
	dose.RateQuantity, dose.RateRange = amount(n.At("rateQuantity"))
	setUncounted(c, d, n)
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
	// MedicationAdministration has no element for the timing.
	if d.Timing != nil && d.Timing.Code != nil && c.Within == medicationsAdministered {
		d.Text = datatype.Joined(d.Text, d.Timing.Code.Text)
	}
	switch repeat := c.Read.Count(n.At("repeatNumber")); {
	case repeat == nil:
	case *repeat <= 0:
		c.Emit.Drop("repeatNumber", "none or fewer")
	default: // repeatNumber is the number of administrations that are allowed or already given.
		if d.Timing == nil {
			d.Timing = &r4.Timing{}
		}
		if d.Timing.Repeat == nil {
			d.Timing.Repeat = &r4.Repeat{}
		}
		d.Timing.Repeat.Count = int(*repeat)
	}
}

// setUncounted stores the text of non-numeric doses and rates, such as "1-2".
func setUncounted(c *statement.Context, d *r4.Dosage, n *cda.Node) {
	for _, name := range [...]string{"doseQuantity", "rateQuantity", "maxDoseQuantity"} {
		value := n.At(name).Attr("value")
		if value == "" || datatype.Number(value) != "" {
			continue
		}
		if name == "doseQuantity" && d.Text == "" && n.At("text") == nil {
			d.Text = strings.TrimSpace(value + " " + n.At(name).Attr("unit"))
			continue
		}
		c.Emit.Drop(name, "no number")
	}
}

// amount converts a PQ or IVL_PQ to a quantity, or to a range if the interval has two bounds.
func amount(n *cda.Node) (*r4.Quantity, *r4.Range) {
	if q := datatype.Quantity(cmp.Or(n.At("center"), n)); q != nil {
		return q, nil
	}
	return nil, datatype.Span(n)
}

// setFormUnit uses the dose form as the dose's unit, as in "2 puffs".
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

// setAsNeeded converts the condition under which a medication is taken (Precondition for Substance Administration,
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
