package goals

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

// goal creates a Goal (US Core Goal). The statement's code becomes the goal target's measure. The value becomes the
// goal's target or, if it is only text, the goal's description. A time after the document's time becomes the due date,
// as does the centre of an interval. Any other time becomes the start date.
func goal(c *statement.Context, n *cda.Node) {
	g := &r4.Goal{
		Header: c.Emit.Header("Goal", n), Identifier: datatype.Identifiers(n), Lifecycle: goalStatus(n),
		Description: c.Read.ConceptOr(n.At("code")), Subject: c.Patient,
		Note: append(c.Read.Note(n, nil), c.Comments(n)...),
	}
	when := n.At("effectiveTime")
	var due string
	g.Start, due = goalDates(c, when)
	for value := range n.Each("value") {
		if v, ok := c.Read.Value(value); ok {
			g.Target = append(g.Target, goalTarget(c, n, v, due))
		}
	}
	if g.Target == nil && due != "" {
		g.Target = []r4.GoalTarget{{Due: due}}
	}
	describeGoal(c, g, n)
	told := []*cda.Node{n}
	if progress := cda.EntryOf(n, progressRoot); progress != nil {
		g.Achievement = achievement(c, progress)
		told = append(told, progress)
	}
	setGoalAuthor(c, g, n)
	ref := c.Add(g, told...)
	c.Emit.After(ref, n, func(n *cda.Node) { relateGoal(c, ref, n) })
}

// goalDates returns the start and due dates of a goal.
func goalDates(c *statement.Context, when *cda.Node) (start, due string) {
	start = c.Read.Date(when.At("low"))
	if high := when.At("high"); high.Attr("value") != "" {
		return start, c.Read.Date(high)
	}
	at := when
	if at.Attr("value") == "" {
		at = when.At("center")
	}
	due = c.Read.Date(at)
	if written := c.Read.Date(c.Document.Root.At("effectiveTime")); start == "" &&
		due <= written[:min(len(due), len(written))] {
		return due, ""
	}
	return start, due
}

// goalTarget returns a target whose measure is the goal's code. FHIR requires a measure if the target has a value
// (gol-1).
func goalTarget(c *statement.Context, n *cda.Node, v r4.Value, due string) r4.GoalTarget {
	t := r4.GoalTarget{
		Measure: c.Read.ConceptOr(n.At("code")), Quantity: v.ValueQuantity, Range: v.ValueRange,
		Concept: v.ValueCodeableConcept, Text: v.ValueString,
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

// describeGoal sets the goal's description if its code carries no meaning or has no text.
func describeGoal(c *statement.Context, g *r4.Goal, n *cda.Node) {
	code := n.At("code")
	if g.Description.Text != "" {
		return
	}
	for _, t := range g.Target {
		g.Description.Text = cmp.Or(g.Description.Text, t.Text)
		if says := cda.CodeOf(code) != "" && cda.CodeOf(code) != "ASSERTION"; t.Concept != nil && !says {
			g.Description = t.Concept
		}
	}
	if g.Description.Text == "" {
		g.Description.Text = c.Read.Text(n.At("text"))
	}
	if g.Note != nil && g.Note[0].Text == g.Description.Text {
		g.Note = g.Note[1:]
	}
}

// setGoalAuthor records the goal's author and date, preferring the patient to other authors.
func setGoalAuthor(c *statement.Context, g *r4.Goal, n *cda.Node) {
	types := []string{"Patient", "Practitioner", "PractitionerRole", "RelatedPerson"}
	g.ExpressedBy = c.Make.Author(n).As(types...)
	for a := range n.Each("author") {
		who := c.Make.Party(a)
		if who.Patient != nil {
			g.ExpressedBy = who.Patient
		}
		if g.StatusDate == "" {
			g.StatusDate = who.Time[:min(len(who.Time), len("2006-01-02"))]
		}
	}
}

// goalStatus maps ActStatus to GoalLifecycleStatus. A goal is proposed unless the document states that it is being
// pursued.
func goalStatus(n *cda.Node) string {
	return cmp.Or(statuses.Of(cda.StatusOf(n)), "proposed")
}

// relateGoal adds the goal's reasons and priority.
func relateGoal(c *statement.Context, ref *r4.Reference, n *cda.Node) {
	g := emit.ResourceOf[r4.Goal](c.Emit, ref)
	if g == nil {
		return
	}
	all := c.Related(n, "REFR", "RSON", "COMP", "SUBJ", "SPRT")
	for _, to := range r4.OfType(all, "Condition", "Observation", "ServiceRequest") {
		o := emit.ResourceOf[r4.Observation](c.Emit, &to)
		if o == nil || !statement.IsPreference(o) {
			g.Addresses = r4.AppendReference(g.Addresses, to)
		} else if g.Priority == nil {
			g.Priority = o.ValueCodeableConcept
		}
	}
	for _, other := range r4.Without(r4.OfType(all, "Goal"), ref) {
		statement.PertainsToGoal(&g.Header, other)
	}
	for _, to := range r4.OfType(all, "MedicationRequest") { // Goal.addresses doesn't allow MedicationRequest.
		if head := c.Emit.Head(&to); head != nil {
			statement.PertainsToGoal(head, *ref)
		}
	}
}

// preference creates an Observation that states how important a statement is to the patient or a provider. The
// Observation's focus is the statement.
func preference(c *statement.Context, n *cda.Node) {
	o := surveyed(c, n)
	o.Component = append(o.Component, priorityComponent(c, n)...)
	c.Add(o, n)
}

func priorityComponent(c *statement.Context, n *cda.Node) []r4.Component {
	rank := c.Read.Concept(n.At("priorityCode"))
	if rank == nil {
		return nil
	}
	return []r4.Component{
		{
			Code:  r4.Concept("http://snomed.info/sct", "260870009", "Priority (attribute)"),
			Value: r4.Value{ValueCodeableConcept: rank},
		},
	}
}

// outcome creates an Observation for an intervention's outcome, and adds it to the goal that it evaluates.
func outcome(c *statement.Context, n *cda.Node) {
	ref := c.Add(surveyed(c, n), n)
	c.Emit.After(ref, n, func(n *cda.Node) {
		o := emit.ResourceOf[r4.Observation](c.Emit, ref)
		for _, goal := range r4.OfType(c.Related(n, "GEVL", "REFR", "RSON"), "Goal") {
			statement.PertainsToGoal(&o.Header, goal)
			g := emit.ResourceOf[r4.Goal](c.Emit, &goal)
			g.Outcome = r4.AppendReference(g.Outcome, *ref)
			if progress := cda.EntryOf(n, progressRoot); progress != nil && g.Achievement == nil {
				g.Achievement = achievement(c, progress)
			}
		}
		o.BasedOn = r4.AppendReference(o.BasedOn, r4.OfType(
			c.Related(n, "RSON", "REFR"), "ServiceRequest", "MedicationRequest", "CarePlan", "DeviceRequest",
		)...)
		o.PartOf = r4.AppendReference(o.PartOf, r4.OfType(c.Related(n, "RSON", "REFR"), "Procedure")...)
	})
}

// progress creates an Observation for progress toward a goal, unless a goal already includes it.
func progress(c *statement.Context, n *cda.Node) {
	c.Add(surveyed(c, n), n)
}

// surveyed converts an opinion about the enclosing statement, which becomes the Observation's focus.
func surveyed(c *statement.Context, n *cda.Node) *r4.Observation {
	o := observation.New(c, n)
	o.Category = []r4.CodeableConcept{
		*r4.Concept("http://terminology.hl7.org/CodeSystem/observation-category", "survey", "Survey"),
	}
	if around := c.Emit.Reference(cda.Outer(n)); around != nil {
		o.Focus = []r4.Reference{*around}
	}
	return o
}

// achievement returns the document's code for progress toward a goal and the corresponding GoalAchievementStatus.
func achievement(c *statement.Context, n *cda.Node) *r4.CodeableConcept {
	concept := c.Read.Concept(n.At("value"))
	if concept == nil {
		return nil
	}
	code, words, known := strings.Cut(achievements.Of(cda.CodeOf(n.At("value"))), " ")
	if known {
		concept.Coding = append([]r4.Coding{
			{System: "http://terminology.hl7.org/CodeSystem/goal-achievement", Code: code, Display: words},
		}, concept.Coding...)
	}
	return concept
}
