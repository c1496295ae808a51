package entity

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
)

// Specimens creates the Specimens that a statement names (C-CDA on FHIR, "Results": Specimen). A procedure in the same
// organizer during which a specimen was taken provides the collection details.
func (m *Maker) Specimens(n *cda.Node) []*r4.Reference {
	if n == nil {
		return nil
	}
	if list, known := m.specimens[n.Number]; known { // An organizer's members share its specimens.
		return list
	}
	var list []*r4.Reference
	for at := range n.Each("specimen") {
		role := at.At("specimenRole")
		if s := m.Specimen(role); s != nil {
			s.Header = m.emit.HeaderWith(
				"Specimen",
				emit.Derive(
					m.emit.Salt, "Specimen",
					cmp.Or(cda.RealID(role), m.emit.Key+"|"+cda.Container(role)+"|"+cda.Digest(role)),
				),
			)
			list = append(list, m.emit.AddEntity(s))
		}
	}
	m.specimens[n.Number] = list
	return list
}

// Specimen converts a specimenRole. It returns nil if the role is empty.
func (m *Maker) Specimen(role *cda.Node) *r4.Specimen {
	entity := cmp.Or(role.At("specimenPlayingEntity"), role.At("playingEntity"))
	s := &r4.Specimen{Identifier: datatype.Identifiers(role), Type: m.read.Substance(entity), Subject: m.patient}
	if words := entity.At("desc").Words(); words != "" {
		s.Note = []r4.Annotation{{Text: words}}
	}
	if much := datatype.Quantity(entity.At("quantity")); much != nil {
		s.Collection = &r4.SpecimenCollection{Quantity: much}
	}
	if s.Identifier == nil && s.Type == nil && s.Note == nil {
		return nil
	}
	return s
}

// TakenBy adds a note about the procedure by which a specimen was taken, because R4 has no element for it and R4
// validators don't recognise R5's extension for Specimen.collection.procedure. The note contains no id, because exports
// replace ids (package fetch).
func (m *Maker) TakenBy(s *r4.Specimen, procedure *r4.Reference) {
	p := emit.ResourceOf[r4.Procedure](m.emit, procedure)
	if p == nil {
		return
	}
	words := "Collected in the procedure"
	if code := r4.Words(p.Code); code != "" {
		words += " " + code
	}
	if p.Performed != "" {
		words += ", " + p.Performed
	} else if p.PerformedPeriod != nil && p.PerformedPeriod.Start != "" {
		words += ", " + p.PerformedPeriod.Start
	}
	s.Note = r4.AppendNew(s.Note, r4.Annotation{Text: words})
}
