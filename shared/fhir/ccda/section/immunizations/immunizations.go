package immunizations

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// immunization creates an Immunization (C-CDA on FHIR, "Immunizations"; US Core Immunization). A planned immunization
// becomes a MedicationRequest, because FHIR has no request resource for immunizations.
func immunization(c *statement.Context, n *cda.Node) {
	if mood := n.Attr("moodCode"); mood != "" && mood != "EVN" {
		c.Rules.ConvertBy(statement.PlannedMedicationRoot, n)
		return
	}
	made := n.At("consumable", "manufacturedProduct")
	material := cmp.Or(made.At("manufacturedMaterial"), made.At("manufacturedLabeledDrug"))
	im := &r4.Immunization{
		Header: c.Emit.Header("Immunization", n), Identifier: datatype.Identifiers(n), Status: immunizationStatus(c, n),
		Patient:     c.Patient,
		VaccineCode: c.Read.Substance(material), Occurrence: c.Read.Start(n.At("effectiveTime")),
		LotNumber: material.At("lotNumberText").Words(), ExpirationDate: c.Read.Date(material.At("expirationTime")),
		Site: c.Read.Concept(n.At("approachSiteCode")), Route: c.Read.Concept(n.At("routeCode")),
		DoseQuantity: c.Read.Dose(n.At("doseQuantity")), NoPrimarySource: datatype.Unsupported(),
		Location: c.Make.Place(n), Note: c.Comments(n), Performer: immunizers(c, n),
	}
	if maker := made.At("manufacturerOrganization"); !cda.IsNegated(n) {
		im.Manufacturer = c.Make.Organization(maker)
	} else if name := maker.At("name").Words(); name != "" { // A vaccine that was not given needs no Organization.
		im.Manufacturer = &r4.Reference{Display: name}
	}
	if im.VaccineCode == nil {
		im.VaccineCode = datatype.AbsentConcept(material.At("code"))
		im.VaccineCode.Text = c.Read.Text(n.At("text"))
	}
	if im.Occurrence == "" {
		im.OccurrenceAbsent = datatype.Absent(n.At("effectiveTime"))
	}
	if own := n.At("author"); own != nil {
		im.Recorded = c.Read.DateTime(own.At("time"))
	}
	if im.Status == "" {
		c.Emit.Take(n)
		c.Emit.Drop(cda.TemplateOrName(n), "no Immunization can state that its status is unknown")
		return
	}
	told := []*cda.Node{n}
	for rel := range n.Each("entryRelationship") {
		for inner := range rel.Each() {
			if readImmunizationPart(c, im, rel, inner) {
				told = append(told, inner)
			}
		}
	}
	if dose := c.Read.Count(n.At("repeatNumber")); dose != nil && *dose > 0 && im.Protocol == nil {
		im.Protocol = []r4.ImmunizationProtocol{{DoseNumber: *dose}}
	}
	c.Add(im, told...)
}

// immunizationStatus maps ActStatus to the status of an Immunization (C-CDA on FHIR, ConceptMap CF-ImmunizationStatus).
// An event without a known status counts as completed if its date has passed or if it has no status at all. For other
// events, immunizationStatus returns "", because FHIR has no suitable status.
func immunizationStatus(c *statement.Context, n *cda.Node) string {
	if cda.IsNegated(n) {
		return "not-done"
	}
	status, when := statuses.Of(cda.StatusOf(n)), n.At("effectiveTime")
	if status != "" {
		return status
	}
	start := cmp.Or(when.At("low"), when)
	if _, dated := cda.ReadStamp(start.Attr("value")); dated && !c.Document.IsLater(start) || cda.HasNoStatus(n) {
		return "completed"
	}
	return ""
}

// immunizers returns the people who administered the vaccine or recorded the immunization (v2-0443).
func immunizers(c *statement.Context, n *cda.Node) []r4.ImmunizationPerformer {
	const functions = "http://terminology.hl7.org/CodeSystem/v2-0443"
	var list []r4.ImmunizationPerformer
	add := func(p *cda.Node, function *r4.CodeableConcept) {
		if actor := c.Make.Party(p).As("Practitioner", "PractitionerRole", "Organization"); actor != nil {
			list = append(list, r4.ImmunizationPerformer{Function: function, Actor: actor})
		}
	}
	for p := range n.Each("performer") {
		add(p, r4.Concept(functions, "AP", "Administering Provider"))
	}
	for p := range n.Each("author") {
		add(p, r4.Concept(functions, "EP", "Entering Provider (probably not the same as transcriptionist?)"))
	}
	return list
}

// readImmunizationPart converts a statement nested in an immunization and reports whether it converted the statement
// completely.
func readImmunizationPart(c *statement.Context, im *r4.Immunization, rel, n *cda.Node) bool {
	var dose *int32
	switch {
	case cda.IsTemplate(n, "2.16.840.1.113883.10.20.22.4.53") ||
		rel.Attr("typeCode") == "RSON" && im.Status == "not-done" && n.Name == "observation":
		if im.StatusReason = c.Read.Concept(n.At("code")); im.StatusReason == nil ||
			cda.CodeOf(n.At("code")) == "ASSERTION" {
			im.StatusReason = c.Read.Concept(n.At("value"))
		}
		return true
	case statement.IsReason(rel, n):
		im.Reason, im.ReasonReference = c.Reason(n, im.Reason, im.ReasonReference)
		return true
	case cda.IsTemplate(n, "2.16.840.1.113883.10.20.22.4.118"): // Substance Administered Act
		dose = c.Read.Count(rel.At("sequenceNumber"))
	case cda.Has(n.At("code"), "30973-2"): // dose number
		dose = c.Read.Count(n.At("value"))
	case n.Name == "observation" && statement.IsReaction(rel, n):
		immunizationReaction(c, im, n)
		return false
	case n.Name == "act" && cda.IsTemplate(n, "2.16.840.1.113883.10.20.22.4.20", "2.16.840.1.113883.10.20.1.49"):
		if words := c.Read.Text(n.At("text")); words != "" {
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

// immunizationReaction creates an Observation for a reaction to an immunization, because FHIR represents it as a
// separate resource. The severity becomes a component of the Observation.
func immunizationReaction(c *statement.Context, im *r4.Immunization, n *cda.Node) {
	o := observation.NewIn(c, n, r4.Concept(observation.Category, "exam", "Exam"))
	told := []*cda.Node{n}
	if severity := statement.SeverityOf(n); severity != nil {
		o.Component = append(o.Component, observation.Component(observation.New(c, severity)))
		told = append(told, severity)
	}
	observation.SetAbsent(o, n.At("value"))
	ref := c.Add(o, told...)
	im.Reaction = append(im.Reaction, r4.ImmunizationReaction{Date: c.Read.Start(n.At("effectiveTime")), Detail: ref})
}
