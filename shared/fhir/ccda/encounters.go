package ccda

import "recordbridge/shared/fhir/ccda/r4"

// encounterSections is the section whose entries are encounters.
func encounterSections() []sectionRule {
	return []sectionRule{{
		codes: []string{"46240-8"}, name: "Encounters", titles: []string{"encounters", "history of encounters", "encounter"}, file: "encounters.go",
		roots:  []string{"2.16.840.1.113883.10.20.22.2.22", "2.16.840.1.113883.10.20.1.3", "1.3.6.1.4.1.19376.1.5.3.1.1.5.3.3", "2.16.840.1.113883.3.88.11.83.127"},
		assume: []assumption{{"encounter", "", "2.16.840.1.113883.10.20.22.4.49"}},
		shared: []string{"1.3.6.1.4.1.19376.1.5.3.1.4.14"},
	}}
}

func encounterEntries() []entryRule {
	const file = "encounters.go"
	return []entryRule{
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.49", "2.16.840.1.113883.10.20.1.21", "2.16.840.1.113883.3.88.11.83.16"},
			name:  "Encounter Activity", target: "Encounter, Location, Condition", file: file, convert: (*converter).encounterActivity,
		},
	}
}

// encounterActivity makes an Encounter, or completes the one of the same id in the header (C-CDA on FHIR, "Encounters").
func (c *converter) encounterActivity(n *node) {
	if n.at("code") == nil && n.at("effectiveTime") == nil && len(c.acts[realID(n)]) > 1 {
		c.take(n) // it only says in which encounter something else was
		return
	}
	e := c.newEncounter(n)
	if e.Type == nil {
		if words := c.text(n.at("text")); words != "" {
			e.Type = []r4.CodeableConcept{{Text: words}}
		}
	}
	for p := range n.each("performer") {
		c.addParticipant(e, p, "PPRF")
	}
	for p := range n.each("author") {
		c.addParticipant(e, p, "AUT")
	}
	for p := range n.each("participant") {
		role := p.at("participantRole")
		if p.attr("typeCode") != "LOC" {
			c.addParticipant(e, p, firstOf(p.attr("typeCode"), "PART"))
			continue
		}
		if at := c.facility(role); at != nil {
			e.Location = append(e.Location, r4.EncounterLocation{Location: at, Period: c.period(p.at("time"))})
		}
	}
	codes, references, reasons := c.reasons(n)
	e.Reason, e.ReasonReference = codes, references
	told := append([]*node{n}, reasons...)
	ref := c.addEncounter(e, told...)
	c.diagnoses(ref, n)
}

// addEncounter adds an encounter that may be known from the header, which says less: what it is sure of stays.
func (c *converter) addEncounter(e *r4.Encounter, told ...*node) *r4.Reference {
	if before := resourceOf[r4.Encounter](c, e.Reference()); before != nil && (isBefore(before.Period, e.Period) || isBefore(e.Period, before.Period)) {
		e.ID = derive(e.ID, e.Period.Start) // an id that a sender gives to all of them
	}
	if before := resourceOf[r4.Encounter](c, e.Reference()); before != nil {
		correct(before, e, told[0].at("statusCode") != nil)
		c.merged++
	}
	ref := c.addEntity(e)
	if !isKept(ref) {
		return ref
	}
	head := c.resources[c.index[ref.Reference]].Base()
	for _, n := range told {
		c.take(n)
		c.tagUntold(head, n)
		c.attribute(head, n, told[0])
		c.tell(n, head)
	}
	c.open.add(*ref)
	return ref
}

// isBefore reports whether a period has ended on a day before that on which another starts.
func isBefore(a, b *r4.Period) bool {
	if a == nil || b == nil || a.End == "" || b.Start == "" {
		return false
	}
	n := min(len(a.End), len(b.Start), len("2006-01-02"))
	return a.End[:n] < b.Start[:n]
}

// correct takes what a later statement of an encounter knows better.
func correct(before, e *r4.Encounter, stated bool) {
	if before.Class.Code == "UNK" {
		before.Class = e.Class
	}
	if len(before.Type) == 1 && len(before.Type[0].Coding) == 1 && before.Type[0].Coding[0].Code == before.Class.Code {
		before.Type = nil // the entry has it with its other codes
	}
	if stated || before.Status == "unknown" || before.Status == "in-progress" && e.Status == "finished" {
		before.Status = e.Status
	}
	if before.Period != nil && e.Period != nil && before.Period.End == "" {
		before.Period.End = e.Period.End
	}
}

// diagnoses makes Conditions of the diagnoses of an encounter (Encounter Diagnosis, 2.16.840.1.113883.10.20.22.4.80), and links
// both.
func (c *converter) diagnoses(ref *r4.Reference, n *node) {
	e := resourceOf[r4.Encounter](c, ref)
	if e == nil {
		return
	}
	within := c.within
	c.within = "Encounters"
	defer func() { c.within = within }()
	for rel := range n.each("entryRelationship") {
		var found []r4.Reference
		for act := range rel.each("act") {
			if isTemplate(act, "2.16.840.1.113883.10.20.22.4.80") || has(act.at("code"), "29308-4") {
				found = append(found, c.problemAct(act)...)
			}
		}
		for problem := range rel.each("observation") {
			if !c.isTaken(problem) && problem.attr("moodCode") != "GOL" && c.isProblem(problem) && isTemplate(problem, "2.16.840.1.113883.10.20.22.4.4", "2.16.840.1.113883.10.20.1.28") {
				found = append(found, *c.problem(problem, nil))
			}
		}
		for _, condition := range found {
			if told := resourceOf[r4.Condition](c, &condition); told != nil && told.Encounter == nil {
				told.Encounter = ref
			}
			c.addDiagnosis(e, condition, nil)
		}
	}
}

// addDiagnosis links an encounter with a diagnosis, and what it was to the encounter where that is known.
func (c *converter) addDiagnosis(e *r4.Encounter, condition r4.Reference, use *r4.CodeableConcept) {
	for i := range e.Diagnosis {
		known := &e.Diagnosis[i]
		if known.Condition.Reference != condition.Reference {
			continue
		}
		if known.Use == nil {
			known.Use = use
		}
		if use == nil || known.Use.Coding[0].Code == use.Coding[0].Code {
			return
		}
	}
	e.Diagnosis = append(e.Diagnosis, r4.EncounterDiagnosis{Condition: &condition, Use: use})
}
