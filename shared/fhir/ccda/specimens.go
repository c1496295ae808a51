package ccda

import "recordbridge/shared/fhir/ccda/r4"

// specimens makes Specimens of those that a statement names (C-CDA on FHIR, "Results": Specimen). A procedure in the same
// organizer that took one says how.
func (c *converter) specimens(n *node) []*r4.Reference {
	var list []*r4.Reference
	for at := range n.each("specimen") {
		role := at.at("specimenRole")
		if s := c.specimen(role); s != nil {
			s.Header = c.headerWith("Specimen", derive(c.salt, "Specimen", firstOf(realID(role), c.key+"|"+container(role)+"|"+digest(role))))
			list = append(list, c.addEntity(s))
		}
	}
	return list
}

// specimen reads a specimenRole; nil when it says nothing.
func (c *converter) specimen(role *node) *r4.Specimen {
	entity := firstNode(role.at("specimenPlayingEntity"), role.at("playingEntity"))
	s := &r4.Specimen{Identifier: identifiers(role), Type: c.substance(entity), Subject: c.patient}
	if words := entity.at("desc").words(); words != "" {
		s.Note = []r4.Annotation{{Text: words}}
	}
	if much := quantity(entity.at("quantity")); much != nil {
		s.Collection = &r4.SpecimenCollection{Quantity: much}
	}
	if s.Identifier == nil && s.Type == nil && s.Note == nil {
		return nil
	}
	return s
}

// collected makes a Specimen of the procedure that took it (Specimen Collection Procedure, 2.16.840.1.113883.10.20.22.4.415).
func (c *converter) collected(n *node) {
	role := firstNode(n.at("specimen", "specimenRole"), collectedRole(n), outer(n).at("specimen", "specimenRole"))
	s := c.specimen(role)
	if s == nil {
		s = &r4.Specimen{Subject: c.patient}
	}
	s.Header = c.headerWith("Specimen", derive(c.salt, "Specimen", firstOf(realID(role), c.key+"|"+container(n)+"|"+digest(n))))
	s.Identifier = append(s.Identifier, identifiers(n)...)
	if s.Collection == nil {
		s.Collection = &r4.SpecimenCollection{}
	}
	s.Collection.Collected, s.Collection.CollectedPeriod = c.effective(n.at("effectiveTime"))
	s.Collection.BodySite, s.Collection.Method = c.concept(n.at("targetSiteCode")), c.concept(n.at("methodCode"))
	for _, who := range c.performers(n) {
		s.Collection.Collector = firstReference(s.Collection.Collector, who.as("Practitioner", "PractitionerRole"))
	}
	if isEmpty(*s.Collection) {
		s.Collection = nil
	}
	told := []*node{n}
	if condition := entryOf(n, "2.16.840.1.113883.10.20.22.4.419"); condition != nil {
		s.Condition = listed(c.concept(condition.at("value")))
		told = append(told, condition)
	}
	c.add(s, told...)
	if around := outer(n); around != nil && around.name == "procedure" {
		c.later = append(c.later, func() { takenBy(s, c.reference(around)) })
	}
}

// takenBy says which procedure took a specimen (of R5: collection.procedure).
func takenBy(s *r4.Specimen, procedure *r4.Reference) {
	if s.Collection == nil {
		s.Collection = &r4.SpecimenCollection{}
	}
	if s.Collection.Extension == nil && procedure != nil {
		const url = "http://hl7.org/fhir/5.0/StructureDefinition/extension-Specimen.collection.procedure"
		s.Collection.Extension = []r4.Extension{{URL: url, ValueReference: procedure}}
	}
}

// collectedRole gives the specimen that a collection names as its product.
func collectedRole(n *node) *node {
	for p := range n.each("participant") {
		if role := p.at("participantRole"); p.attr("typeCode") == "PRD" || role.attr("classCode") == "SPEC" {
			return role
		}
	}
	return nil
}
