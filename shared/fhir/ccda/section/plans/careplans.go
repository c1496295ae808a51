package plans

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/docref"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// carePlans holds a document's CarePlans.
type carePlans struct {
	first *r4.Reference // CarePlan that receives the document's goals; nil if there is none
}

// convertAssessment also converts the assessment to a note, because CarePlan has no element for it.
func (all *carePlans) convertAssessment(c *statement.Context, section *cda.Node) {
	docref.OfWords(c, section)
	if section.At("entry") != nil {
		all.convert(c, section)
	}
}

// convert creates a CarePlan for a section (US Core CarePlan). The section's text becomes the plan's text, and its
// entries become the planned activities. The plan includes the document's goals and health concerns, regardless of
// their section.
func (all *carePlans) convert(c *statement.Context, section *cda.Node) {
	text := c.Read.NarrativeOf(section.At("text"))
	entries := c.Open.List
	if text == nil && entries == nil {
		return
	}
	if section.Attr("nullFlavor") != "" && entries == nil { // The text states only that no plan exists.
		docref.OfWords(c, section)
		return
	}
	by := c.Make.Author(section)
	p := &r4.CarePlan{
		Header: docref.SectionHeader(c, "CarePlan", section), Identifier: datatype.Identifiers(section),
		Status: planStatus(c, entries), Intent: "plan",
		Category: []r4.CodeableConcept{
			*r4.Concept(
				"http://hl7.org/fhir/us/core/CodeSystem/careplan-category", "assess-plan",
				"Assessment and Plan of Treatment",
			),
		},
		Title: section.At("title").Words(), Subject: c.Patient, Encounter: c.Encounter, Created: by.Time,
		Author: by.As("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson", "Device"),
	}
	p.Category = append(p.Category, r4.Listed(c.Read.Concept(section.At("code")))...)
	p.Text = text
	if text == nil {
		p.Text = &r4.Narrative{
			Status: "empty", Div: datatype.XHTML("<p>" + datatype.Escaped(cmp.Or(p.Title, "Plan")) + "</p>"),
		}
	}
	for _, entry := range entries {
		switch {
		case r4.OfType([]r4.Reference{entry}, "ServiceRequest", "MedicationRequest", "DeviceRequest") != nil:
			p.Activity = append(p.Activity, r4.CarePlanActivity{Reference: &entry})
		case r4.OfType([]r4.Reference{entry}, "Goal") != nil:
			p.Goal = append(p.Goal, entry)
		case r4.OfType([]r4.Reference{entry}, "Condition") != nil:
			p.Addresses = append(p.Addresses, entry)
		case r4.OfType([]r4.Reference{entry}, "Procedure", "Communication", "MedicationAdministration") != nil:
			p.Activity = append(p.Activity, r4.CarePlanActivity{Outcome: []r4.Reference{entry}})
		default:
			p.SupportingInfo = append(p.SupportingInfo, entry)
		}
	}
	ref := c.Emit.AddEntity(p)
	c.Open.Add(*ref)
	if all.first == nil { // The goals belong to one of the document's plans rather than to each of them.
		all.first = ref
		c.Emit.After(ref, section, func(*cda.Node) { completeCarePlan(c, ref) })
	}
}

// planStatus derives a plan's status from its entries, because sections have no status. The plan is active if any entry
// is still to be done, and completed if all have ended.
func planStatus(c *statement.Context, entries []r4.Reference) string {
	status := "unknown"
	for _, entry := range entries {
		of := ""
		if r := emit.Seen[r4.ServiceRequest](c.Emit, &entry); r != nil {
			of = r.Status
		} else if r := emit.Seen[r4.MedicationRequest](c.Emit, &entry); r != nil {
			of = r.Status
		} else if r := emit.Seen[r4.DeviceRequest](c.Emit, &entry); r != nil {
			of = r.Status
		} else if r := emit.Seen[r4.Goal](c.Emit, &entry); r != nil {
			of = r.Lifecycle
		} else if r := emit.Seen[r4.Encounter](c.Emit, &entry); r != nil {
			of = r.Status
		}
		switch of {
		case "active", "draft", "on-hold", "planned", "proposed", "accepted":
			return "active"
		case "completed", "finished":
			status = "completed"
		}
	}
	return status
}

// completeCarePlan adds the document's goals, health concerns and care teams to a plan.
func completeCarePlan(c *statement.Context, ref *r4.Reference) {
	p := emit.ResourceOf[r4.CarePlan](c.Emit, ref)
	var goals, concerns, teams r4.ReferenceSet
	for _, known := range p.Goal {
		goals.Add(known)
	}
	for _, known := range p.Addresses {
		concerns.Add(known)
	}
	for name := range c.Emit.Store().Names() {
		ref := r4.Reference{Reference: name}
		switch kind, _, _ := strings.Cut(name, "/"); kind {
		case "Goal":
			goals.Add(ref)
		case "Condition":
			if r := emit.Seen[r4.Condition](c.Emit, &ref); statement.IsHealthConcern(r) {
				concerns.Add(ref)
			}
		case "CareTeam":
			teams.Add(ref)
		}
	}
	p.Goal, p.Addresses, p.CareTeam = goals.List, concerns.List, teams.List
}

// intervention converts an act performed to reach a goal to a request or a procedure. The act is an Intervention Act
// or, in other moods, a Planned Intervention Act. Nested statements become resources that refer to the act's resource.
func intervention(c *statement.Context, n *cda.Node) {
	if mood := n.Attr("moodCode"); mood != "" && mood != "EVN" {
		request(c, n)
		return
	}
	c.Rules.ConvertBy(statement.ProcedureActRoot, n)
	c.Emit.Afterwards(n, func(n *cda.Node) { relateIntervention(c, n) })
}

func relateIntervention(c *statement.Context, n *cda.Node) {
	told := c.Emit.Fact(n)
	if told == nil {
		return
	}
	for _, goal := range r4.OfType(c.Related(n, "RSON", "GEVL", "REFR"), "Goal") {
		statement.PertainsToGoal(told, goal)
	}
}
