package encounters

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/encounter"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// isNamedAgain reports whether another statement has the same id as n.
func isNamedAgain(c *statement.Context, n *cda.Node) bool {
	count := 0
	for range c.Document.Acts(cda.RealID(n), nil) {
		if count++; count > 1 {
			return true
		}
	}
	return false
}

// encounterActivity creates an Encounter, or completes the header's Encounter with the same id (C-CDA on FHIR,
// "Encounters").
func encounterActivity(c *statement.Context, n *cda.Node) {
	if n.At("code") == nil && n.At("effectiveTime") == nil && isNamedAgain(c, n) {
		c.Emit.Take(n) // The statement only refers to an encounter described in another statement.
		return
	}
	e := encounter.New(c, n)
	if cda.IsNegated(n) { // A negated statement does not describe the encounter with the same id.
		e.Header, e.Status = c.Emit.Header("Encounter", n), "cancelled"
	}
	if e.Type == nil {
		if words := c.Read.Text(n.At("text")); words != "" {
			e.Type = []r4.CodeableConcept{{Text: words}}
		}
	}
	for p := range n.Each("performer") {
		encounter.AddParticipant(c, e, p, "PPRF")
	}
	for p := range n.Each("author") {
		encounter.AddParticipant(c, e, p, "AUT")
	}
	for p := range n.Each("participant") {
		role := p.At("participantRole")
		if p.Attr("typeCode") != "LOC" {
			encounter.AddParticipant(c, e, p, cmp.Or(p.Attr("typeCode"), "PART"))
			continue
		}
		if at := c.Make.Facility(role); at != nil {
			e.Location = append(e.Location, r4.EncounterLocation{Location: at, Period: c.Read.Period(p.At("time"))})
		}
	}
	codes, references, reasons := c.Reasons(n)
	e.Reason, e.ReasonReference = codes, references
	told := append([]*cda.Node{n}, reasons...)
	ref := addEncounter(c, e, told...)
	diagnoses(c, ref, n)
}

// addEncounter adds an encounter that the header may already describe in less detail. The header's facts take
// precedence if they are definite.
func addEncounter(c *statement.Context, e *r4.Encounter, told ...*cda.Node) *r4.Reference {
	if before := emit.ResourceOf[r4.Encounter](c.Emit, e.Reference()); before != nil &&
		(isBefore(before.Period, e.Period) || isBefore(e.Period, before.Period)) {
		e.ID = emit.Derive(e.ID, e.Period.Start) // The sender uses one id for several encounters.
	}
	if before := emit.ResourceOf[r4.Encounter](c.Emit, e.Reference()); before != nil {
		correct(before, e, cda.StatusOf(told[0]) != "", before.Status == "finished")
		c.Emit.CountMerged()
	}
	ref := c.Emit.AddEntity(e)
	if !r4.IsKept(ref) {
		return ref
	}
	head := c.Emit.Head(ref)
	for _, n := range told {
		c.Emit.Take(n)
		c.TagUncovered(head, n)
		c.Attribute(head, n, told[0])
		c.Emit.SetFact(n, head)
	}
	c.Open.Add(*ref)
	return ref
}

// isBefore reports whether one of two periods ended on a day before the other began.
func isBefore(a, b *r4.Period) bool {
	if a == nil || b == nil || a.End == "" || b.Start == "" {
		return false
	}
	n := min(len(a.End), len(b.Start), len("2006-01-02"))
	return a.End[:n] < b.Start[:n]
}

// correct updates an encounter with more reliable information from a later statement. An encounter that has ended stays
// ended.
func correct(before, e *r4.Encounter, stated, isOver bool) {
	if before.Class.Code == "UNK" {
		before.Class = e.Class
	}
	if len(before.Type) == 1 && len(before.Type[0].Coding) == 1 && before.Type[0].Coding[0].Code == before.Class.Code {
		before.Type = nil // The entry's codings include the class.
	}
	if stated || before.Status == "unknown" || before.Status == "in-progress" && e.Status == "finished" {
		before.Status = e.Status
	}
	if before.Period != nil && e.Period != nil && before.Period.End == "" {
		before.Period.End = e.Period.End
	}
	discharged := before.Hospitalization != nil && before.Hospitalization.Discharge != nil
	if before.Status == "in-progress" && (isOver || discharged) {
		before.Status = "finished"
	}
}

// diagnoses creates Conditions for an encounter's diagnoses (Encounter Diagnosis, 2.16.840.1.113883.10.20.22.4.80) and
// links them to the encounter.
func diagnoses(c *statement.Context, ref *r4.Reference, n *cda.Node) {
	e := emit.ResourceOf[r4.Encounter](c.Emit, ref)
	if e == nil {
		return
	}
	c.Named("Encounters", func() { convertDiagnoses(c, e, n) })
}

func convertDiagnoses(c *statement.Context, e *r4.Encounter, n *cda.Node) {
	for rel := range n.Each("entryRelationship") {
		var found []r4.Reference
		for act := range rel.Each("act") {
			if cda.IsTemplate(act, "2.16.840.1.113883.10.20.22.4.80") || cda.Has(act.At("code"), "29308-4") {
				found = append(found, c.Problems.ConvertAct(act)...)
			}
		}
		for problem := range rel.Each("observation") {
			if !c.Emit.IsTaken(problem) && problem.Attr("moodCode") != "GOL" && c.Problems.Is(problem) &&
				cda.IsTemplate(problem, "2.16.840.1.113883.10.20.22.4.4", "2.16.840.1.113883.10.20.1.28") {
				found = append(found, *c.Problems.Convert(problem, nil))
			}
		}
		for _, condition := range found {
			linkDiagnosis(c, e, condition)
		}
	}
}

// linkDiagnosis links a Condition to an encounter as a diagnosis. A refuted Condition was only suspected, so it is not
// linked.
func linkDiagnosis(c *statement.Context, e *r4.Encounter, condition r4.Reference) {
	told := emit.ResourceOf[r4.Condition](c.Emit, &condition)
	if told != nil && told.Encounter == nil {
		told.Encounter = e.Reference()
	}
	if told == nil || !told.Verification.Has(statement.ConditionVerified, "refuted") {
		encounter.AddDiagnosis(e, condition, nil)
	}
}
