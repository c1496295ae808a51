package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

const (
	directiveRoot          = "2.16.840.1.113883.10.20.22.4.48"
	directiveOrganizerRoot = "2.16.840.1.113883.10.20.22.4.108"
)

func directiveSections() []sectionRule {
	return []sectionRule{{
		codes: []string{"42348-3"}, name: "Advance Directives", titles: []string{"advance directives"}, file: "directives.go",
		roots: []string{
			"2.16.840.1.113883.10.20.22.2.21", "2.16.840.1.113883.10.20.1.1", "1.3.6.1.4.1.19376.1.5.3.1.3.34", "1.3.6.1.4.1.19376.1.5.3.1.3.35",
			"2.16.840.1.113883.3.88.11.83.116",
		},
		assume: []assumption{{"organizer", "", directiveOrganizerRoot}, {"observation", "", directiveRoot}},
	}}
}

func directiveEntries() []entryRule {
	const file = "directives.go"
	return []entryRule{
		{
			roots: []string{directiveRoot, "2.16.840.1.113883.10.20.1.17", "1.3.6.1.4.1.19376.1.5.3.1.4.13.7"}, name: "Advance Directive Observation",
			target: "Consent (a directive, or a document), Observation (another value)", file: file, convert: func(c *converter, n *node) { c.directive(n, nil) },
		},
		{roots: []string{directiveOrganizerRoot}, name: "Advance Directive Organizer", target: "Consent", file: file, convert: (*converter).directives},
	}
}

// directives takes the directives in an organizer; the first says what the organizer does.
func (c *converter) directives(n *node) {
	around := n
	for part := range n.each("component") {
		for o := range part.each("observation") {
			c.directive(o, around)
			around = nil
		}
	}
}

// directive makes a Consent of what a patient wants or not to be done (FHIR consent.html, advance care directives; C-CDA Advance
// Directive Observation), with the document that says so. Where a value is no code, it is an answer and an Observation.
func (c *converter) directive(n, organizer *node) {
	told := []*node{n}
	if organizer != nil {
		told = append(told, organizer)
	}
	value := n.at("value")
	v, valued := c.value(value)
	if valued && v.ValueCodeableConcept == nil || isTrue(n.attr("negationInd")) {
		o := c.observation(n)
		if source := c.sourceOf(n); source != nil {
			o.DerivedFrom = []r4.Reference{*source}
		}
		c.add(o, told...)
		return
	}
	by := c.author(n)
	r := &r4.Consent{
		Header: c.header("Consent", n), Identifier: identifiers(n), Status: consentStatus(n), Patient: c.patient, DateTime: by.time, Source: c.sourceOf(n),
		Scope:      one("http://terminology.hl7.org/CodeSystem/consentscope", "adr", "Advanced Care Directive"),
		Category:   []r4.CodeableConcept{*one("http://terminology.hl7.org/CodeSystem/consentcategorycodes", "acd", "Advance Directive")},
		PolicyRule: &r4.CodeableConcept{Text: "As the advance directive says"},
		Performer:  listed(by.as("Patient", "RelatedPerson")), // who else has written it down agrees to nothing
	}
	r.Category = append(r.Category, listed(c.concept(n.at("code")))...)
	provision := r4.ConsentProvision{Period: c.period(n.at("effectiveTime")), Code: listed(v.ValueCodeableConcept)}
	if words := c.text(n.at("text")); provision.Code == nil && words != "" {
		provision.Code = []r4.CodeableConcept{{Text: words}}
	}
	for p := range n.each("participant") {
		if p.attr("typeCode") == "VRF" {
			r.Verification = append(r.Verification, r4.ConsentVerified{Verified: true, Date: c.start(p.at("time"))})
		}
		if who := c.agent(p); who != nil {
			provision.Actor = append(provision.Actor, r4.ConsentActor{Role: c.roleIn(p), Reference: who})
		}
	}
	if !isEmpty(provision) {
		r.Provision = &provision
	}
	c.add(r, told...)
}

// documentConsent makes a Consent of one that the header names (CDA R2, authorization): that the document may be told.
func (c *converter) documentConsent(n *node) {
	if n == nil {
		return
	}
	c.add(&r4.Consent{
		Header: c.header("Consent", n), Identifier: identifiers(n), Status: consentStatus(n), Patient: c.patient, DateTime: c.dateTime(c.document.at("effectiveTime")),
		Scope:    one("http://terminology.hl7.org/CodeSystem/consentscope", "patient-privacy", "Privacy Consent"),
		Category: []r4.CodeableConcept{*c.conceptOr(n.at("code"))}, PolicyRule: &r4.CodeableConcept{Text: "As the consent says"},
	}, n)
}

// agent gives who verified a directive (VRF) or decides for the patient (CST).
func (c *converter) agent(p *node) *r4.Reference {
	return c.party(p).as("Practitioner", "PractitionerRole", "RelatedPerson", "Patient", "Organization")
}

func (c *converter) roleIn(p *node) *r4.CodeableConcept {
	const participation = "http://terminology.hl7.org/CodeSystem/v3-ParticipationType"
	role := one(participation, firstOf(p.attr("typeCode"), "PART"), lookup("\nVRF verifier\nCST custodian\n", p.attr("typeCode")))
	if more := c.concept(p.at("participantRole", "code")); more != nil {
		role.Coding = append(role.Coding, more.Coding...)
	}
	return role
}

// sourceOf gives the document that a directive stands in.
func (c *converter) sourceOf(n *node) *r4.Reference {
	for ref := range n.each("reference") {
		if to := c.externalDocument(ref.at("externalDocument")); to != nil {
			return to
		}
	}
	return nil
}

// consentStatus maps ActStatus to ConsentState: a directive that has been recorded (completed) is in force.
func consentStatus(n *node) string {
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "new", "held":
		return "proposed"
	case "aborted", "cancelled", "canceled", "suspended", "obsolete":
		return "inactive"
	case "nullified":
		return "entered-in-error"
	}
	return "active"
}
