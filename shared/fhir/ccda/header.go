package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// readHeader makes the Composition and what the header of the document names: people, organizations, the encounter and the
// care team (C-CDA on FHIR, "Participations"; US Realm Header 2.16.840.1.113883.10.20.22.1.1).
func (c *converter) readHeader() *r4.Composition {
	d := c.document
	comp := &r4.Composition{
		Header: c.headerWith("Composition", derive(c.salt, "Composition", c.version)), Status: "final", Type: c.conceptOr(d.at("code")),
		Subject: c.patient, Date: c.dateTime(d.at("effectiveTime")),
	}
	c.keep(comp)
	if id, ok := identifier(d.at("id")); ok {
		comp.Identifier = &id
	}
	if language := languageOf(d.at("languageCode")); language != nil {
		comp.Language = language.Coding[0].Code
	}
	if comp.Date == "" {
		comp.DateElement = absent(d.at("effectiveTime"))
	}
	comp.Title = firstOf(d.at("title").words(), comp.Type.Text, display(comp.Type), "Clinical document")
	comp.Confidentiality = confidentiality(d.at("confidentialityCode"))
	for author := range d.each("author") {
		if who := c.party(author).as("Practitioner", "Device", "Organization", "Patient", "RelatedPerson"); who != nil {
			comp.Author = appendReference(comp.Author, *who)
		}
	}
	comp.Custodian = c.party(d.at("custodian")).organization
	if comp.Author == nil {
		comp.Author = []r4.Reference{*firstReference(comp.Custodian, &r4.Reference{Display: "Unknown"})}
	}
	comp.Attester = c.attesters()
	comp.RelatesTo = relations(d)
	for n := range d.each("dataEnterer", "informant", "informationRecipient", "participant") {
		c.party(n)
	}
	for n := range d.each("authorization") {
		c.documentConsent(n.at("consent"))
	}
	c.readEncompassing(d.at("componentOf", "encompassingEncounter"))
	comp.Encounter = c.encounter
	comp.Event = c.events()
	if !c.affordsSection("header", comp) {
		comp.Attester, comp.RelatesTo, comp.Event, comp.Author = nil, nil, nil, comp.Author[:1]
	}
	return comp
}

// confidentiality gives a code of v3-ConfidentialityClassification, which FHIR requires; "" for any other.
func confidentiality(n *node) string {
	if code := strings.ToUpper(codeOf(n)); isOneOf(code, "U", "L", "M", "N", "R", "V") {
		return code
	}
	return ""
}

// attesters are those who signed.
func (c *converter) attesters() []r4.CompositionAttester {
	var list []r4.CompositionAttester
	for n := range c.document.each("legalAuthenticator", "authenticator") {
		mode := "professional"
		if n.name == "legalAuthenticator" {
			mode = "legal"
		}
		p := c.party(n)
		if who := p.as("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson"); who != nil {
			list = append(list, r4.CompositionAttester{Mode: mode, Time: p.time, Party: who})
		}
	}
	return list
}

// relations are to the documents that this one replaces, adds to or transforms.
func relations(d *node) []r4.CompositionRelation {
	var list []r4.CompositionRelation
	for n := range d.each("relatedDocument") {
		code := lookup("\nRPLC replaces\nAPND appends\nXFRM transforms\n", n.attr("typeCode"))
		if id, ok := identifier(n.at("parentDocument", "id")); ok && code != "" {
			list = append(list, r4.CompositionRelation{Code: code, Target: &id})
		}
	}
	return list
}

// events reads the services that the document is about. Who performed them is the care team (C-CDA on FHIR, "Participations":
// documentationOf).
func (c *converter) events() []r4.CompositionEvent {
	var list []r4.CompositionEvent
	for of := range c.document.each("documentationOf") {
		service := of.at("serviceEvent")
		event := r4.CompositionEvent{Code: c.concepts(service, "code"), Period: c.period(service.at("effectiveTime"))}
		if event.Code == nil && service.attr("classCode") != "" {
			event.Code = []r4.CodeableConcept{*one("http://terminology.hl7.org/CodeSystem/v3-ActClass", service.attr("classCode"), "")}
		}
		if team := c.careTeam(service, event.Period); team != nil {
			event.Detail = []r4.Reference{*team}
		}
		if event.Code != nil || event.Period != nil || event.Detail != nil {
			list = append(list, event)
		}
	}
	return list
}

// careTeam makes a CareTeam of those who perform a service; nil without any.
func (c *converter) careTeam(service *node, period *r4.Period) *r4.Reference {
	t := &r4.CareTeam{Identifier: identifiers(service), Subject: c.patient, Encounter: c.encounter, Period: period}
	for n := range service.each("performer") {
		p := c.party(n)
		who := p.as("Practitioner", "Organization", "RelatedPerson", "Patient")
		if who == nil {
			continue
		}
		member := r4.CareTeamParticipant{Member: who, Role: c.concepts(n, "functionCode"), Period: c.period(n.at("time"))}
		if member.Role == nil {
			member.Role = c.concepts(n.at("assignedEntity"), "code")
		}
		if p.practitioner != nil {
			member.OnBehalfOf = p.organization
		}
		t.Participant = append(t.Participant, member)
	}
	if t.Participant == nil {
		return nil
	}
	t.Header = c.headerWith("CareTeam", derive(c.salt, "CareTeam", c.key, digest(service)))
	return c.addEntity(t)
}

// addProvenance says of everything from this document that it is from it, who wrote it, who sent it and when (US Core
// Provenance). It is what tells all sources of a fact that several documents have.
func (c *converter) addProvenance(comp *r4.Composition) {
	d := c.document
	p := &r4.Provenance{
		Header: c.headerWith("Provenance", derive(c.salt, "Provenance", c.version)), Recorded: c.instant(d.at("effectiveTime")),
		Activity: one("http://terminology.hl7.org/CodeSystem/v3-DataOperation", "CREATE", "create"),
	}
	if p.Recorded == "" {
		p.RecordedElement = absent(d.at("effectiveTime"))
	}
	for _, r := range c.resources {
		p.Target = append(p.Target, *r.Base().Reference())
	}
	const types = "http://terminology.hl7.org/CodeSystem/provenance-participant-type"
	for author := range d.each("author") {
		who := c.party(author)
		if by := who.as("Practitioner", "Device", "Organization", "Patient", "RelatedPerson"); by != nil {
			agent := r4.ProvenanceAgent{Type: one(types, "author", "Author"), Who: by}
			if who.organization != nil && who.practitioner != nil {
				agent.OnBehalfOf = who.organization
			}
			p.Agent = append(p.Agent, agent)
		}
	}
	if enterer := c.party(d.at("dataEnterer")).practitioner; enterer != nil {
		p.Agent = append(p.Agent, r4.ProvenanceAgent{Type: one(types, "enterer", "Enterer"), Who: enterer})
	}
	for n := range d.each("informant") {
		if who := c.party(n).as("Practitioner", "RelatedPerson", "Patient", "Organization"); who != nil {
			p.Agent = append(p.Agent, r4.ProvenanceAgent{Type: one(types, "informant", "Informant"), Who: who})
		}
	}
	if comp.Custodian != nil {
		p.Agent = append(p.Agent, r4.ProvenanceAgent{Type: one(types, "custodian", "Custodian"), Who: comp.Custodian})
	}
	if p.Agent == nil {
		p.Agent = []r4.ProvenanceAgent{{Type: one(types, "author", "Author"), Who: &r4.Reference{Display: "Unknown"}}}
	}
	if !c.affordsSection("header", p.Agent) {
		p.Agent = p.Agent[:1]
	}
	p.Entity = []r4.ProvenanceEntity{{Role: "source", What: &r4.Reference{Identifier: comp.Identifier, Reference: comp.Reference().Reference}}}
	c.keep(p)
	c.markCut(comp, p)
}
