package statement

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/entity"
	"recordbridge/shared/fhir/ccda/r4"
)

// authorships collects the authors of each statement, and also its performers if the resource has no field for them.
// Statements with the same author and time share a Provenance (C-CDA on FHIR, "Mapping Guidance": Provenance).
type authorships struct {
	list  []*authorship
	index map[string]*authorship
	own   map[string]bool // references to resources whose statements name an author
}

type authorship struct {
	provenance *r4.Provenance
	targets    r4.ReferenceSet
}

// Attribute collects a statement's authors, and also its performers if the resource has no field for them. For any
// statement other than the main one, such as the concern that contains a problem, it also collects the time, because
// the resource doesn't contain that time.
func (c *Context) Attribute(head *r4.Header, n, main *cda.Node) {
	c.attributeToAuthors(head, n)
	if n.At("author") != nil {
		if c.authorships.own == nil {
			c.authorships.own = map[string]bool{}
		}
		c.authorships.own[head.Reference().Reference] = true
	}
	if hasNoPerformer(head, n) {
		for performer := range n.Each("performer") {
			p := c.Make.Party(performer)
			c.attributeTo(head, p, participation{kind: "performer", display: "Performer", moment: p.Time})
		}
	}
	if n == main {
		return
	}
	moment, period := c.Read.Effective(n.At("effectiveTime"))
	if moment == "" && period == nil || moment != "" && moment == c.Read.Start(main.At("effectiveTime")) {
		return
	}
	c.attributeTo(head, c.Make.Conducted(n), participation{
		kind: "author", display: "Author", moment: moment, period: period, activity: activityOf(n),
	})
}

// hasNoPerformer reports whether a resource has no field for its statement's performers. A MedicationRequest names the
// intended performer rather than the person who administered a reported medication.
func hasNoPerformer(head *r4.Header, n *cda.Node) bool {
	switch head.ResourceType {
	case "AllergyIntolerance", "Condition", "Goal", "CarePlan", "Consent", "FamilyMemberHistory", "DeviceUseStatement":
		return true
	case "MedicationRequest":
		return cda.IsOneOf(n.Attr("moodCode"), "", "EVN")
	}
	return false
}

// AttributeSection attributes a section's resources to the section's authors unless their statements name authors (CDA
// R2, context conduction: an entry's author overrides the section's).
func (c *Context) AttributeSection(section *cda.Node, resources []r4.Reference) {
	if section.At("author") == nil {
		return
	}
	for _, r := range resources {
		if head := c.Emit.Head(&r); head != nil && !c.authorships.own[r.Reference] {
			c.attributeToAuthors(head, section)
		}
	}
}

func (c *Context) attributeToAuthors(head *r4.Header, n *cda.Node) {
	for author := range n.Each("author") {
		p := c.Make.Party(author)
		c.attributeTo(head, p, participation{kind: "author", display: "Author", moment: p.Time})
	}
}

// activityOf derives a statement's activity from its code or, failing that, its class.
func activityOf(n *cda.Node) r4.Coding {
	if code, ok := datatype.Coding(n.At("code")); ok {
		return code
	}
	return r4.Coding{
		System: "http://terminology.hl7.org/CodeSystem/v3-ActClass", Code: cmp.Or(n.Attr("classCode"), "ACT"),
	}
}

// participation is a person's role in a statement and the time or period of that role.
type participation struct {
	kind, display string // the agent's role
	moment        string
	period        *r4.Period
	activity      r4.Coding // empty for the author of the resource
}

func (c *Context) attributeTo(head *r4.Header, p entity.Party, how participation) {
	who := p.As("Practitioner", "Device", "Organization", "Patient", "RelatedPerson")
	if who == nil {
		if how.activity == (r4.Coding{}) && how.moment == "" {
			return
		}
		who = &r4.Reference{Display: "Unknown"}
	}
	by := r4.ProvenanceAgent{
		Type: r4.Concept("http://terminology.hl7.org/CodeSystem/provenance-participant-type", how.kind, how.display),
		Who:  who,
	}
	if p.Organization != nil && p.Practitioner != nil {
		by.OnBehalfOf = p.Organization
	}
	span := r4.Period{}
	if how.period != nil {
		span = *how.period
	}
	key := emit.Derive(
		c.Emit.Salt, "Provenance", c.Emit.Version, how.kind, who.Reference, how.moment, span.Start, span.End,
		how.activity.System, how.activity.Code,
	)
	all := &c.authorships
	a := all.index[key]
	if a == nil {
		a = &authorship{provenance: &r4.Provenance{
			Header: c.Emit.HeaderWith("Provenance", key), Occurred: how.moment, OccurredPeriod: how.period,
			Agent:    []r4.ProvenanceAgent{by},
			Activity: r4.Concept("http://terminology.hl7.org/CodeSystem/v3-DataOperation", "CREATE", "create"),
		}}
		if how.activity != (r4.Coding{}) {
			a.provenance.Activity = &r4.CodeableConcept{Coding: []r4.Coding{how.activity}}
		}
		if !c.Emit.AffordsResource(a.provenance) {
			return
		}
		if all.index == nil {
			all.index = map[string]*authorship{}
		}
		all.index[key] = a
		all.list = append(all.list, a)
	}
	if c.Emit.Affords("author", emit.ReferenceSize(head.Reference())) {
		a.targets.Add(*head.Reference())
	}
}

// AddAuthorships adds a Provenance for each author and time that Attribute collected. Each Provenance's recorded time
// is the document's time.
func (c *Context) AddAuthorships() {
	for _, a := range c.authorships.list {
		p := a.provenance
		p.Target = a.targets.List
		if p.Recorded = c.Read.Instant(c.Document.Root.At("effectiveTime")); p.Recorded == "" {
			p.RecordedElement = datatype.Absent(c.Document.Root.At("effectiveTime"))
		}
		c.Emit.Keep(p)
	}
}
