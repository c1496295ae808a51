package ccda

import "recordbridge/shared/fhir/ccda/r4"

// planAssumptions say what entries of a plan without templates are, by element and mood.
func planAssumptions() []assumption {
	return []assumption{
		{"act", "EVN", "2.16.840.1.113883.10.20.22.4.141"},
		{"act", "", "2.16.840.1.113883.10.20.22.4.39"},
		{"encounter", "", "2.16.840.1.113883.10.20.22.4.40"},
		{"procedure", "", "2.16.840.1.113883.10.20.22.4.41"},
		{"substanceAdministration", "", "2.16.840.1.113883.10.20.22.4.42"},
		{"supply", "", "2.16.840.1.113883.10.20.22.4.43"},
		{"observation", "GOL", goalRoot},
		{"observation", "RQO", "2.16.840.1.113883.10.20.22.4.44"},
		{"observation", "INT", "2.16.840.1.113883.10.20.22.4.44"},
		{"observation", "PRP", "2.16.840.1.113883.10.20.22.4.44"},
		{"observation", "PRMS", "2.16.840.1.113883.10.20.22.4.44"},
	}
}

// carePlanSections are the sections that tell what is to be done. Each is a CarePlan.
func carePlanSections() []sectionRule {
	const file = "careplans.go"
	all := &carePlans{}
	return []sectionRule{
		{
			codes: []string{"18776-5"}, name: "Plan of Treatment", file: file, assume: planAssumptions(), narrative: all.convert,
			roots:  []string{"2.16.840.1.113883.10.20.22.2.10", "2.16.840.1.113883.10.20.1.10", "1.3.6.1.4.1.19376.1.5.3.1.3.31", "2.16.840.1.113883.3.88.11.83.124"},
			titles: []string{"plan of treatment", "treatment plan", "plan of care", "care plan", "plan"},
		},
		{
			codes: []string{"51847-2"}, name: "Assessment and Plan", file: file, assume: planAssumptions(), narrative: all.convertAssessment,
			roots:  []string{"2.16.840.1.113883.10.20.22.2.9", "1.3.6.1.4.1.19376.1.5.3.1.1.13.2.5"},
			titles: []string{"assessment and plan", "assessment and plan of treatment"},
		},
		{
			codes: []string{"62387-6"}, roots: []string{"2.16.840.1.113883.10.20.21.2.3"}, name: "Interventions", titles: []string{"interventions", "interventions section"},
			file: file, narrative: all.convert, assume: append([]assumption{{"act", "EVN", interventionRoot}, {"act", "INT", interventionRoot}}, planAssumptions()...),
		},
		{
			codes: []string{"59772-4"}, roots: []string{"2.16.840.1.113883.10.20.22.2.30"}, name: "Planned Procedure", titles: []string{"planned procedure"},
			file: file, assume: planAssumptions(), narrative: (*converter).noteOfWords,
		},
		{
			codes: []string{"42349-1"}, roots: []string{"1.3.6.1.4.1.19376.1.5.3.1.3.1"}, name: "Reason for Referral", titles: []string{"reason for referral"},
			file: file, assume: append([]assumption{{"act", "", "2.16.840.1.113883.10.20.22.4.140"}}, planAssumptions()...), narrative: (*converter).noteOfWords,
		},
		{
			codes: []string{"69730-0", "8653-8"}, roots: []string{"2.16.840.1.113883.10.20.22.2.45", "2.16.840.1.113883.10.20.22.2.41"}, name: "Instructions",
			titles: []string{"instructions", "patient instructions", "discharge instructions", "hospital discharge instructions"},
			file:   file, assume: append([]assumption{{"act", "", instructionRoot}}, planAssumptions()...), narrative: (*converter).noteOfWords,
		},
	}
}

const interventionRoot = "2.16.840.1.113883.10.20.22.4.131"

func interventionEntries() []entryRule {
	return []entryRule{
		{
			roots: []string{interventionRoot, "2.16.840.1.113883.10.20.22.4.146"}, name: "Intervention Act", target: "ServiceRequest (planned), Procedure (done)",
			file: "careplans.go", convert: (*converter).intervention,
		},
	}
}

// carePlans are the CarePlans of a document.
type carePlans struct {
	first *r4.Reference // the goals of the document belong to it; nil as long as there is none
}

// convertAssessment keeps the assessment as a note besides the plan, since a CarePlan is no place for it.
func (all *carePlans) convertAssessment(c *converter, section *node) {
	c.noteOfWords(section)
	if section.at("entry") != nil {
		all.convert(c, section)
	}
}

// convert makes a CarePlan of a section (US Core CarePlan): its words as the text, its entries as what is planned. The goals
// and health concerns of the document belong to it, wherever they stand.
func (all *carePlans) convert(c *converter, section *node) {
	text := narrativeOf(section.at("text"))
	entries := c.open.list
	if text == nil && entries == nil {
		return
	}
	by := c.author(section)
	p := &r4.CarePlan{
		Header: c.sectionHeader("CarePlan", section), Identifier: identifiers(section), Status: "active", Intent: "plan",
		Category: []r4.CodeableConcept{*one("http://hl7.org/fhir/us/core/CodeSystem/careplan-category", "assess-plan", "Assessment and Plan of Treatment")},
		Title:    section.at("title").words(), Subject: c.patient, Encounter: c.encounter, Created: by.time,
		Author: by.as("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson", "Device"),
	}
	p.Category = append(p.Category, listed(c.concept(section.at("code")))...)
	p.Text = text
	if text == nil {
		p.Text = &r4.Narrative{Status: "empty", Div: xhtml("<p>" + escaped(firstOf(p.Title, "Plan")) + "</p>")}
	}
	for _, entry := range entries {
		switch {
		case ofType([]r4.Reference{entry}, "ServiceRequest", "MedicationRequest", "DeviceRequest") != nil:
			p.Activity = append(p.Activity, r4.CarePlanActivity{Reference: &entry})
		case ofType([]r4.Reference{entry}, "Goal") != nil:
			p.Goal = append(p.Goal, entry)
		case ofType([]r4.Reference{entry}, "Condition") != nil:
			p.Addresses = append(p.Addresses, entry)
		case ofType([]r4.Reference{entry}, "Procedure", "Communication", "MedicationAdministration") != nil:
			p.Activity = append(p.Activity, r4.CarePlanActivity{Outcome: []r4.Reference{entry}})
		default:
			p.SupportingInfo = append(p.SupportingInfo, entry)
		}
	}
	ref := c.addEntity(p)
	c.open.add(*ref)
	if all.first == nil { // one is enough: the goals of the document are not those of each of its plans
		all.first = ref
		c.after(ref, func() { c.completeCarePlan(ref) })
	}
}

// completeCarePlan adds the goals, health concerns and care teams of the document.
func (c *converter) completeCarePlan(ref *r4.Reference) {
	p := resourceOf[r4.CarePlan](c, ref)
	var goals, concerns, teams entryList
	for _, known := range p.Goal {
		goals.add(known)
	}
	for _, known := range p.Addresses {
		concerns.add(known)
	}
	for _, r := range c.resources {
		switch r := r.(type) {
		case *r4.Goal:
			goals.add(*r.Reference())
		case *r4.Condition:
			if isHealthConcern(r) {
				concerns.add(*r.Reference())
			}
		case *r4.CareTeam:
			teams.add(*r.Reference())
		}
	}
	p.Goal, p.Addresses, p.CareTeam = goals.list, concerns.list, teams.list
}

// intervention takes what is done for a goal: something planned, or a procedure (Intervention Act, and Planned Intervention Act
// with another mood). What it consists of stands for itself, and refers to it.
func (c *converter) intervention(n *node) {
	if mood := n.attr("moodCode"); mood != "" && mood != "EVN" {
		c.request(n)
		return
	}
	c.convertBy(procedureActRoot, n)
	c.later = append(c.later, func() { c.relateIntervention(n) })
}

func (c *converter) relateIntervention(n *node) {
	told := c.toldBy(n)
	if told == nil {
		return
	}
	for _, goal := range ofType(c.related(n, "RSON", "GEVL", "REFR"), "Goal") {
		pertainsToGoal(told, goal)
	}
}
