package entity

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
)

// Facility creates a Location for a healthCareFacility or a Service Delivery Location
// (2.16.840.1.113883.10.20.22.4.32). It returns nil if nothing is known about the facility.
func (m *Maker) Facility(n *cda.Node) *r4.Reference {
	if n == nil {
		return nil
	}
	place := cmp.Or(n.At("location"), n.At("playingEntity"))
	l := &r4.Location{
		Identifier: datatype.Identifiers(n), Name: place.At("name").Words(), Type: m.read.Concepts(n, "code"),
		Telecom:  m.read.Telecoms(n),
		Address:  m.read.Address(cmp.Or(place.At("addr"), n.At("addr"))),
		Managing: m.Organization(cmp.Or(n.At("serviceProviderOrganization"), n.At("scopingEntity"))),
	}
	if l.Name == "" && l.Type == nil && l.Identifier == nil && l.Address == nil {
		return nil
	}
	if l.Name == "" && len(l.Type) > 0 {
		l.Name = cmp.Or(l.Type[0].Text, r4.Display(&l.Type[0]))
	}
	if cda.RealID(n) == "" {
		l.Header = m.emit.HeaderWith("Location", emit.Derive("Location", m.emit.Key, cda.Digest(n)))
	} else {
		l.Header = m.emit.Entity("Location", n, strings.ToLower(l.Name))
	}
	ref := m.emit.AddEntity(l)
	ref.Display = l.Name
	return ref
}

// Place returns the Location at which a statement took place (Service Delivery Location,
// 2.16.840.1.113883.10.20.22.4.32), or nil if it names none.
func (m *Maker) Place(n *cda.Node) *r4.Reference {
	for p := range n.Each("participant") {
		if p.Attr("typeCode") == "LOC" {
			return m.Facility(p.At("participantRole"))
		}
	}
	return nil
}
