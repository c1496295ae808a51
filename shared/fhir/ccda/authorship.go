package ccda

import "recordbridge/shared/fhir/ccda/r4"

// authorships collect who wrote the statements that name an author of their own, and who performed those whose resource has no
// place for it. Statements of one author at one time share a Provenance (C-CDA on FHIR, "Mapping Guidance": Provenance).
type authorships struct {
	list  []*authorship
	index map[string]*authorship
}

type authorship struct {
	provenance *r4.Provenance
	targets    entryList
}

// attribute notes the authors, and where it has to be the performers, of a statement that a resource tells. Of a statement that
// is not the main one, such as the concern around a problem, the resource has no time: that is noted, too.
func (c *converter) attribute(head *r4.Header, n, main *node) {
	for author := range n.each("author") {
		p := c.party(author)
		c.attributeTo(head, p, participation{kind: "author", display: "Author", moment: p.time})
	}
	switch head.ResourceType {
	case "AllergyIntolerance", "Condition", "MedicationStatement", "Goal", "CarePlan", "Consent", "FamilyMemberHistory", "DeviceUseStatement":
		for performer := range n.each("performer") {
			p := c.party(performer)
			c.attributeTo(head, p, participation{kind: "performer", display: "Performer", moment: p.time})
		}
	}
	if n == main {
		return
	}
	moment, period := c.effective(n.at("effectiveTime"))
	if moment == "" && period == nil || moment != "" && moment == c.start(main.at("effectiveTime")) {
		return
	}
	c.attributeTo(head, c.author(n), participation{kind: "author", display: "Author", moment: moment, period: period, activity: activityOf(n)})
}

// activityOf says what a statement is about by its code, else by its class.
func activityOf(n *node) r4.Coding {
	if code, ok := coding(n.at("code")); ok {
		return code
	}
	return r4.Coding{System: "http://terminology.hl7.org/CodeSystem/v3-ActClass", Code: firstOf(n.attr("classCode"), "ACT")}
}

// participation is how somebody had a part in a statement, and when.
type participation struct {
	kind, display string // of the agent
	moment        string
	period        *r4.Period
	activity      r4.Coding // empty for making it
}

func (c *converter) attributeTo(head *r4.Header, p party, how participation) {
	who := p.as("Practitioner", "Device", "Organization", "Patient", "RelatedPerson")
	if who == nil {
		if how.activity == (r4.Coding{}) && how.moment == "" {
			return
		}
		who = &r4.Reference{Display: "Unknown"}
	}
	by := r4.ProvenanceAgent{Type: one("http://terminology.hl7.org/CodeSystem/provenance-participant-type", how.kind, how.display), Who: who}
	if p.organization != nil && p.practitioner != nil {
		by.OnBehalfOf = p.organization
	}
	span := r4.Period{}
	if how.period != nil {
		span = *how.period
	}
	key := derive(c.salt, "Provenance", c.version, how.kind, who.Reference, how.moment, span.Start, span.End, how.activity.System, how.activity.Code)
	all := &c.authorships
	a := all.index[key]
	if a == nil {
		a = &authorship{provenance: &r4.Provenance{
			Header: c.headerWith("Provenance", key), Occurred: how.moment, OccurredPeriod: how.period, Agent: []r4.ProvenanceAgent{by},
			Activity: one("http://terminology.hl7.org/CodeSystem/v3-DataOperation", "CREATE", "create"),
		}}
		if how.activity != (r4.Coding{}) {
			a.provenance.Activity = &r4.CodeableConcept{Coding: []r4.Coding{how.activity}}
		}
		if !c.affordsResource(a.provenance) {
			return
		}
		if all.index == nil {
			all.index = map[string]*authorship{}
		}
		all.index[key] = a
		all.list = append(all.list, a)
	}
	if c.affords("author", referenceSize(head.Reference())) {
		a.targets.add(*head.Reference())
	}
}

// addAuthorships adds what has been collected. It was recorded when the document was.
func (c *converter) addAuthorships() {
	for _, a := range c.authorships.list {
		p := a.provenance
		p.Target = a.targets.list
		if p.Recorded = c.instant(c.document.at("effectiveTime")); p.Recorded == "" {
			p.RecordedElement = absent(c.document.at("effectiveTime"))
		}
		c.keep(p)
	}
}
