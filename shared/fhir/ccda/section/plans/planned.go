package plans

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/encounter"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// planActivity converts a plan entry from a document older than C-CDA, in which all plan entries have the same
// template.
func planActivity(c *statement.Context, n *cda.Node) {
	for _, a := range planAssumptions() {
		if a.Element == n.Name && (a.Mood == "" || a.Mood == n.Attr("moodCode")) {
			c.Rules.ConvertBy(a.Root, n)
			return
		}
	}
}

// plannedObservation creates a Goal for a target that some senders label as planned.
func plannedObservation(c *statement.Context, n *cda.Node) {
	if n.Attr("moodCode") == "GOL" {
		c.Rules.ConvertBy(statement.GoalRoot, n)
		return
	}
	request(c, n)
}

// request creates a ServiceRequest for a planned statement. C-CDA on FHIR doesn't cover plans, so the rule follows the
// FHIR workflow pattern (workflow.html, request) and US Core ServiceRequest.
func request(c *statement.Context, n *cda.Node) *r4.Reference {
	r := &r4.ServiceRequest{
		Header: c.Emit.Header("ServiceRequest", n), Identifier: datatype.Identifiers(n), Status: requestStatus(n),
		Intent: intent(n.Attr("moodCode")),
		Code:   c.Read.Concept(n.At("code")), Subject: c.Patient, Encounter: c.Encounter,
		BodySite: append(c.Read.Concepts(n, "targetSiteCode"), c.Read.Concepts(n, "approachSiteCode")...),
		Priority: priority(n.At("priorityCode")), OrderDetail: c.Read.Concepts(n, "methodCode"),
	}
	if r.Code == nil {
		r.Code = c.Read.InWords(n, n.At("code"))
	}
	r.Note = append(c.Read.Note(n, r.Code), c.Comments(n)...)
	if cda.IsNegated(n) {
		r.DoNotPerform = r4.True()
	}
	for value := range n.Each("value") {
		if v, ok := c.Read.Value(value); v.ValueCodeableConcept != nil {
			r.OrderDetail = append(r.OrderDetail, *v.ValueCodeableConcept)
		} else if ok {
			r.Note = append(r.Note, r4.Annotation{Text: datatype.Spoken(v)})
		}
	}
	r.Occurrence, r.OccurrencePeriod = c.Read.Effective(n.At("effectiveTime"))
	by := c.Make.Author(n)
	r.Requester, r.AuthoredOn = by.As(
		"Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson", "Device",
	), by.Time
	for _, who := range c.Make.Performers(n) {
		if p := who.As("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson"); p != nil {
			r.Performer = r4.AppendReference(r.Performer, *p)
		}
	}
	told := append([]*cda.Node{n}, readRequestParts(c, r, n)...)
	ref := c.Add(r, told...)
	c.Emit.After(ref, n, func(n *cda.Node) { relateRequest(c, ref, n) })
	return ref
}

// readRequestParts converts the location, reason and method, and returns the statements that it converted. All other
// nested statements become separate resources.
func readRequestParts(c *statement.Context, r *r4.ServiceRequest, n *cda.Node) []*cda.Node {
	var told []*cda.Node
	for p := range n.Each("participant") {
		switch role := p.At("participantRole"); p.Attr("typeCode") {
		case "LOC":
			r.LocationReference = append(r.LocationReference, r4.Listed(c.Make.Facility(role))...)
		case "IND":
			if role.At("playingDevice") == nil {
				r.SupportingInfo = append(r.SupportingInfo, r4.Listed(
					cmp.Or(
						c.Make.Party(p).As("RelatedPerson", "Practitioner", "Patient"), c.Make.RelatedPerson(role, nil),
					),
				)...)
			}
		}
	}
	for rel := range n.Each("entryRelationship") {
		for s := range rel.Each() {
			switch {
			case statement.IsReason(rel, s):
				r.Reason = append(r.Reason, r4.Listed(c.Read.Concept(s.At("value")))...)
				told = append(told, s)
			case statement.IsInstruction(s):
				r.Instruction = datatype.Joined(r.Instruction, c.Read.Text(s.At("text")))
				told = append(told, s)
			case n.Attr("classCode") == "PCPR" && s.Name == "observation" && s.At("value") != nil &&
				cda.CodeOf(s.At("code")) == "ASSERTION":
				// The statement also becomes a separate resource.
				r.OrderDetail = append(r.OrderDetail, r4.Listed(c.Read.Concept(s.At("value")))...)
			}
		}
	}
	return told
}

// relateRequest adds to a request the references to reasons in other sections, the coverage, the goals and the
// request's parts. relateRequest runs after all resources have been created.
func relateRequest(c *statement.Context, ref *r4.Reference, n *cda.Node) {
	r := emit.ResourceOf[r4.ServiceRequest](c.Emit, ref)
	if r == nil {
		return
	}
	all := r4.Without(c.Related(n, "RSON", "REFR", "COMP", "SUBJ", "SPRT", "GEVL"), ref)
	for _, reason := range r4.OfType(
		c.Related(n, "RSON"), "Condition", "Observation", "DiagnosticReport", "DocumentReference",
	) {
		if o := emit.ResourceOf[r4.Observation](c.Emit, &reason); o == nil || !statement.IsPreference(o) {
			r.ReasonReference = r4.AppendReference(r.ReasonReference, reason)
		}
	}
	r.Insurance = r4.AppendReference(r.Insurance, r4.OfType(all, "Coverage")...)
	for around := cda.Outer(n); around != nil; around = cda.Outer(around) { // find a policy that authorizes the request
		r.Insurance = r4.AppendReference(r.Insurance, r4.OfType(r4.Listed(c.Emit.Reference(around)), "Coverage")...)
	}
	for _, goal := range r4.OfType(all, "Goal") {
		statement.PertainsToGoal(&r.Header, goal)
	}
	for _, other := range all {
		if len(r4.OfType([]r4.Reference{other}, "Coverage", "Goal")) == 0 &&
			len(r4.Without(r.ReasonReference, &other)) == len(r.ReasonReference) {
			r.SupportingInfo = r4.AppendReference(r.SupportingInfo, other)
		}
	}
}

// referral creates a ServiceRequest for care by another provider.
func referral(c *statement.Context, n *cda.Node) {
	if r := emit.ResourceOf[r4.ServiceRequest](c.Emit, request(c, n)); r != nil && r.Category == nil {
		r.Category = []r4.CodeableConcept{
			*r4.Concept("http://snomed.info/sct", "3457005", "Patient referral (procedure)"),
		}
	}
}

// instruction creates a ServiceRequest for an instruction to the patient that is not part of another statement.
func instruction(c *statement.Context, n *cda.Node) {
	words := c.Read.Text(n.At("text"))
	r := emit.ResourceOf[r4.ServiceRequest](c.Emit, request(c, n))
	if r == nil {
		return
	}
	if r.Instruction == "" {
		r.Instruction, r.Note = words, c.Comments(n)
	}
	if r.Category == nil {
		r.Category = []r4.CodeableConcept{*r4.Concept("http://snomed.info/sct", "409073007", "Education (procedure)")}
	}
}

// plannedEncounter creates a planned Encounter. A requested or proposed encounter becomes a ServiceRequest instead
// (mood of Planned Encounter, 2.16.840.1.113883.10.20.22.4.40).
func plannedEncounter(c *statement.Context, n *cda.Node) {
	if cda.IsOneOf(n.Attr("moodCode"), "RQO", "PRP", "ARQ") ||
		len(c.Read.Concepts(n, "code")) == 0 && n.At("effectiveTime") == nil {
		request(c, n)
		return
	}
	e := encounter.New(c, n)
	if e.Status != "cancelled" && e.Status != "entered-in-error" {
		e.Status = "planned"
	}
	e.Header = c.Emit.Header("Encounter", n)
	for p := range n.Each("performer") {
		encounter.AddParticipant(c, e, p, "PPRF")
	}
	for p := range n.Each("participant") {
		if at := c.Make.Facility(p.At("participantRole")); at != nil && p.Attr("typeCode") == "LOC" {
			e.Location = append(e.Location, r4.EncounterLocation{Location: at})
		}
	}
	told := []*cda.Node{n}
	for rel := range n.Each("entryRelationship") {
		for s := range rel.Each() {
			if statement.IsReason(rel, s) {
				e.Reason = append(e.Reason, r4.Listed(c.Read.Concept(s.At("value")))...)
				told = append(told, s)
			}
		}
	}
	c.Add(e, told...)
}

// plannedSupply creates a MedicationRequest for a medication or vaccine to be dispensed, and a DeviceRequest for other
// supplies.
func plannedSupply(c *statement.Context, n *cda.Node) {
	if n.At("product", "manufacturedProduct") != nil {
		c.Rules.ConvertBy(statement.SupplyOrderRoot, n)
		return
	}
	device := n
	for p := range n.Each("participant") {
		if role := p.At("participantRole"); role.At("playingDevice") != nil {
			device = role.At("playingDevice")
		}
	}
	r := &r4.DeviceRequest{
		Header: c.Emit.Header("DeviceRequest", n), Identifier: datatype.Identifiers(n), Status: requestStatus(n),
		Intent: intent(n.Attr("moodCode")),
		Code:   c.Read.ConceptOr(cmp.Or(device.At("code"), n.At("code"))), Subject: c.Patient, Note: c.Comments(n),
	}
	if words := c.Read.Text(n.At("text")); r.Code.Text == "" {
		r.Code.Text = words
	}
	r.Occurrence, r.OccurrencePeriod = c.Read.Effective(n.At("effectiveTime"))
	for _, of := range [][2]string{{"quantity", "Quantity"}, {"repeatNumber", "Number of fills"}} {
		if amount := datatype.Quantity(n.At(of[0])); amount != nil {
			r.Parameter = append(r.Parameter, r4.Parameter{
				Code: &r4.CodeableConcept{Text: of[1]}, ValueQuantity: amount,
			})
		}
	}
	by := c.Make.Author(n)
	r.Requester, r.AuthoredOn = by.As("Practitioner", "PractitionerRole", "Organization", "Device"), by.Time
	for _, who := range c.Make.Performers(n) {
		r.Performer = cmp.Or(
			r.Performer, who.As("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson"),
		)
	}
	c.Add(r, n)
}

// handoff creates a Communication for a handoff of the patient's care.
func handoff(c *statement.Context, n *cda.Node) {
	r := &r4.Communication{
		Header: c.Emit.Header("Communication", n), Identifier: datatype.Identifiers(n), Status: communicationStatus(n),
		Category: c.Read.Concepts(n, "code"),
		Subject:  c.Patient, Encounter: c.Encounter, Sent: c.Read.Start(n.At("effectiveTime")),
		Note: append(c.Read.Note(n, nil), c.Comments(n)...),
	}
	r.Sender = c.Make.Author(n).As(
		"Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson", "Device",
	)
	for p := range n.Each("participant") {
		if who := c.Make.Party(p).As(
			"Practitioner", "PractitionerRole", "Organization", "RelatedPerson", "Patient",
		); who != nil {
			r.Recipient = r4.AppendReference(r.Recipient, *who)
		}
	}
	c.Add(r, n)
}

func communicationStatus(n *cda.Node) string {
	return cmp.Or(communicationStatuses.Of(cda.StatusOf(n)), "unknown")
}

// requestStatus maps ActStatus to a request's status.
func requestStatus(n *cda.Node) string {
	return cmp.Or(requestStatuses.Of(cda.StatusOf(n)), "unknown")
}

// intent maps a mood to a request's intent (ActMood; request-intent).
func intent(mood string) string {
	return cmp.Or(intents.Of(mood), "plan")
}

// priority maps ActPriority to FHIR's request priorities. It returns "" for any other code.
func priority(n *cda.Node) string {
	return priorities.Of(cda.CodeOf(n))
}
