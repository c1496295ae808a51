package medications

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/entity"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// medicationAct converts the medication inside a wrapping act in a hospital's medication list.
func medicationAct(c *statement.Context, act *cda.Node) {
	var told *r4.Header
	for r := range act.Each("entryRelationship") {
		for n := range r.Each("substanceAdministration") {
			medication(c, n)
			c.Emit.Take(act)
			told = c.Emit.Fact(n)
		}
	}
	if told == nil {
		return
	}
	c.Emit.SetFact(act, told)
	if act.At("code") != nil {
		c.TagUncovered(told, act)
	}
}

// medication creates a MedicationAdministration for an event in the Medications Administered Section, and a
// MedicationRequest for any other medication activity (C-CDA on FHIR, "Medications", row moodCode). MedicationRequest
// lists all of a patient's medications (US Core, "Medication List Guidance").
func medication(c *statement.Context, n *cda.Node) {
	m := readMedication(c, n)
	if isEvent(n) && c.Within == medicationsAdministered {
		c.Add(medicationAdministration(c, m), m.told...)
		return
	}
	c.Add(medicationRequest(c, m), m.told...)
}

// isEvent reports whether a statement describes a past or current event (mood EVN).
func isEvent(n *cda.Node) bool { return cda.IsOneOf(n.Attr("moodCode"), "", "EVN") }

// activity holds the content of a medication activity, regardless of the target resource type.
type activity struct {
	n        *cda.Node
	status   string // FHIR status of the medication
	concept  *r4.CodeableConcept
	product  *r4.Reference // replaces the concept if a code can't describe the product
	moment   string
	period   *r4.Period
	dosage   r4.Dosage
	reasons  []r4.CodeableConcept
	notes    []r4.Annotation
	author   entity.Party
	dispense *r4.DispenseRequest
	told     []*cda.Node
}

func readMedication(c *statement.Context, n *cda.Node) activity {
	m := activity{
		n: n, status: medicationStatus(c, n), author: c.Make.Author(n), notes: c.Comments(n), told: []*cda.Node{n},
	}
	m.concept, m.product = product(c, n)
	m.moment, m.period = c.Read.Effective(boundsOf(n))
	for r := range n.Each("entryRelationship") {
		for inner := range r.Each() {
			readPart(c, &m, r, inner)
		}
	}
	setDosage(c, &m)
	return m
}

// readPart adds a nested statement, such as an indication or an instruction, to a medication activity. Other nested
// statements become separate resources.
func readPart(c *statement.Context, m *activity, r, n *cda.Node) {
	switch {
	case n.Name == "observation" && !cda.IsNegated(n) && (cda.IsTemplate(n, statement.IndicationRoot) ||
		r.Attr("typeCode") == "RSON" && !cda.IsTemplate(n, statement.PreferenceRoot)):
		if reason := c.Read.Concept(n.At("value")); reason != nil {
			m.reasons = append(m.reasons, *reason)
			m.told = append(m.told, n)
		}
	case n.Name == "act" && cda.IsTemplate(n, statement.InstructionRoots()...):
		m.dosage.PatientInstruction = datatype.Joined(m.dosage.PatientInstruction, c.Read.Text(n.At("text")))
		m.dosage.AdditionalInstruction = append(m.dosage.AdditionalInstruction, r4.Listed(
			c.Read.Concept(n.At("code")),
		)...)
		m.told = append(m.told, n)
	case n.Name == "substanceAdministration" && (cda.Has(n.At("code"), "76662-6") ||
		cda.IsTemplate(n, "2.16.840.1.113883.10.20.22.4.147")):
		m.dosage.Text = c.Read.Text(n.At("text"))
		m.told = append(m.told, n)
	case n.Name == "observation" && cda.Has(n.At("code"), "33999-4") && !cda.IsNegated(n):
		if status := listStatuses.Of(cda.CodeOf(n.At("value"))); status != "" {
			m.status = status
		}
		m.told = append(m.told, n)
	case n.Name == "supply" && n.Attr("moodCode") != "" && n.Attr("moodCode") != "EVN" &&
		m.n.Attr("moodCode") != "EVN" && m.dispense == nil:
		m.dispense = dispenseRequest(c, n)
		m.told = append(m.told, n)
	}
}

// medicationStatus maps ActStatus to the status of a medication resource (C-CDA on FHIR, ConceptMap
// CF-MedicationStatus). The result is "unknown" if the status is missing or the status observation is negated. An
// active medication whose end precedes the document's time gets the status completed ("Medications": medication
// status).
func medicationStatus(c *statement.Context, n *cda.Node) string {
	status := cmp.Or(statuses.Of(cda.StatusOf(n)), "unknown")
	if _, denied := statement.StatusIn(n, listStatusRoot); denied && cda.IsOneOf(status, "active", "completed") {
		return "unknown"
	}
	if status == "active" && c.Document.IsPast(boundsOf(n).At("high")) {
		return "completed"
	}
	return status
}

// medicationRequest creates a MedicationRequest. An event (EVN) is a report, so its MedicationRequest names the
// informant and no requester. The Provenance names the author.
func medicationRequest(c *statement.Context, m activity) *r4.MedicationRequest {
	r := &r4.MedicationRequest{
		Header: c.Emit.Header("MedicationRequest", m.n), Identifier: datatype.Identifiers(m.n), Status: m.status,
		Intent:     medicationIntent(m.n),
		Medication: m.concept, MedicationRef: m.product, Subject: c.Patient, AuthoredOn: m.author.Time,
		Reason: m.reasons, Note: m.notes, Dispense: m.dispense,
	}
	if cda.IsNegated(m.n) {
		r.DoNotPerform = r4.True()
	}
	if !r4.IsEmpty(m.dosage) {
		r.Dosage = []r4.Dosage{m.dosage}
	}
	if isEvent(m.n) {
		r.ReportedBy = c.Make.Party(m.n.At("informant")).As(
			"Patient", "RelatedPerson", "Practitioner", "PractitionerRole", "Organization",
		)
		if r.ReportedBy == nil {
			r.Reported = r4.True()
		}
		return r
	}
	r.Requester = m.author.As(
		"Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson", "Device",
	)
	for _, who := range c.Make.Performers(m.n) {
		r.Performer = cmp.Or(
			r.Performer,
			who.As("Practitioner", "PractitionerRole", "Organization", "Patient", "Device", "RelatedPerson"),
		)
	}
	return r
}

// medicationIntent maps a mood to an intent (C-CDA on FHIR, ConceptMap CF-MedActivityMood). In a plan, the mood INT
// means "plan".
func medicationIntent(n *cda.Node) string {
	switch n.Attr("moodCode") {
	case "", "EVN":
		return "plan"
	case "INT":
		if cda.IsTemplate(
			n, "2.16.840.1.113883.10.20.22.4.42", "2.16.840.1.113883.10.20.22.4.43", "2.16.840.1.113883.10.20.22.4.120",
		) {
			return "plan"
		}
		return "order"
	case "RQO":
		return "order"
	}
	return "proposal"
}

func medicationAdministration(c *statement.Context, m activity) *r4.MedicationAdministration {
	a := &r4.MedicationAdministration{
		Header: c.Emit.Header("MedicationAdministration", m.n), Identifier: datatype.Identifiers(m.n),
		Status: administrationStatus(m), Medication: m.concept, MedicationRef: m.product,
		Subject: c.Patient, Context: c.Encounter, Effective: m.moment, EffectivePeriod: m.period, Reason: m.reasons,
		Note: m.notes,
	}
	if a.Effective == "" && a.EffectivePeriod == nil {
		a.EffectiveAbsent = datatype.Absent(boundsOf(m.n))
	}
	if words := schedule(m.dosage.Timing); words != "" { // In R4, MedicationAdministration has no frequency.
		a.Note = append(a.Note, r4.Annotation{Text: words})
	}
	for _, who := range c.Make.Performers(m.n) {
		if actor := who.As("Practitioner", "PractitionerRole", "Patient", "RelatedPerson", "Device"); actor != nil {
			a.Performer = append(a.Performer, r4.AdministrationPerformer{Actor: actor})
		}
	}
	d := m.dosage
	given := r4.AdministrationDosage{
		Text: cmp.Or(d.Text, d.PatientInstruction), Site: d.Site, Route: d.Route, Method: d.Method,
	}
	if len(d.DoseAndRate) > 0 {
		first := d.DoseAndRate[0]
		given.Dose, given.RateRatio, given.RateQuantity = first.DoseQuantity, first.RateRatio, first.RateQuantity
	}
	if given.Dose != nil || given.RateRatio != nil || given.RateQuantity != nil {
		a.Dosage = &given
		return a
	}
	if given.Text != "" { // Constraint mad-1: a dosage requires a dose or rate.
		a.Note = append(a.Note, r4.Annotation{Text: given.Text})
	}
	a.Tag(r4.Codings(r4.Listed(given.Route, given.Site, given.Method))...)
	return a
}

// administrationStatus returns a MedicationAdministration's status. An active medication maps to the status
// in-progress.
func administrationStatus(m activity) string {
	switch {
	case cda.IsNegated(m.n):
		return "not-done"
	case m.status == "active":
		return "in-progress"
	case m.status == "draft":
		return "unknown"
	case m.status == "cancelled":
		return "not-done"
	}
	return m.status
}
