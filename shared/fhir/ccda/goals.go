package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

const (
	goalRoot       = "2.16.840.1.113883.10.20.22.4.121"
	preferenceRoot = "2.16.840.1.113883.10.20.22.4.143"
	progressRoot   = "2.16.840.1.113883.10.20.22.4.110"
)

// goalSections are those of goals and of what came of them.
func goalSections() []sectionRule {
	const file = "goals.go"
	return []sectionRule{
		{
			codes: []string{"61146-7"}, roots: []string{"2.16.840.1.113883.10.20.22.2.60"}, name: "Goals", titles: []string{"goals", "goals section"}, file: file,
			assume: []assumption{{"observation", "", goalRoot}, {"act", "", goalRoot}},
		},
		{
			codes: []string{"11383-7"}, roots: []string{"2.16.840.1.113883.10.20.22.2.61"}, name: "Health Status Evaluations and Outcomes",
			titles: []string{"health status evaluations and outcomes", "health status evaluations/outcomes section", "outcomes"}, file: file,
			assume: []assumption{{"observation", "", outcomeRoot}, {"act", "", externalDocumentReference}},
		},
	}
}

const outcomeRoot = "2.16.840.1.113883.10.20.22.4.144"

func goalEntries() []entryRule {
	const file = "goals.go"
	return []entryRule{
		{roots: []string{goalRoot}, name: "Goal Observation", target: "Goal", file: file, convert: (*converter).goal},
		{roots: []string{preferenceRoot, "2.16.840.1.113883.10.20.22.4.142"}, name: "Priority Preference", target: "Observation, Goal.priority", file: file, convert: (*converter).preference},
		{roots: []string{outcomeRoot}, name: "Outcome Observation", target: "Observation, Goal.outcomeReference", file: file, convert: (*converter).outcome},
		{roots: []string{progressRoot}, name: "Progress Toward Goal Observation", target: "Goal.achievementStatus, Observation", file: file, convert: (*converter).progress},
	}
}

// goal makes a Goal (US Core Goal). Its code says what is looked at, its value what is to be reached; a value that is only words
// is what it is about. A time after that of the document is when it is to be reached, and any other when it was set.
func (c *converter) goal(n *node) {
	g := &r4.Goal{
		Header: c.header("Goal", n), Identifier: identifiers(n), Lifecycle: goalStatus(n), Description: c.conceptOr(n.at("code")), Subject: c.patient,
		Note: append(c.note(n, nil), c.comments(n)...),
	}
	when := n.at("effectiveTime")
	g.Start = c.date(when.at("low"))
	due := c.date(firstNode(when.at("high"), when))
	if written := c.date(c.document.at("effectiveTime")); when.attr("value") != "" && due <= written[:min(len(due), len(written))] {
		g.Start, due = due, ""
	}
	for value := range n.each("value") {
		if v, ok := c.value(value); ok {
			g.Target = append(g.Target, c.goalTarget(n, v, due))
		}
	}
	if g.Target == nil && due != "" {
		g.Target = []r4.GoalTarget{{Due: due}}
	}
	c.describeGoal(g, n)
	told := []*node{n}
	if progress := entryOf(n, progressRoot); progress != nil {
		g.Achievement = c.achievement(progress)
		told = append(told, progress)
	}
	c.setGoalAuthor(g, n)
	ref := c.add(g, told...)
	c.after(ref, func() { c.relateGoal(ref, n) })
}

// goalTarget has as a measure what the code of the goal is, which FHIR asks for beside a value (gol-1).
func (c *converter) goalTarget(n *node, v r4.Value, due string) r4.GoalTarget {
	t := r4.GoalTarget{
		Measure: c.conceptOr(n.at("code")), Quantity: v.ValueQuantity, Range: v.ValueRange, Concept: v.ValueCodeableConcept, Text: v.ValueString,
		Boolean: v.ValueBoolean, Integer: v.ValueInteger, Ratio: v.ValueRatio, Due: due,
	}
	switch {
	case v.ValueDateTime != "":
		t.Text = v.ValueDateTime
	case v.ValuePeriod != nil:
		t.Text = strings.TrimSuffix(v.ValuePeriod.Start+"/"+v.ValuePeriod.End, "/")
	}
	return t
}

// describeGoal gives a goal words where its code has none or says nothing.
func (c *converter) describeGoal(g *r4.Goal, n *node) {
	code := n.at("code")
	if g.Description.Text != "" {
		return
	}
	for _, t := range g.Target {
		g.Description.Text = firstOf(g.Description.Text, t.Text)
		if says := codeOf(code) != "" && codeOf(code) != "ASSERTION"; t.Concept != nil && !says {
			g.Description = t.Concept
		}
	}
	if g.Description.Text == "" {
		g.Description.Text = c.text(n.at("text"))
	}
	if g.Note != nil && g.Note[0].Text == g.Description.Text {
		g.Note = g.Note[1:]
	}
}

// setGoalAuthor says who has set the goal, the patient before anybody else, and when.
func (c *converter) setGoalAuthor(g *r4.Goal, n *node) {
	types := []string{"Patient", "Practitioner", "PractitionerRole", "RelatedPerson"}
	g.ExpressedBy = c.author(n).as(types...)
	for a := range n.each("author") {
		who := c.party(a)
		if who.patient != nil {
			g.ExpressedBy = who.patient
		}
		if g.StatusDate == "" {
			g.StatusDate = who.time[:min(len(who.time), len("2006-01-02"))]
		}
	}
}

// goalStatus maps ActStatus to GoalLifecycleStatus.
func goalStatus(n *node) string {
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "new":
		return "proposed"
	case "completed":
		return "completed"
	case "held", "suspended":
		return "on-hold"
	case "aborted", "cancelled", "canceled":
		return "cancelled"
	case "nullified", "obsolete":
		return "entered-in-error"
	}
	return "active"
}

// relateGoal adds what the goal is for, and how important it is.
func (c *converter) relateGoal(ref *r4.Reference, n *node) {
	g := resourceOf[r4.Goal](c, ref)
	if g == nil {
		return
	}
	all := c.related(n, "REFR", "RSON", "COMP", "SUBJ", "SPRT")
	for _, to := range ofType(all, "Condition", "Observation", "MedicationStatement", "ServiceRequest") {
		o := resourceOf[r4.Observation](c, &to)
		if o == nil || !isPreference(o) {
			g.Addresses = appendReference(g.Addresses, to)
		} else if g.Priority == nil {
			g.Priority = o.ValueCodeableConcept
		}
	}
	for _, other := range without(ofType(all, "Goal"), ref) {
		pertainsToGoal(&g.Header, other)
	}
}

// preference makes an Observation of how important something is to the patient or to a provider, about that.
func (c *converter) preference(n *node) {
	o := c.surveyed(n)
	o.Component = append(o.Component, c.priorityComponent(n)...)
	c.add(o, n)
}

func (c *converter) priorityComponent(n *node) []r4.Component {
	rank := c.concept(n.at("priorityCode"))
	if rank == nil {
		return nil
	}
	return []r4.Component{{Code: one("http://snomed.info/sct", "260870009", "Priority (attribute)"), Value: r4.Value{ValueCodeableConcept: rank}}}
}

func isPreference(o *r4.Observation) bool { return o.Code.Has("http://snomed.info/sct", "225773000") }

// outcome makes an Observation of what came of an intervention, and says so in the goal that it evaluates.
func (c *converter) outcome(n *node) {
	ref := c.add(c.surveyed(n), n)
	c.after(ref, func() {
		o := resourceOf[r4.Observation](c, ref)
		for _, goal := range ofType(c.related(n, "GEVL", "REFR", "RSON"), "Goal") {
			pertainsToGoal(&o.Header, goal)
			g := resourceOf[r4.Goal](c, &goal)
			g.Outcome = appendReference(g.Outcome, *ref)
			if progress := entryOf(n, progressRoot); progress != nil && g.Achievement == nil {
				g.Achievement = c.achievement(progress)
			}
		}
		o.BasedOn = appendReference(o.BasedOn, ofType(c.related(n, "RSON", "REFR"), "ServiceRequest", "MedicationRequest", "CarePlan", "DeviceRequest")...)
		o.PartOf = appendReference(o.PartOf, ofType(c.related(n, "RSON", "REFR"), "Procedure")...)
	})
}

// progress makes an Observation of how far a goal is from being reached, where no goal has taken it.
func (c *converter) progress(n *node) {
	c.add(c.surveyed(n), n)
}

// surveyed reads what somebody says about something else, which it is the focus of.
func (c *converter) surveyed(n *node) *r4.Observation {
	o := c.observation(n)
	o.Category = []r4.CodeableConcept{*one("http://terminology.hl7.org/CodeSystem/observation-category", "survey", "Survey")}
	if around := c.reference(outer(n)); around != nil {
		o.Focus = []r4.Reference{*around}
	}
	return o
}

// achievement maps the progress toward a goal to GoalAchievementStatus, beside the code of the document.
func (c *converter) achievement(n *node) *r4.CodeableConcept {
	concept := c.concept(n.at("value"))
	if concept == nil {
		return nil
	}
	code, words, known := strings.Cut(lookup(`
390802008 achieved Achieved
390801001 not-achieved Not Achieved
706905005 in-progress In Progress
706906006 no-progress No Progress
385651009 in-progress In Progress
385425000 improving Improving
230993007 worsening Worsening
`, codeOf(n.at("value"))), " ")
	if known {
		concept.Coding = append([]r4.Coding{{System: "http://terminology.hl7.org/CodeSystem/goal-achievement", Code: code, Display: words}}, concept.Coding...)
	}
	return concept
}
