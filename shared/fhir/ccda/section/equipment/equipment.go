package equipment

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// supply creates a SupplyDelivery and its Device, which US Core requires, for equipment that the patient has received.
// C-CDA on FHIR doesn't cover equipment; the rest of the statement corresponds to FHIR's SupplyDelivery
// (supplydelivery.html).
func supply(c *statement.Context, n *cda.Node) {
	if mood := n.Attr("moodCode"); mood != "" && mood != "EVN" {
		observation.YetToDo(c, n)
		return
	}
	s := &r4.SupplyDelivery{
		Header: c.Emit.Header("SupplyDelivery", n), Identifier: datatype.Identifiers(n), Status: deliveryStatus(n),
		Patient: c.Patient,
	}
	s.Occurrence, s.OccurrencePeriod = c.Read.Effective(n.At("effectiveTime"))
	item := &r4.SuppliedItem{Quantity: datatype.Quantity(n.At("quantity")), ItemRef: cmp.Or(c.Make.Devices(n)...)}
	if material := cmp.Or(
		n.At("product", "manufacturedProduct", "manufacturedMaterial"),
		n.At("product", "manufacturedProduct", "manufacturedLabeledDrug"),
	); item.ItemRef == nil {
		item.Item = c.Read.Substance(material)
	}
	if item.ItemRef == nil && item.Item == nil {
		item.Item = c.Read.Concept(n.At("code"))
	}
	if !r4.IsEmpty(*item) {
		s.SuppliedItem = item
	}
	for _, who := range c.Make.Performers(n) {
		s.Supplier = cmp.Or(s.Supplier, who.As("Practitioner", "PractitionerRole", "Organization"))
	}
	c.Add(s, n)
}

// deliveryStatus maps ActStatus to supplydelivery-status. It returns "" if n has no status.
func deliveryStatus(n *cda.Node) string {
	if cda.IsNegated(n) {
		return "abandoned"
	}
	return statuses.Of(cda.StatusOf(n))
}
