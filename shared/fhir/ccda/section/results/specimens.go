package results

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// collected creates a Specimen for a collection procedure (Specimen Collection Procedure,
// 2.16.840.1.113883.10.20.22.4.415).
func collected(c *statement.Context, n *cda.Node) {
	role := cmp.Or(n.At("specimen", "specimenRole"), collectedRole(n), cda.Outer(n).At("specimen", "specimenRole"))
	s := c.Make.Specimen(role)
	if s == nil {
		s = &r4.Specimen{Subject: c.Patient}
	}
	s.Header = c.Emit.HeaderWith(
		"Specimen",
		emit.Derive(
			c.Emit.Salt, "Specimen", cmp.Or(cda.RealID(role), c.Emit.Key+"|"+cda.Container(n)+"|"+cda.Digest(n)),
		),
	)
	s.Identifier = append(s.Identifier, datatype.Identifiers(n)...)
	if s.Collection == nil {
		s.Collection = &r4.SpecimenCollection{}
	}
	s.Collection.Collected, s.Collection.CollectedPeriod = c.Read.Effective(n.At("effectiveTime"))
	s.Collection.BodySite, s.Collection.Method = c.Read.Concept(
		n.At("targetSiteCode"),
	), c.Read.Concept(n.At("methodCode"))
	for _, who := range c.Make.Performers(n) {
		s.Collection.Collector = cmp.Or(s.Collection.Collector, who.As("Practitioner", "PractitionerRole"))
	}
	if r4.IsEmpty(*s.Collection) {
		s.Collection = nil
	}
	told := []*cda.Node{n}
	if condition := cda.EntryOf(n, "2.16.840.1.113883.10.20.22.4.419"); condition != nil {
		s.Condition = r4.Listed(c.Read.Concept(condition.At("value")))
		told = append(told, condition)
	}
	ref := c.Add(s, told...)
	if around := cda.Outer(n); around != nil && around.Name == "procedure" {
		c.Emit.After(ref, around, func(around *cda.Node) {
			c.Make.TakenBy(emit.ResourceOf[r4.Specimen](c.Emit, ref), c.Emit.Reference(around))
		})
	}
}

// collectedRole returns the role of the specimen that a collection produced.
func collectedRole(n *cda.Node) *cda.Node {
	for p := range n.Each("participant") {
		if role := p.At("participantRole"); p.Attr("typeCode") == "PRD" || role.Attr("classCode") == "SPEC" {
			return role
		}
	}
	return nil
}
