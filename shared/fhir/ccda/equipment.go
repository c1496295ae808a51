package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// equipmentSections is the section about implants and aids.
func equipmentSections() []sectionRule {
	return []sectionRule{{
		codes: []string{"46264-8"}, name: "Medical Equipment", titles: []string{"medical equipment", "implants", "durable medical equipment", "implantable devices"}, file: "equipment.go",
		roots: []string{"2.16.840.1.113883.10.20.22.2.23", "2.16.840.1.113883.10.20.1.7", "1.3.6.1.4.1.19376.1.5.3.1.1.5.3.5", "2.16.840.1.113883.3.88.11.83.128"},
		assume: []assumption{
			{"supply", "", "2.16.840.1.113883.10.20.22.4.50"},
			{"procedure", "", "2.16.840.1.113883.10.20.22.4.14"},
		},
		shared: []string{"2.16.840.1.113883.10.20.1.34"},
	}}
}

func equipmentEntries() []entryRule {
	const file = "equipment.go"
	return []entryRule{
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.50"}, name: "Non-Medicinal Supply Activity",
			target: "SupplyDelivery, Device, ServiceRequest (planned)", file: file, convert: (*converter).supply,
		},
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.135"}, name: "Medical Equipment Organizer",
			target: "Observation, and its members by themselves", file: file, convert: (*converter).generic,
		},
	}
}

// supply makes a SupplyDelivery of equipment that the patient has been given, with the Device that it is. C-CDA on FHIR has no
// page for it: US Core asks for the Device, and the rest of the statement is what FHIR calls a delivery (supplydelivery.html).
func (c *converter) supply(n *node) {
	if mood := n.attr("moodCode"); mood != "" && mood != "EVN" {
		c.yetToDo(n)
		return
	}
	s := &r4.SupplyDelivery{Header: c.header("SupplyDelivery", n), Identifier: identifiers(n), Status: deliveryStatus(n), Patient: c.patient}
	s.Occurrence, s.OccurrencePeriod = c.effective(n.at("effectiveTime"))
	item := &r4.SuppliedItem{Quantity: quantity(n.at("quantity")), ItemRef: firstReference(c.devices(n)...)}
	if material := firstNode(n.at("product", "manufacturedProduct", "manufacturedMaterial"), n.at("product", "manufacturedProduct", "manufacturedLabeledDrug")); item.ItemRef == nil {
		item.Item = c.substance(material)
	}
	if item.ItemRef == nil && item.Item == nil {
		item.Item = c.concept(n.at("code"))
	}
	if !isEmpty(*item) {
		s.SuppliedItem = item
	}
	for _, who := range c.performers(n) {
		s.Supplier = firstReference(s.Supplier, who.as("Practitioner", "PractitionerRole", "Organization"))
	}
	c.add(s, n)
}

// deliveryStatus maps ActStatus; "" when there is none.
func deliveryStatus(n *node) string {
	if isTrue(n.attr("negationInd")) {
		return "abandoned"
	}
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "completed":
		return "completed"
	case "active", "new", "held", "suspended":
		return "in-progress"
	case "aborted", "cancelled", "canceled":
		return "abandoned"
	case "nullified", "obsolete":
		return "entered-in-error"
	}
	return ""
}
