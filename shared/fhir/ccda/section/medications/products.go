package medications

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// product converts a statement's medication (Medication Information, 2.16.840.1.113883.10.20.22.4.23) to a concept. If
// the product has a manufacturer, package or vehicle, product creates a Medication instead.
func product(c *statement.Context, n *cda.Node) (*r4.CodeableConcept, *r4.Reference) {
	made := cmp.Or(n.At("consumable", "manufacturedProduct"), n.At("product", "manufacturedProduct"))
	material := cmp.Or(made.At("manufacturedMaterial"), made.At("manufacturedLabeledDrug"))
	concept := productName(c, n, material)
	if cda.IsNegated(n) { // A medication that was not given has no package or manufacturer.
		for _, part := range []*cda.Node{material.At("lotNumberText"), made.At("manufacturerOrganization")} {
			if part != nil {
				c.Emit.DropUnstated(part.Name, cda.PartOfDenied)
			}
		}
		return concept, nil
	}
	m := &r4.Medication{Code: concept, Manufacturer: c.Make.Organization(made.At("manufacturerOrganization"))}
	if lot := material.At("lotNumberText").Words(); lot != "" {
		m.Batch = &r4.MedicationBatch{LotNumber: lot}
	}
	for participant := range n.Each("participant") {
		role := participant.At("participantRole")
		if !cda.IsTemplate(role, "2.16.840.1.113883.10.20.22.4.24") && !cda.Has(role.At("code"), "412307009") {
			continue
		}
		if vehicle := c.Read.Substance(role.At("playingEntity")); vehicle != nil {
			m.Ingredient = append(m.Ingredient, r4.MedicationIngredient{Item: vehicle, IsActive: new(bool)})
		}
	}
	if m.Manufacturer == nil && m.Batch == nil && m.Ingredient == nil {
		return concept, nil
	}
	m.Header = c.Emit.HeaderWith(
		"Medication", emit.Derive("Medication", c.Emit.Key, cda.Digest(made), cda.DigestOf(vehicles(m))),
	)
	ref := c.Emit.AddEntity(m)
	ref.Display = r4.Words(concept)
	return nil, ref
}

func vehicles(m *r4.Medication) string {
	list := make([]string, 0, len(m.Ingredient))
	for _, i := range m.Ingredient {
		list = append(list, r4.CodeKey(i.Item)+r4.Words(i.Item))
	}
	return strings.Join(list, "\x00")
}

// productName converts a product's code and name. If both are missing, the statement's text becomes the name.
func productName(c *statement.Context, n, material *cda.Node) *r4.CodeableConcept {
	name := material.At("name").Words()
	if name == "" && c.Read.Concept(material.At("code")) == nil {
		return c.Read.InWords(n, material.At("code"))
	}
	concept := c.Read.ConceptOr(material.At("code"))
	if name != "" && (concept.Text == "" || concept.Text == r4.Display(concept)) {
		concept.Text = name
	}
	return concept
}
