package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// product reads the medication of a statement (Medication Information, 2.16.840.1.113883.10.20.22.4.23): as a concept, or as a
// Medication when its maker, package or vehicle is known as well.
func (c *converter) product(n *node) (*r4.CodeableConcept, *r4.Reference) {
	made := firstNode(n.at("consumable", "manufacturedProduct"), n.at("product", "manufacturedProduct"))
	material := firstNode(made.at("manufacturedMaterial"), made.at("manufacturedLabeledDrug"))
	concept := c.conceptOr(material.at("code"))
	if name := material.at("name").words(); name != "" && (concept.Text == "" || concept.Text == display(concept)) {
		concept.Text = name
	}
	m := &r4.Medication{Code: concept, Manufacturer: c.organization(made.at("manufacturerOrganization"))}
	if lot := material.at("lotNumberText").words(); lot != "" {
		m.Batch = &r4.MedicationBatch{LotNumber: lot}
	}
	for participant := range n.each("participant") {
		role := participant.at("participantRole")
		if !isTemplate(role, "2.16.840.1.113883.10.20.22.4.24") && !has(role.at("code"), "412307009") {
			continue
		}
		if vehicle := c.substance(role.at("playingEntity")); vehicle != nil {
			m.Ingredient = append(m.Ingredient, r4.MedicationIngredient{Item: vehicle, IsActive: new(bool)})
		}
	}
	if m.Manufacturer == nil && m.Batch == nil && m.Ingredient == nil {
		return concept, nil
	}
	m.Header = c.headerWith("Medication", derive("Medication", c.key, digest(made), digestOf([]byte(vehicles(m)))))
	ref := c.addEntity(m)
	ref.Display = conceptWords(concept)
	return nil, ref
}

func vehicles(m *r4.Medication) string {
	list := make([]string, 0, len(m.Ingredient))
	for _, i := range m.Ingredient {
		list = append(list, codeKey(i.Item)+conceptWords(i.Item))
	}
	return strings.Join(list, "\x00")
}

// conceptWords gives the words of a concept: its text, else those of its codes; "" for nil.
func conceptWords(concept *r4.CodeableConcept) string {
	if concept == nil {
		return ""
	}
	return firstOf(concept.Text, display(concept))
}

// isTemplate reports whether an element has one of some templates, of any version.
func isTemplate(n *node, roots ...string) bool {
	for t := range n.each("templateId") {
		if isOneOf(t.attr("root"), roots...) {
			return true
		}
	}
	return false
}

func isTrue(text string) bool { return strings.EqualFold(text, "true") || text == "1" }

func yes() *bool {
	is := true
	return &is
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
