package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// immunizationSections is the section whose entries are immunizations.
func immunizationSections() []sectionRule {
	return []sectionRule{{
		codes: []string{"11369-6"}, name: "Immunizations", titles: []string{"immunizations", "immunization history", "vaccinations"}, file: "immunizations.go",
		roots: []string{
			"2.16.840.1.113883.10.20.22.2.2", "2.16.840.1.113883.10.20.1.6", "1.3.6.1.4.1.19376.1.5.3.1.3.23", "2.16.840.1.113883.3.88.11.83.117",
		},
		assume: []assumption{{"substanceAdministration", "", immunizationRoot}},
		shared: []string{"2.16.840.1.113883.10.20.1.24", "2.16.840.1.113883.10.20.22.4.16"},
	}}
}

const immunizationRoot = "2.16.840.1.113883.10.20.22.4.52"

func immunizationEntries() []entryRule {
	return []entryRule{{
		roots: []string{immunizationRoot, "2.16.840.1.113883.3.88.11.83.13", "1.3.6.1.4.1.19376.1.5.3.1.4.12"}, name: "Immunization Activity",
		target: "Immunization, MedicationRequest (planned)", file: "immunizations.go", convert: (*converter).immunization,
	}}
}

// immunization makes an Immunization (C-CDA on FHIR, "Immunizations"; US Core Immunization). One that is planned is asked for
// like a medication, since FHIR has no request of its own for it.
func (c *converter) immunization(n *node) {
	if mood := n.attr("moodCode"); mood != "" && mood != "EVN" {
		c.convertBy(plannedMedicationRoot, n)
		return
	}
	made := n.at("consumable", "manufacturedProduct")
	material := firstNode(made.at("manufacturedMaterial"), made.at("manufacturedLabeledDrug"))
	im := &r4.Immunization{
		Header: c.header("Immunization", n), Identifier: identifiers(n), Status: immunizationStatus(n), Patient: c.patient,
		VaccineCode: c.substance(material), Occurrence: c.start(n.at("effectiveTime")), Manufacturer: c.organization(made.at("manufacturerOrganization")),
		LotNumber: material.at("lotNumberText").words(), ExpirationDate: c.date(material.at("expirationTime")),
		Site: c.concept(n.at("approachSiteCode")), Route: c.concept(n.at("routeCode")), DoseQuantity: quantity(n.at("doseQuantity")),
		Location: c.place(n), Note: c.comments(n), Performer: c.immunizers(n),
	}
	if im.VaccineCode == nil {
		im.VaccineCode = absentConcept(material.at("code"))
		im.VaccineCode.Text = c.text(n.at("text"))
	}
	if im.Occurrence == "" {
		im.OccurrenceAbsent = absent(n.at("effectiveTime"))
	}
	if own := n.at("author"); own != nil {
		im.Recorded = c.dateTime(own.at("time"))
	}
	told := []*node{n}
	for rel := range n.each("entryRelationship") {
		for inner := range rel.each() {
			if c.readImmunizationPart(im, rel, inner) {
				told = append(told, inner)
			}
		}
	}
	if dose := whole(n.at("repeatNumber")); dose != nil && *dose > 0 && im.Protocol == nil {
		im.Protocol = []r4.ImmunizationProtocol{{DoseNumber: *dose}}
	}
	c.add(im, told...)
}

// immunizationStatus maps ActStatus (ConceptMap of "C-CDA on FHIR" for ImmunizationStatus). One without a status that a document
// tells of has been given.
func immunizationStatus(n *node) string {
	if isTrue(n.attr("negationInd")) {
		return "not-done"
	}
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "aborted", "cancelled", "canceled", "held", "new", "obsolete", "suspended":
		return "not-done"
	case "nullified":
		return "entered-in-error"
	}
	return "completed"
}

// immunizers gives who gave it, and who entered it (v2-0443).
func (c *converter) immunizers(n *node) []r4.ImmunizationPerformer {
	const functions = "http://terminology.hl7.org/CodeSystem/v2-0443"
	var list []r4.ImmunizationPerformer
	add := func(p *node, function *r4.CodeableConcept) {
		if actor := c.party(p).as("Practitioner", "PractitionerRole", "Organization"); actor != nil {
			list = append(list, r4.ImmunizationPerformer{Function: function, Actor: actor})
		}
	}
	for p := range n.each("performer") {
		add(p, one(functions, "AP", "Administering Provider"))
	}
	for p := range n.each("author") {
		add(p, one(functions, "EP", "Entering Provider (probably not the same as transcriptionist?)"))
	}
	return list
}

// readImmunizationPart reads a statement in an immunization and reports whether that is all that it is for.
func (c *converter) readImmunizationPart(im *r4.Immunization, rel, n *node) bool {
	var dose *int32
	switch {
	case isTemplate(n, "2.16.840.1.113883.10.20.22.4.53") || rel.attr("typeCode") == "RSON" && im.Status == "not-done" && n.name == "observation":
		if im.StatusReason = c.concept(n.at("code")); im.StatusReason == nil || codeOf(n.at("code")) == "ASSERTION" {
			im.StatusReason = c.concept(n.at("value"))
		}
		return true
	case isReason(rel, n):
		im.Reason, im.ReasonReference = c.reason(n, im.Reason, im.ReasonReference)
		return true
	case isTemplate(n, "2.16.840.1.113883.10.20.22.4.118"): // Substance Administered Act
		dose = whole(rel.at("sequenceNumber"))
	case has(n.at("code"), "30973-2"): // dose number
		dose = whole(n.at("value"))
	case n.name == "observation" && isReaction(rel, n):
		c.immunizationReaction(im, n)
		return false
	case n.name == "act" && isTemplate(n, "2.16.840.1.113883.10.20.22.4.20", "2.16.840.1.113883.10.20.1.49"):
		if words := c.text(n.at("text")); words != "" {
			im.Note = append(im.Note, r4.Annotation{Text: words})
		}
		return true
	default:
		return false
	}
	if dose != nil && *dose > 0 && im.Protocol == nil {
		im.Protocol = []r4.ImmunizationProtocol{{DoseNumber: *dose}}
	}
	return true
}

// immunizationReaction makes an Observation of what came of an immunization, which FHIR has beside it. How severe it was is a
// component.
func (c *converter) immunizationReaction(im *r4.Immunization, n *node) {
	o := c.observed(n, one(observationCategory, "exam", "Exam"))
	told := []*node{n}
	if severity := severityOf(n); severity != nil {
		o.Component = append(o.Component, component(c.observation(severity)))
		told = append(told, severity)
	}
	setAbsent(o, n.at("value"))
	ref := c.add(o, told...)
	im.Reaction = append(im.Reaction, r4.ImmunizationReaction{Date: c.start(n.at("effectiveTime")), Detail: ref})
}
