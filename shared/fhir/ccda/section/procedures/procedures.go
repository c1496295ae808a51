package procedures

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// procedure creates a Procedure (C-CDA on FHIR, "Procedures"; US Core Procedure).
func procedure(c *statement.Context, n *cda.Node) {
	switch mood := n.Attr("moodCode"); {
	case n.Name == "observation":
		procedureObservation(c, n)
		return
	case mood != "" && mood != "EVN":
		observation.YetToDo(c, n)
		return
	case cda.Has(n.At("code"), "17636008") && cda.Outer(n) != nil && cda.Outer(n).Name == "organizer":
		c.Rules.ConvertBy(statement.SpecimenCollectionRoot, n)
		return
	}
	p := &r4.Procedure{
		Header: c.Emit.Header("Procedure", n), Identifier: datatype.Identifiers(n), Status: procedureStatus(n),
		Code: procedureCode(c, n), Subject: c.Patient,
		BodySite: c.Read.Concepts(n, "targetSiteCode"), Note: c.Comments(n), Location: c.Make.Place(n),
		Performer: procedurePerformers(c, n),
	}
	if p.Performed, p.PerformedPeriod = c.Read.Effective(n.At("effectiveTime")); p.Performed == "" &&
		p.PerformedPeriod == nil {
		p.PerformedAbsent = datatype.Absent(n.At("effectiveTime"))
	}
	p.Recorder = c.Make.Author(n).As("Practitioner", "PractitionerRole", "Patient", "RelatedPerson")
	p.Asserter = c.Make.Party(n.At("informant")).As("Patient", "RelatedPerson", "Practitioner", "PractitionerRole")
	for method := range n.Each("methodCode") {
		if how := c.Read.Concept(method); how != nil {
			p.Extension = append(p.Extension, r4.Extension{
				URL: "http://hl7.org/fhir/StructureDefinition/procedure-method", ValueCodeableConcept: how,
			})
		}
	}
	for _, code := range append(c.Read.Concepts(n, "approachSiteCode"), c.Read.Concepts(n, "priorityCode")...) {
		p.Tag(code.Coding...)
	}
	for _, device := range c.Make.Devices(n) {
		p.FocalDevice = append(p.FocalDevice, r4.FocalDevice{Manipulated: device})
	}
	codes, references, reasons := c.Reasons(n)
	p.Reason, p.ReasonReference = codes, references
	told := append([]*cda.Node{n}, reasons...)
	ref := c.Add(p, told...)
	tookSpecimens(c, n, ref)
	c.Emit.After(ref, n, func(n *cda.Node) { relateProcedure(c, ref, n) })
}

// procedureCode returns a statement's code or, if there is none, its text.
func procedureCode(c *statement.Context, n *cda.Node) *r4.CodeableConcept {
	code := c.Read.Concept(n.At("code"))
	if code == nil {
		if words := c.Read.Text(n.At("text")); words != "" {
			return &r4.CodeableConcept{Text: words}
		}
		return datatype.AbsentConcept(n.At("code"))
	}
	return code
}

// procedureStatus maps ActStatus to a Procedure's status (the ProcedureStatus ConceptMap of "C-CDA on FHIR").
func procedureStatus(n *cda.Node) string {
	if cda.IsNegated(n) {
		return "not-done"
	}
	return cmp.Or(statuses.Of(cda.StatusOf(n)), "unknown")
}

func procedurePerformers(c *statement.Context, n *cda.Node) []r4.ProcedurePerformer {
	var list []r4.ProcedurePerformer
	for performer := range n.Each("performer") {
		if actor := c.Make.Party(performer).As(
			"Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson", "Device",
		); actor != nil {
			list = append(list, r4.ProcedurePerformer{
				Function: c.Read.Concept(performer.At("functionCode")), Actor: actor,
			})
		}
	}
	return list
}

// tookSpecimens creates the Specimens taken during a procedure. Each Specimen refers to the procedure.
func tookSpecimens(c *statement.Context, n *cda.Node, procedure *r4.Reference) {
	for _, ref := range c.Make.Specimens(n) {
		s := emit.ResourceOf[r4.Specimen](c.Emit, ref)
		if s == nil {
			continue
		}
		c.Make.TakenBy(s, procedure)
		if s.Collection == nil {
			s.Collection = &r4.SpecimenCollection{}
		}
		if s.Collection.Collected == "" && s.Collection.CollectedPeriod == nil {
			s.Collection.Collected, s.Collection.CollectedPeriod = c.Read.Effective(n.At("effectiveTime"))
		}
		if s.Collection.BodySite == nil {
			s.Collection.BodySite = c.Read.Concept(n.At("targetSiteCode"))
		}
		if r4.IsEmpty(*s.Collection) {
			s.Collection = nil
		}
	}
}

// relateProcedure adds references to the procedure's encounter and to resources of nested statements, such as
// complications.
func relateProcedure(c *statement.Context, ref *r4.Reference, n *cda.Node) {
	p := emit.ResourceOf[r4.Procedure](c.Emit, ref)
	if p == nil {
		return
	}
	for rel := range n.Each("entryRelationship") {
		for inner := range rel.Each() {
			other := c.Pointed(inner)
			condition := emit.ResourceOf[r4.Condition](c.Emit, other)
			switch {
			case other == nil:
			case condition != nil && condition.Verification.Has(statement.ConditionVerified, "refuted"):
			case strings.HasPrefix(other.Reference, "Encounter/") && p.Encounter == nil:
				p.Encounter = other
			case strings.HasPrefix(other.Reference, "Condition/") && rel.Attr("typeCode") != "RSON" &&
				p.ReasonReference == nil:
				p.ComplicationDetail = r4.AppendReference(p.ComplicationDetail, *other)
			case strings.HasPrefix(other.Reference, "Condition/"):
				p.ReasonReference = r4.AppendReference(p.ReasonReference, *other)
			}
		}
	}
}

// procedureObservation creates an Observation for a procedure that FHIR represents as an observation (C-CDA on FHIR,
// "Procedures": template selection).
func procedureObservation(c *statement.Context, n *cda.Node) {
	if mood := n.Attr("moodCode"); mood != "" && mood != "EVN" {
		observation.YetToDo(c, n)
		return
	}
	o := observation.NewIn(c, n, r4.Concept(observation.Category, "procedure", "Procedure"))
	told := []*cda.Node{n}
	for rel := range n.Each("entryRelationship") {
		for inner := range rel.Each("observation") {
			if statement.IsReason(rel, inner) {
				if why := c.Read.Concept(inner.At("value")); why != nil {
					o.Extension = append(o.Extension, r4.Extension{
						URL: "http://hl7.org/fhir/StructureDefinition/workflow-reasonCode", ValueCodeableConcept: why,
					})
					told = append(told, inner)
				}
			}
		}
	}
	o.Specimen = cmp.Or(c.Make.Specimens(n)...)
	o.Device = cmp.Or(c.Make.Devices(n)...)
	if at := c.Make.Place(n); at != nil {
		o.Extension = append(o.Extension, r4.Extension{
			URL: "http://hl7.org/fhir/StructureDefinition/event-location", ValueReference: at,
		})
	}
	o.Tag(r4.Codings(c.Read.Concepts(n, "priorityCode"))...)
	observation.SetAbsent(o, n.At("value"))
	c.Add(o, told...)
}
