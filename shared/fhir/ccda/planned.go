package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// plannedEntries are statements of what is to be done (C-CDA R2.1, Plan of Treatment Section).
func plannedEntries() []entryRule {
	const file = "planned.go"
	request := func(c *converter, n *node) { c.request(n) }
	return []entryRule{
		{roots: []string{plannedActRoot}, name: "Planned Act", target: "ServiceRequest", file: file, convert: request},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.41"}, name: "Planned Procedure", target: "ServiceRequest", file: file, convert: request},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.44"}, name: "Planned Observation", target: "ServiceRequest", file: file, convert: (*converter).plannedObservation},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.130"}, name: "Nutrition Recommendation", target: "ServiceRequest", file: file, convert: request},
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.40"}, name: "Planned Encounter",
			target: "Encounter (planned), ServiceRequest (asked for)", file: file, convert: (*converter).plannedEncounter,
		},
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.43"}, name: "Planned Supply", target: "MedicationRequest, DeviceRequest",
			file: file, convert: (*converter).plannedSupply,
		},
		{
			roots: instructionRoots(), name: "Instruction",
			target: "ServiceRequest, or part of what it is for", file: file, convert: (*converter).instruction,
		},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.140"}, name: "Patient Referral Act", target: "ServiceRequest", file: file, convert: (*converter).referral},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.141"}, name: "Handoff Communication Participants", target: "Communication", file: file, convert: (*converter).handoff},
		{roots: []string{"2.16.840.1.113883.10.20.1.25"}, name: "Plan of Care Activity (CCD)", target: "as the planned entry of its element", file: file, convert: (*converter).planActivity},
	}
}

const instructionRoot = "2.16.840.1.113883.10.20.22.4.20"

// planActivity takes an entry of a plan from before C-CDA, which has one template for all.
func (c *converter) planActivity(n *node) {
	for _, a := range planAssumptions() {
		if a.element == n.name && (a.mood == "" || a.mood == n.attr("moodCode")) {
			c.convertBy(a.root, n)
			return
		}
	}
}

// plannedObservation makes a Goal of what is to be reached and calls itself planned, as some senders have it.
func (c *converter) plannedObservation(n *node) {
	if n.attr("moodCode") == "GOL" {
		c.convertBy(goalRoot, n)
		return
	}
	c.request(n)
}

// request makes a ServiceRequest of a planned statement. C-CDA on FHIR has no page for plans: it follows the mapping of the
// C-CDA templates to the FHIR workflow pattern (workflow.html, request) and US Core ServiceRequest.
func (c *converter) request(n *node) *r4.Reference {
	r := &r4.ServiceRequest{
		Header: c.header("ServiceRequest", n), Identifier: identifiers(n), Status: requestStatus(n), Intent: intent(n.attr("moodCode")),
		Code: c.concept(n.at("code")), Subject: c.patient, Encounter: c.encounter, BodySite: append(c.concepts(n, "targetSiteCode"), c.concepts(n, "approachSiteCode")...),
		Priority: priority(n.at("priorityCode")), OrderDetail: c.concepts(n, "methodCode"),
	}
	if r.Code == nil {
		r.Code = c.inWords(n, n.at("code"))
	}
	r.Note = append(c.note(n, r.Code), c.comments(n)...)
	if isTrue(n.attr("negationInd")) {
		r.DoNotPerform = yes()
	}
	for value := range n.each("value") {
		if v, ok := c.value(value); v.ValueCodeableConcept != nil {
			r.OrderDetail = append(r.OrderDetail, *v.ValueCodeableConcept)
		} else if ok {
			r.Note = append(r.Note, r4.Annotation{Text: spoken(v)})
		}
	}
	r.Occurrence, r.OccurrencePeriod = c.effective(n.at("effectiveTime"))
	by := c.author(n)
	r.Requester, r.AuthoredOn = by.as("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson", "Device"), by.time
	for _, who := range c.performers(n) {
		if p := who.as("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson"); p != nil {
			r.Performer = appendReference(r.Performer, *p)
		}
	}
	told := append([]*node{n}, c.readRequestParts(r, n)...)
	ref := c.add(r, told...)
	c.after(ref, func() { c.relateRequest(ref, n) })
	return ref
}

// readRequestParts reads where, why and how, and gives the statements that it took for it. What is not for it stands for itself.
func (c *converter) readRequestParts(r *r4.ServiceRequest, n *node) []*node {
	var told []*node
	for p := range n.each("participant") {
		switch role := p.at("participantRole"); p.attr("typeCode") {
		case "LOC":
			r.LocationReference = append(r.LocationReference, listed(c.facility(role))...)
		case "IND":
			if role.at("playingDevice") == nil {
				r.SupportingInfo = append(r.SupportingInfo, listed(firstReference(c.party(p).as("RelatedPerson", "Practitioner", "Patient"), c.relatedPerson(role, nil)))...)
			}
		}
	}
	for rel := range n.each("entryRelationship") {
		for s := range rel.each() {
			switch {
			case isReason(rel, s):
				r.Reason = append(r.Reason, listed(c.concept(s.at("value")))...)
				told = append(told, s)
			case isInstruction(s):
				r.Instruction = joined(r.Instruction, c.text(s.at("text")))
				told = append(told, s)
			case n.attr("classCode") == "PCPR" && s.name == "observation" && s.at("value") != nil && codeOf(s.at("code")) == "ASSERTION":
				r.OrderDetail = append(r.OrderDetail, listed(c.concept(s.at("value")))...) // it stands for itself, too
			}
		}
	}
	return told
}

func isInstruction(s *node) bool {
	return s.name == "act" && isTemplate(s, instructionRoots()...)
}

// relateRequest adds what is known when everything has its resource: the reasons that stand elsewhere, who pays, the goals that
// it is for, and its parts.
func (c *converter) relateRequest(ref *r4.Reference, n *node) {
	r := resourceOf[r4.ServiceRequest](c, ref)
	if r == nil {
		return
	}
	all := without(c.related(n, "RSON", "REFR", "COMP", "SUBJ", "SPRT", "GEVL"), ref)
	for _, reason := range ofType(c.related(n, "RSON"), "Condition", "Observation", "DiagnosticReport", "DocumentReference") {
		if o := resourceOf[r4.Observation](c, &reason); o == nil || !isPreference(o) {
			r.ReasonReference = appendReference(r.ReasonReference, reason)
		}
	}
	r.Insurance = appendReference(r.Insurance, ofType(all, "Coverage")...)
	for around := outer(n); around != nil; around = outer(around) { // what a policy authorizes
		r.Insurance = appendReference(r.Insurance, ofType(listed(c.reference(around)), "Coverage")...)
	}
	for _, goal := range ofType(all, "Goal") {
		pertainsToGoal(&r.Header, goal)
	}
	for _, other := range all {
		if len(ofType([]r4.Reference{other}, "Coverage", "Goal")) == 0 && len(without(r.ReasonReference, &other)) == len(r.ReasonReference) {
			r.SupportingInfo = appendReference(r.SupportingInfo, other)
		}
	}
}

// pertainsToGoal says which goal something is for (FHIR extension resource-pertainsToGoal).
func pertainsToGoal(head *r4.Header, goal r4.Reference) {
	const url = "http://hl7.org/fhir/StructureDefinition/resource-pertainsToGoal"
	for _, e := range head.Extension {
		if e.URL == url && e.ValueReference.Reference == goal.Reference {
			return
		}
	}
	head.Extension = append(head.Extension, r4.Extension{URL: url, ValueReference: &goal})
}

// referral makes a ServiceRequest for care by somebody else.
func (c *converter) referral(n *node) {
	if r := resourceOf[r4.ServiceRequest](c, c.request(n)); r != nil && r.Category == nil {
		r.Category = []r4.CodeableConcept{*one("http://snomed.info/sct", "3457005", "Patient referral (procedure)")}
	}
}

// instruction makes a ServiceRequest of what the patient is to be told, where it stands by itself.
func (c *converter) instruction(n *node) {
	words := c.text(n.at("text"))
	r := resourceOf[r4.ServiceRequest](c, c.request(n))
	if r == nil {
		return
	}
	if r.Instruction == "" {
		r.Instruction, r.Note = words, c.comments(n)
	}
	if r.Category == nil {
		r.Category = []r4.CodeableConcept{*one("http://snomed.info/sct", "409073007", "Education (procedure)")}
	}
}

// plannedEncounter makes an Encounter that is planned, or, while it is only asked for or proposed, a ServiceRequest (mood of
// Planned Encounter, 2.16.840.1.113883.10.20.22.4.40).
func (c *converter) plannedEncounter(n *node) {
	if isOneOf(n.attr("moodCode"), "RQO", "PRP", "ARQ") || len(c.concepts(n, "code")) == 0 && n.at("effectiveTime") == nil {
		c.request(n)
		return
	}
	e := c.newEncounter(n)
	if e.Status != "cancelled" && e.Status != "entered-in-error" {
		e.Status = "planned"
	}
	e.Header = c.header("Encounter", n)
	for p := range n.each("performer") {
		c.addParticipant(e, p, "PPRF")
	}
	for p := range n.each("participant") {
		if at := c.facility(p.at("participantRole")); at != nil && p.attr("typeCode") == "LOC" {
			e.Location = append(e.Location, r4.EncounterLocation{Location: at})
		}
	}
	told := []*node{n}
	for rel := range n.each("entryRelationship") {
		for s := range rel.each() {
			if isReason(rel, s) {
				e.Reason = append(e.Reason, listed(c.concept(s.at("value")))...)
				told = append(told, s)
			}
		}
	}
	c.add(e, told...)
}

// plannedSupply makes a MedicationRequest of a medication or vaccine that is to be handed out, and a DeviceRequest of anything
// else.
func (c *converter) plannedSupply(n *node) {
	if n.at("product", "manufacturedProduct") != nil {
		c.convertBy(supplyOrderRoot, n)
		return
	}
	device := n
	for p := range n.each("participant") {
		if role := p.at("participantRole"); role.at("playingDevice") != nil {
			device = role.at("playingDevice")
		}
	}
	r := &r4.DeviceRequest{
		Header: c.header("DeviceRequest", n), Identifier: identifiers(n), Status: requestStatus(n), Intent: intent(n.attr("moodCode")),
		Code: c.conceptOr(firstNode(device.at("code"), n.at("code"))), Subject: c.patient, Note: c.comments(n),
	}
	if words := c.text(n.at("text")); r.Code.Text == "" {
		r.Code.Text = words
	}
	r.Occurrence, r.OccurrencePeriod = c.effective(n.at("effectiveTime"))
	for _, of := range [][2]string{{"quantity", "Quantity"}, {"repeatNumber", "Number of fills"}} {
		if amount := quantity(n.at(of[0])); amount != nil {
			r.Parameter = append(r.Parameter, r4.Parameter{Code: &r4.CodeableConcept{Text: of[1]}, ValueQuantity: amount})
		}
	}
	by := c.author(n)
	r.Requester, r.AuthoredOn = by.as("Practitioner", "PractitionerRole", "Organization", "Device"), by.time
	for _, who := range c.performers(n) {
		r.Performer = firstReference(r.Performer, who.as("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson"))
	}
	c.add(r, n)
}

// handoff makes a Communication of who has been told of the patient's care.
func (c *converter) handoff(n *node) {
	r := &r4.Communication{
		Header: c.header("Communication", n), Identifier: identifiers(n), Status: communicationStatus(n), Category: c.concepts(n, "code"),
		Subject: c.patient, Encounter: c.encounter, Sent: c.start(n.at("effectiveTime")), Note: append(c.note(n, nil), c.comments(n)...),
	}
	r.Sender = c.author(n).as("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson", "Device")
	for p := range n.each("participant") {
		if who := c.party(p).as("Practitioner", "PractitionerRole", "Organization", "RelatedPerson", "Patient"); who != nil {
			r.Recipient = appendReference(r.Recipient, *who)
		}
	}
	c.add(r, n)
}

func communicationStatus(n *node) string {
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "active", "new", "ordered":
		return "in-progress"
	case "completed":
		return "completed"
	case "aborted", "cancelled", "canceled":
		return "stopped"
	case "suspended", "held":
		return "on-hold"
	case "nullified", "obsolete":
		return "entered-in-error"
	}
	return "unknown"
}

// requestStatus maps ActStatus to the status of a request.
func requestStatus(n *node) string {
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "active", "new", "":
		return "active"
	case "held", "suspended":
		return "on-hold"
	case "completed":
		return "completed"
	case "aborted", "cancelled", "canceled":
		return "revoked"
	case "nullified", "obsolete":
		return "entered-in-error"
	}
	return "unknown"
}

// intent maps a mood to the intent of a request (ActMood; request-intent).
func intent(mood string) string {
	switch mood {
	case "RQO":
		return "order"
	case "PRP", "ARQ", "GOL":
		return "proposal"
	}
	return "plan"
}

// priority maps ActPriority to the priorities that FHIR has for requests; "" for any other.
func priority(n *node) string {
	return lookup("\nA asap\nCR asap\nS stat\nEM stat\nUR urgent\nR routine\nEL routine\nP routine\n", codeOf(n))
}
