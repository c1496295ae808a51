// Package header converts a document's header, the US Realm Header (2.16.840.1.113883.10.20.22.1.1). It creates the
// Patient, the Composition, the document's encounter, the care team and the document's Provenance.
//
// See C-CDA on FHIR: hl7.org/fhir/us/ccda/CF-patient.html and CF-participations.html.
package header

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// Composition creates the Composition and the resources for the people, organizations, encounter and care team named in
// the header (C-CDA on FHIR, "Participations").
func Composition(c *statement.Context) *r4.Composition {
	d := c.Document.Root
	comp := &r4.Composition{
		Header: c.Emit.HeaderWith("Composition", emit.Derive(c.Emit.Salt, "Composition", c.Emit.Version)),
		Status: "final", Type: c.Read.ConceptOr(d.At("code")),
		Subject: c.Patient, Date: c.Read.DateTime(d.At("effectiveTime")),
	}
	c.Emit.Keep(comp)
	if id, ok := datatype.Identifier(d.At("id")); ok {
		comp.Identifier = &id
	}
	if language := languageOf(d.At("languageCode")); language != nil {
		comp.Language = language.Coding[0].Code
	}
	if comp.Date == "" {
		comp.DateElement = datatype.Absent(d.At("effectiveTime"))
	}
	comp.Title = cmp.Or(d.At("title").Words(), comp.Type.Text, r4.Display(comp.Type), "Clinical document")
	comp.Confidentiality = confidentiality(d.At("confidentialityCode"))
	for author := range d.Each("author") {
		if who := c.Make.Party(author).As(
			"Practitioner", "Device", "Organization", "Patient", "RelatedPerson",
		); who != nil {
			comp.Author = r4.AppendReference(comp.Author, *who)
		}
	}
	comp.Custodian = c.Make.Party(d.At("custodian")).Organization
	if comp.Author == nil {
		comp.Author = []r4.Reference{*cmp.Or(comp.Custodian, &r4.Reference{Display: "Unknown"})}
	}
	comp.Attester = attesters(c)
	comp.RelatesTo = relations(d)
	for n := range d.Each("dataEnterer", "informant", "informationRecipient", "participant") {
		c.Make.Party(n)
	}
	for n := range d.Each("authorization") {
		documentConsent(c, n.At("consent"))
	}
	readEncompassing(c, d.At("componentOf", "encompassingEncounter"))
	comp.Encounter = c.Encounter
	comp.Event = events(c)
	if !c.Emit.AffordsSection("header", comp) {
		comp.Attester, comp.RelatesTo, comp.Event, comp.Author = nil, nil, nil, comp.Author[:1]
	}
	return comp
}

// confidentiality returns a code from v3-ConfidentialityClassification. It returns "" for any other code, because
// FHIR's value set has a required binding.
func confidentiality(n *cda.Node) string {
	if code := strings.ToUpper(cda.CodeOf(n)); cda.IsOneOf(code, "U", "L", "M", "N", "R", "V") {
		return code
	}
	return ""
}

// attesters returns the people who signed the document.
func attesters(c *statement.Context) []r4.CompositionAttester {
	var list []r4.CompositionAttester
	for n := range c.Document.Root.Each("legalAuthenticator", "authenticator") {
		mode := "professional"
		if n.Name == "legalAuthenticator" {
			mode = "legal"
		}
		p := c.Make.Party(n)
		if who := p.As("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson"); who != nil {
			list = append(list, r4.CompositionAttester{Mode: mode, Time: p.Time, Party: who})
		}
	}
	return list
}

// relations returns the relations between the document and the documents that it replaces, appends to or transforms.
func relations(d *cda.Node) []r4.CompositionRelation {
	var list []r4.CompositionRelation
	for n := range d.Each("relatedDocument") {
		code := relationTypes.Of(n.Attr("typeCode"))
		if id, ok := datatype.Identifier(n.At("parentDocument", "id")); ok && code != "" {
			list = append(list, r4.CompositionRelation{Code: code, Target: &id})
		}
	}
	return list
}

// events converts the services that the document describes. The performers are the members of the care team (C-CDA on
// FHIR, "Participations": documentationOf).
func events(c *statement.Context) []r4.CompositionEvent {
	var list []r4.CompositionEvent
	for of := range c.Document.Root.Each("documentationOf") {
		service := of.At("serviceEvent")
		event := r4.CompositionEvent{
			Code: c.Read.Concepts(service, "code"), Period: c.Read.Period(service.At("effectiveTime")),
		}
		if event.Code == nil && service.Attr("classCode") != "" {
			event.Code = []r4.CodeableConcept{
				*r4.Concept("http://terminology.hl7.org/CodeSystem/v3-ActClass", service.Attr("classCode"), ""),
			}
		}
		if team := careTeam(c, service, event.Period); team != nil {
			event.Detail = []r4.Reference{*team}
		}
		if event.Code != nil || event.Period != nil || event.Detail != nil {
			list = append(list, event)
		}
	}
	return list
}

// careTeam creates a CareTeam from a service's performers. It returns nil if there are no performers.
func careTeam(c *statement.Context, service *cda.Node, period *r4.Period) *r4.Reference {
	t := &r4.CareTeam{
		Identifier: datatype.Identifiers(service), Subject: c.Patient, Encounter: c.Encounter, Period: period,
	}
	for n := range service.Each("performer") {
		p := c.Make.Party(n)
		who := p.As("Practitioner", "Organization", "RelatedPerson", "Patient")
		if who == nil {
			continue
		}
		member := r4.CareTeamParticipant{
			Member: who, Role: c.Read.Concepts(n, "functionCode"), Period: c.Read.Period(n.At("time")),
		}
		if member.Role == nil {
			member.Role = c.Read.Concepts(n.At("assignedEntity"), "code")
		}
		if p.Practitioner != nil {
			member.OnBehalfOf = p.Organization
		}
		t.Participant = append(t.Participant, member)
	}
	if t.Participant == nil {
		return nil
	}
	t.Header = c.Emit.HeaderWith("CareTeam", emit.Derive(c.Emit.Salt, "CareTeam", c.Emit.Key, cda.Digest(service)))
	return c.Emit.AddEntity(t)
}

// AddProvenance creates the Provenance for the entire document, with the document's authors, sender and time (US Core
// Provenance). The Provenances of all documents that state a fact name all its sources.
func AddProvenance(c *statement.Context, comp *r4.Composition) {
	d := c.Document.Root
	p := &r4.Provenance{
		Header:   c.Emit.HeaderWith("Provenance", emit.Derive(c.Emit.Salt, "Provenance", c.Emit.Version)),
		Recorded: c.Read.Instant(d.At("effectiveTime")),
		Activity: r4.Concept("http://terminology.hl7.org/CodeSystem/v3-DataOperation", "CREATE", "create"),
	}
	if p.Recorded == "" {
		p.RecordedElement = datatype.Absent(d.At("effectiveTime"))
	}
	p.Target = make([]r4.Reference, 0, c.Emit.Store().Len()+1)
	for name := range c.Emit.Store().Names() {
		p.Target = append(p.Target, r4.Reference{Reference: name})
	}
	const types = "http://terminology.hl7.org/CodeSystem/provenance-participant-type"
	for author := range d.Each("author") {
		who := c.Make.Party(author)
		if by := who.As("Practitioner", "Device", "Organization", "Patient", "RelatedPerson"); by != nil {
			agent := r4.ProvenanceAgent{Type: r4.Concept(types, "author", "Author"), Who: by}
			if who.Organization != nil && who.Practitioner != nil {
				agent.OnBehalfOf = who.Organization
			}
			p.Agent = append(p.Agent, agent)
		}
	}
	if enterer := c.Make.Party(d.At("dataEnterer")).Practitioner; enterer != nil {
		p.Agent = append(p.Agent, r4.ProvenanceAgent{Type: r4.Concept(types, "enterer", "Enterer"), Who: enterer})
	}
	for n := range d.Each("informant") {
		if who := c.Make.Party(n).As("Practitioner", "RelatedPerson", "Patient", "Organization"); who != nil {
			p.Agent = append(p.Agent, r4.ProvenanceAgent{Type: r4.Concept(types, "informant", "Informant"), Who: who})
		}
	}
	if comp.Custodian != nil {
		p.Agent = append(p.Agent, r4.ProvenanceAgent{
			Type: r4.Concept(types, "custodian", "Custodian"), Who: comp.Custodian,
		})
	}
	if p.Agent == nil {
		p.Agent = []r4.ProvenanceAgent{
			{Type: r4.Concept(types, "author", "Author"), Who: &r4.Reference{Display: "Unknown"}},
		}
	}
	if !c.Emit.AffordsSection("header", p.Agent) {
		p.Agent = p.Agent[:1]
	}
	p.Entity = []r4.ProvenanceEntity{
		{Role: "source", What: &r4.Reference{Identifier: comp.Identifier, Reference: comp.Reference().Reference}},
	}
	c.Emit.Keep(p)
	c.Emit.MarkCut(comp, p)
}
