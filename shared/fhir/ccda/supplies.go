package ccda

import "recordbridge/shared/fhir/ccda/r4"

// supplyOrder makes a MedicationRequest of a supply that is ordered and stands beside, and not in, what is to be taken: in a
// medication that is only told of, or by itself.
func (c *converter) supplyOrder(n *node) {
	r := &r4.MedicationRequest{
		Header: c.header("MedicationRequest", n), Identifier: identifiers(n), Status: medicationStatus(n), Intent: supplyIntent(n), Subject: c.patient,
		Dispense: c.dispenseRequest(n), Note: c.comments(n),
	}
	r.Medication, r.MedicationRef = c.suppliedProduct(n)
	by := c.author(n)
	r.Requester, r.AuthoredOn = by.as("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson", "Device"), by.time
	told := []*node{n}
	if words, instruction := c.supplyInstruction(n); words != "" {
		r.Dosage = []r4.Dosage{{PatientInstruction: words}}
		told = append(told, instruction)
	}
	c.add(r, told...)
}

// supplyIntent is that of the medication, and an order where the mood says nothing.
func supplyIntent(n *node) string {
	if isOneOf(n.attr("moodCode"), "", "EVN") {
		return "order"
	}
	return medicationIntent(n)
}

// supplyInstruction gives what the patient is told with a supply.
func (c *converter) supplyInstruction(n *node) (string, *node) {
	for r := range n.each("entryRelationship") {
		for act := range r.each("act") {
			if isInstruction(act) {
				return c.text(act.at("text")), act
			}
		}
	}
	return "", nil
}

// suppliedProduct is the product of a supply, or else that of the medication around it.
func (c *converter) suppliedProduct(n *node) (*r4.CodeableConcept, *r4.Reference) {
	if n.at("product") == nil && outer(n).at("consumable") != nil {
		return c.product(outer(n))
	}
	return c.product(n)
}

// dispenseRequest reads what a pharmacy may hand out: how much, how often and until when. The number of repeats counts all
// dispenses in CDA, and those after the first in FHIR.
func (c *converter) dispenseRequest(n *node) *r4.DispenseRequest {
	d := &r4.DispenseRequest{Quantity: quantity(n.at("quantity")), ValidityPeriod: c.period(n.at("effectiveTime"))}
	if fills := whole(n.at("repeatNumber")); fills != nil && *fills >= 0 {
		*fills = max(*fills-1, 0)
		d.Repeats = fills
	}
	for _, who := range c.performers(n) {
		d.Performer = firstReference(d.Performer, who.organization)
	}
	if isEmpty(*d) {
		return nil
	}
	return d
}

// dispense makes a MedicationDispense (2.16.840.1.113883.10.20.22.4.18).
func (c *converter) dispense(n *node) {
	d := &r4.MedicationDispense{
		Header: c.header("MedicationDispense", n), Identifier: identifiers(n), Status: dispenseStatus(n), Subject: c.patient,
		Quantity: quantity(n.at("quantity")), HandedOver: c.start(n.at("effectiveTime")), Note: c.comments(n),
	}
	d.Medication, d.MedicationRef = c.suppliedProduct(n)
	for _, who := range c.performers(n) {
		if actor := who.as("Practitioner", "PractitionerRole", "Organization", "Patient", "Device", "RelatedPerson"); actor != nil {
			d.Performer = append(d.Performer, r4.AdministrationPerformer{Actor: actor})
		}
	}
	told := []*node{n}
	for r := range n.each("entryRelationship") {
		if order := r.at("supply"); order != nil && order.attr("moodCode") != "EVN" {
			c.supplyOrder(order)
			d.Prescription = append(d.Prescription, listed(c.reference(order))...)
		}
	}
	if around := c.reference(outer(n)); d.Prescription == nil && resourceOf[r4.MedicationRequest](c, around) != nil {
		d.Prescription = listed(around)
	}
	c.add(d, told...)
}

func dispenseStatus(n *node) string {
	switch medicationStatus(n) {
	case "active":
		return "in-progress"
	case "unknown", "completed", "stopped", "on-hold", "entered-in-error":
		return medicationStatus(n)
	}
	return "unknown"
}
