package directives

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/docref"
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// directives converts the directives in an organizer. The organizer is represented by the resource for its first
// directive.
func directives(c *statement.Context, n *cda.Node) {
	around := n
	for part := range n.Each("component") {
		for o := range part.Each("observation") {
			directive(c, o, around)
			around = nil
		}
	}
}

// directive creates a Consent, with its source document, for a treatment that a patient wants or refuses (FHIR
// consent.html, advance care directives; C-CDA Advance Directive Observation). A value that is not a code answers a
// question and becomes an Observation.
func directive(c *statement.Context, n, organizer *cda.Node) {
	told := []*cda.Node{n}
	if organizer != nil {
		told = append(told, organizer)
	}
	value := n.At("value")
	v, valued := c.Read.Value(value)
	if valued && v.ValueCodeableConcept == nil || cda.IsNegated(n) {
		o := observation.New(c, n)
		if source := sourceOf(c, n); source != nil {
			o.DerivedFrom = []r4.Reference{*source}
		}
		c.Add(o, told...)
		return
	}
	by := c.Make.Author(n)
	r := &r4.Consent{
		Header: c.Emit.Header("Consent", n), Identifier: datatype.Identifiers(n), Status: c.ConsentStatus(n),
		Patient: c.Patient, DateTime: by.Time, Source: sourceOf(c, n),
		Scope: r4.Concept("http://terminology.hl7.org/CodeSystem/consentscope", "adr", "Advanced Care Directive"),
		Category: []r4.CodeableConcept{
			*r4.Concept("http://terminology.hl7.org/CodeSystem/consentcategorycodes", "acd", "Advance Directive"),
		},
		PolicyRule: &r4.CodeableConcept{Text: "As the advance directive says"},
		Performer:  r4.Listed(by.As("Patient", "RelatedPerson")), // Only the patient or a related person can consent.
	}
	r.Category = append(r.Category, r4.Listed(c.Read.Concept(n.At("code")))...)
	provision := r4.ConsentProvision{
		Period: c.Read.Period(n.At("effectiveTime")), Code: r4.Listed(v.ValueCodeableConcept),
	}
	if words := c.Read.Text(n.At("text")); provision.Code == nil && words != "" {
		provision.Code = []r4.CodeableConcept{{Text: words}}
	}
	for p := range n.Each("participant") {
		if p.Attr("typeCode") == "VRF" {
			r.Verification = append(r.Verification, r4.ConsentVerified{
				Verified: true, Date: c.Read.Start(p.At("time")),
			})
		}
		if who := agent(c, p); who != nil {
			provision.Actor = append(provision.Actor, r4.ConsentActor{Role: roleIn(c, p), Reference: who})
		}
	}
	if !r4.IsEmpty(provision) {
		r.Provision = &provision
	}
	c.Add(r, told...)
}

// agent returns the party that verified a directive (VRF) or makes decisions for the patient (CST).
func agent(c *statement.Context, p *cda.Node) *r4.Reference {
	return c.Make.Party(p).As("Practitioner", "PractitionerRole", "RelatedPerson", "Patient", "Organization")
}

func roleIn(c *statement.Context, p *cda.Node) *r4.CodeableConcept {
	const participation = "http://terminology.hl7.org/CodeSystem/v3-ParticipationType"
	role := r4.Concept(participation, cmp.Or(p.Attr("typeCode"), "PART"), verifiers.Of(p.Attr("typeCode")))
	if more := c.Read.Concept(p.At("participantRole", "code")); more != nil {
		role.Coding = append(role.Coding, more.Coding...)
	}
	return role
}

// sourceOf returns the document that contains a directive.
func sourceOf(c *statement.Context, n *cda.Node) *r4.Reference {
	for ref := range n.Each("reference") {
		if to := docref.External(c, ref.At("externalDocument")); to != nil {
			return to
		}
	}
	return nil
}
