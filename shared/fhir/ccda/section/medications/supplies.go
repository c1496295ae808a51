package medications

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// supplyOrder creates a MedicationRequest for an ordered supply that is not part of a medication order.
func supplyOrder(c *statement.Context, n *cda.Node) {
	r := &r4.MedicationRequest{
		Header: c.Emit.Header("MedicationRequest", n), Identifier: datatype.Identifiers(n),
		Status: medicationStatus(c, n),
		Intent: supplyIntent(n), Subject: c.Patient,
		Dispense: dispenseRequest(c, n), Note: c.Comments(n),
	}
	r.Medication, r.MedicationRef = suppliedProduct(c, n)
	by := c.Make.Author(n)
	r.Requester, r.AuthoredOn = by.As(
		"Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson", "Device",
	), by.Time
	told := []*cda.Node{n}
	if words, instruction := supplyInstruction(c, n); words != "" {
		r.Dosage = []r4.Dosage{{PatientInstruction: words}}
		told = append(told, instruction)
	}
	c.Add(r, told...)
}

// supplyIntent returns the intent of the supplied medication. If the mood has no corresponding intent, supplyIntent
// returns order.
func supplyIntent(n *cda.Node) string {
	if cda.IsOneOf(n.Attr("moodCode"), "", "EVN") {
		return "order"
	}
	return medicationIntent(n)
}

// supplyInstruction returns a supply's instruction for the patient.
func supplyInstruction(c *statement.Context, n *cda.Node) (string, *cda.Node) {
	for r := range n.Each("entryRelationship") {
		for act := range r.Each("act") {
			if statement.IsInstruction(act) {
				return c.Read.Text(act.At("text")), act
			}
		}
	}
	return "", nil
}

// suppliedProduct returns a supply's product. If the supply doesn't name a product, suppliedProduct returns the
// enclosing medication's product.
func suppliedProduct(c *statement.Context, n *cda.Node) (*r4.CodeableConcept, *r4.Reference) {
	if n.At("product") == nil && cda.Outer(n).At("consumable") != nil {
		return product(c, cda.Outer(n))
	}
	return product(c, n)
}

// dispenseRequest converts a supply's amount, number of refills and end date. CDA's repeat number counts all dispenses.
// FHIR's number of repeats excludes the first dispense.
func dispenseRequest(c *statement.Context, n *cda.Node) *r4.DispenseRequest {
	d := &r4.DispenseRequest{
		Quantity: datatype.Quantity(n.At("quantity")), ValidityPeriod: c.Read.Period(n.At("effectiveTime")),
		Duration: supplyDuration(c, n),
	}
	if fills := c.Read.Count(n.At("repeatNumber")); fills != nil && *fills >= 0 {
		*fills = max(*fills-1, 0)
		d.Repeats = fills
	}
	for _, who := range c.Make.Performers(n) {
		d.Performer = cmp.Or(d.Performer, who.Organization)
	}
	if r4.IsEmpty(*d) {
		return nil
	}
	return d
}

// supplyDuration returns how long a supply lasts, derived from the width of the supply's time or of the expected use
// (CDA R2, Supply.expectedUseTime). FHIR doesn't have an element for the start of the expected use.
func supplyDuration(c *statement.Context, n *cda.Node) *r4.Quantity {
	return cmp.Or(c.Read.Width(n.At("expectedUseTime")), c.Read.Width(n.At("effectiveTime")))
}

// dispense creates a MedicationDispense (2.16.840.1.113883.10.20.22.4.18).
func dispense(c *statement.Context, n *cda.Node) {
	d := &r4.MedicationDispense{
		Header: c.Emit.Header("MedicationDispense", n), Identifier: datatype.Identifiers(n),
		Status:   dispenseStatus(c, n),
		Subject:  c.Patient,
		Quantity: datatype.Quantity(n.At("quantity")), HandedOver: c.Read.Start(n.At("effectiveTime")),
		DaysSupply: supplyDuration(c, n), Note: c.Comments(n),
	}
	d.Medication, d.MedicationRef = suppliedProduct(c, n)
	for _, who := range c.Make.Performers(n) {
		if actor := who.As(
			"Practitioner", "PractitionerRole", "Organization", "Patient", "Device", "RelatedPerson",
		); actor != nil {
			d.Performer = append(d.Performer, r4.AdministrationPerformer{Actor: actor})
		}
	}
	told := []*cda.Node{n}
	for r := range n.Each("entryRelationship") {
		if order := r.At("supply"); order != nil && order.Attr("moodCode") != "EVN" {
			supplyOrder(c, order)
			d.Prescription = append(d.Prescription, r4.Listed(c.Emit.Reference(order))...)
		}
	}
	if around := c.Emit.Reference(cda.Outer(n)); d.Prescription == nil && !isEvent(cda.Outer(n)) &&
		emit.ResourceOf[r4.MedicationRequest](c.Emit, around) != nil {
		d.Prescription = r4.Listed(around)
	}
	c.Add(d, told...)
}

func dispenseStatus(c *statement.Context, n *cda.Node) string {
	switch status := medicationStatus(c, n); status {
	case "active":
		return "in-progress"
	case "draft":
		return "preparation"
	default:
		return status
	}
}
