package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// procedureSections is the section whose entries are procedures.
func procedureSections() []sectionRule {
	return []sectionRule{{
		codes: []string{"47519-4"}, name: "Procedures", titles: []string{"procedures", "history of procedures", "surgical history", "procedure history"}, file: "procedures.go",
		roots: []string{
			"2.16.840.1.113883.10.20.22.2.7", "2.16.840.1.113883.10.20.1.12", "1.3.6.1.4.1.19376.1.5.3.1.3.11", "1.3.6.1.4.1.19376.1.5.3.1.3.12",
			"2.16.840.1.113883.3.88.11.83.108", "2.16.840.1.113883.3.88.11.83.145",
		},
		assume: []assumption{
			{"procedure", "", "2.16.840.1.113883.10.20.22.4.14"},
			{"observation", "", "2.16.840.1.113883.10.20.22.4.13"},
			{"act", "", "2.16.840.1.113883.10.20.22.4.12"},
		},
		shared: []string{"2.16.840.1.113883.10.20.1.29"},
	}}
}

func procedureEntries() []entryRule {
	const file = "procedures.go"
	return []entryRule{
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.14", "2.16.840.1.113883.10.20.1.29", "2.16.840.1.113883.3.88.11.83.17", "1.3.6.1.4.1.19376.1.5.3.1.4.19"},
			name:  "Procedure Activity Procedure", target: "Procedure, ServiceRequest (planned)", file: file, convert: (*converter).procedure,
		},
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.12"}, name: "Procedure Activity Act",
			target: "Procedure, ServiceRequest (planned)", file: file, convert: (*converter).procedure,
		},
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.13"}, name: "Procedure Activity Observation",
			target: "Observation, ServiceRequest (planned)", file: file, convert: (*converter).procedureObservation,
		},
	}
}

// procedure makes a Procedure of what has been done (C-CDA on FHIR, "Procedures"; US Core Procedure).
func (c *converter) procedure(n *node) {
	switch mood := n.attr("moodCode"); {
	case n.name == "observation":
		c.procedureObservation(n)
		return
	case mood != "" && mood != "EVN":
		c.yetToDo(n)
		return
	case has(n.at("code"), "17636008") && outer(n) != nil && outer(n).name == "organizer":
		c.convertBy(specimenCollectionRoot, n)
		return
	}
	p := &r4.Procedure{
		Header: c.header("Procedure", n), Identifier: identifiers(n), Status: procedureStatus(n), Code: c.procedureCode(n), Subject: c.patient,
		BodySite: c.concepts(n, "targetSiteCode"), Note: c.comments(n), Location: c.place(n), Performer: c.procedurePerformers(n),
	}
	if p.Performed, p.PerformedPeriod = c.effective(n.at("effectiveTime")); p.Performed == "" && p.PerformedPeriod == nil {
		p.PerformedAbsent = absent(n.at("effectiveTime"))
	}
	p.Recorder = c.author(n).as("Practitioner", "PractitionerRole", "Patient", "RelatedPerson")
	p.Asserter = c.party(n.at("informant")).as("Patient", "RelatedPerson", "Practitioner", "PractitionerRole")
	for method := range n.each("methodCode") {
		if how := c.concept(method); how != nil {
			p.Extension = append(p.Extension, r4.Extension{URL: "http://hl7.org/fhir/StructureDefinition/procedure-method", ValueCodeableConcept: how})
		}
	}
	for _, code := range append(c.concepts(n, "approachSiteCode"), c.concepts(n, "priorityCode")...) {
		p.Tag(code.Coding...)
	}
	for _, device := range c.devices(n) {
		p.FocalDevice = append(p.FocalDevice, r4.FocalDevice{Manipulated: device})
	}
	codes, references, reasons := c.reasons(n)
	p.Reason, p.ReasonReference = codes, references
	told := append([]*node{n}, reasons...)
	ref := c.add(p, told...)
	c.tookSpecimens(n, ref)
	c.after(ref, func() { c.relateProcedure(ref, n) })
}

// procedureCode is the code, or else the words that a statement without one has.
func (c *converter) procedureCode(n *node) *r4.CodeableConcept {
	code := c.concept(n.at("code"))
	if code == nil {
		if words := c.text(n.at("text")); words != "" {
			return &r4.CodeableConcept{Text: words}
		}
		return absentConcept(n.at("code"))
	}
	return code
}

// procedureStatus maps ActStatus (ConceptMap of "C-CDA on FHIR" for ProcedureStatus).
func procedureStatus(n *node) string {
	if isTrue(n.attr("negationInd")) {
		return "not-done"
	}
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "completed":
		return "completed"
	case "active":
		return "in-progress"
	case "aborted":
		return "stopped"
	case "cancelled", "canceled":
		return "not-done"
	case "new":
		return "preparation"
	case "held", "suspended":
		return "on-hold"
	case "nullified", "obsolete":
		return "entered-in-error"
	}
	return "unknown"
}

func (c *converter) procedurePerformers(n *node) []r4.ProcedurePerformer {
	var list []r4.ProcedurePerformer
	for performer := range n.each("performer") {
		if actor := c.party(performer).as("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson", "Device"); actor != nil {
			list = append(list, r4.ProcedurePerformer{Function: c.concept(performer.at("functionCode")), Actor: actor})
		}
	}
	return list
}

// place gives the Location of a statement (Service Delivery Location, 2.16.840.1.113883.10.20.22.4.32).
func (c *converter) place(n *node) *r4.Reference {
	for p := range n.each("participant") {
		if p.attr("typeCode") == "LOC" {
			return c.facility(p.at("participantRole"))
		}
	}
	return nil
}

// isReason reports whether a statement in another says why that is (Indication, 2.16.840.1.113883.10.20.22.4.19).
func isReason(rel, n *node) bool {
	return n.name == "observation" && n.at("value") != nil && (isTemplate(n, indicationRoot) || rel.attr("typeCode") == "RSON" && n.at("templateId") == nil)
}

// reason adds why something is: the code, and the Condition when the document has one of the same id before (C-CDA on FHIR,
// "Encounters": indication).
func (c *converter) reason(n *node, codes []r4.CodeableConcept, references []r4.Reference) ([]r4.CodeableConcept, []r4.Reference) {
	for _, other := range c.acts[realID(n)] {
		if ref := c.reference(other); ref != nil && strings.HasPrefix(ref.Reference, "Condition/") {
			references = appendReference(references, *ref)
		}
	}
	return append(codes, listed(c.concept(n.at("value")))...), references
}

// reasons reads why something was done, and which statements say so.
func (c *converter) reasons(n *node) (codes []r4.CodeableConcept, references []r4.Reference, told []*node) {
	for rel := range n.each("entryRelationship") {
		for inner := range rel.each("observation") {
			if isReason(rel, inner) {
				codes, references = c.reason(inner, codes, references)
				told = append(told, inner)
			}
		}
	}
	return codes, references, told
}

// tookSpecimens makes Specimens of what a procedure took, and says which procedure it was.
func (c *converter) tookSpecimens(n *node, procedure *r4.Reference) {
	for _, ref := range c.specimens(n) {
		s := resourceOf[r4.Specimen](c, ref)
		if s == nil {
			continue
		}
		takenBy(s, procedure)
		if s.Collection.Collected == "" && s.Collection.CollectedPeriod == nil {
			s.Collection.Collected, s.Collection.CollectedPeriod = c.effective(n.at("effectiveTime"))
		}
		if s.Collection.BodySite == nil {
			s.Collection.BodySite = c.concept(n.at("targetSiteCode"))
		}
	}
}

// relateProcedure adds what statements in a procedure have become: complications, and the encounter that it was in.
func (c *converter) relateProcedure(ref *r4.Reference, n *node) {
	p := resourceOf[r4.Procedure](c, ref)
	if p == nil {
		return
	}
	for rel := range n.each("entryRelationship") {
		for inner := range rel.each() {
			other := c.pointed(inner)
			switch {
			case other == nil:
			case strings.HasPrefix(other.Reference, "Encounter/") && p.Encounter == nil:
				p.Encounter = other
			case strings.HasPrefix(other.Reference, "Condition/") && rel.attr("typeCode") != "RSON" && p.ReasonReference == nil:
				p.ComplicationDetail = appendReference(p.ComplicationDetail, *other)
			case strings.HasPrefix(other.Reference, "Condition/"):
				p.ReasonReference = appendReference(p.ReasonReference, *other)
			}
		}
	}
}

// procedureObservation makes an Observation of a procedure that observes something (C-CDA on FHIR, "Procedures": template
// selection).
func (c *converter) procedureObservation(n *node) {
	if mood := n.attr("moodCode"); mood != "" && mood != "EVN" {
		c.yetToDo(n)
		return
	}
	o := c.observed(n, one(observationCategory, "procedure", "Procedure"))
	told := []*node{n}
	for rel := range n.each("entryRelationship") {
		for inner := range rel.each("observation") {
			if isReason(rel, inner) {
				if why := c.concept(inner.at("value")); why != nil {
					o.Extension = append(o.Extension, r4.Extension{URL: "http://hl7.org/fhir/StructureDefinition/workflow-reasonCode", ValueCodeableConcept: why})
					told = append(told, inner)
				}
			}
		}
	}
	o.Specimen = firstReference(c.specimens(n)...)
	o.Device = firstReference(c.devices(n)...)
	if at := c.place(n); at != nil {
		o.Extension = append(o.Extension, r4.Extension{URL: "http://hl7.org/fhir/StructureDefinition/event-location", ValueReference: at})
	}
	o.Tag(codings(c.concepts(n, "priorityCode"))...)
	setAbsent(o, n.at("value"))
	c.add(o, told...)
}

func codings(list []r4.CodeableConcept) []r4.Coding {
	var all []r4.Coding
	for _, concept := range list {
		all = append(all, concept.Coding...)
	}
	return all
}
