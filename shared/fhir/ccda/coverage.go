package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

const (
	coverageRoot = "2.16.840.1.113883.10.20.22.4.60"
	policyRoot   = "2.16.840.1.113883.10.20.22.4.61"
)

func coverageSections() []sectionRule {
	return []sectionRule{{
		codes: []string{"48768-6"}, name: "Payers", file: "coverage.go",
		roots:  []string{"2.16.840.1.113883.10.20.22.2.18", "2.16.840.1.113883.10.20.1.9", "1.3.6.1.4.1.19376.1.5.3.1.1.5.3.7", "2.16.840.1.113883.3.88.11.83.101.1"},
		titles: []string{"payers", "insurance", "insurance providers", "health insurance"}, assume: []assumption{{"act", "", coverageRoot}},
	}}
}

func coverageEntries() []entryRule {
	const file = "coverage.go"
	return []entryRule{
		{
			roots: []string{coverageRoot, "2.16.840.1.113883.10.20.1.20", "1.3.6.1.4.1.19376.1.5.3.1.4.17"}, name: "Coverage Activity", target: "Coverage",
			file: file, convert: (*converter).coverageAct,
		},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.129"}, name: "Planned Coverage", target: "Coverage", file: file, convert: (*converter).coverageAct},
		{
			roots: []string{policyRoot, "2.16.840.1.113883.10.20.1.26", "1.3.6.1.4.1.19376.1.5.3.1.4.18"}, name: "Policy Activity", target: "Coverage",
			file: file, convert: func(c *converter, n *node) { c.policy(n, nil, 0) },
		},
		{
			roots: []string{"2.16.840.1.113883.10.20.1.19"}, name: "Authorization Activity", target: "its entries",
			file: file, convert: (*converter).authorization,
		},
	}
}

// authorization leaves what it says to the statements in it, unless it has a code.
func (c *converter) authorization(n *node) {
	if codeOf(n.at("code")) == "" {
		c.take(n)
	}
}

// coverageAct makes Coverages of the policies that it lists in the order in which they pay; of itself when it lists none.
func (c *converter) coverageAct(n *node) {
	found := false
	for rel := range n.each("entryRelationship") {
		for policy := range rel.each("act") {
			if !isTemplate(policy, "2.16.840.1.113883.10.20.1.19") {
				order := whole(rel.at("sequenceNumber"))
				if order == nil {
					order = new(int32)
				}
				c.policy(policy, n, int(max(0, *order)))
				found = true
			}
		}
	}
	if !found {
		c.policy(n, nil, 0)
	}
}

// policy makes a Coverage (US Core Coverage): the payer as payor, who is covered with their number, and who holds the policy.
// act is the list that it is in, or nil.
func (c *converter) policy(n, act *node, order int) {
	r := &r4.Coverage{
		Header: c.header("Coverage", n), Status: coverageStatus(n), Type: c.concept(n.at("code")), Beneficiary: c.patient, Order: order,
		Period: c.period(firstNode(n.at("effectiveTime"), act.at("effectiveTime"))),
	}
	r.Identifier = identifiers(n)
	for _, id := range r.Identifier {
		if id.System != uriSystem && id.Value != "" { // a group or contract number
			r.Class = append(r.Class, r4.CoverageClass{Type: classOfCoverage("group", "Group"), Value: id.Value})
		}
	}
	for p := range n.each("performer") {
		c.addPayer(r, p)
	}
	for p := range n.each("participant") {
		switch role := p.at("participantRole"); p.attr("typeCode") {
		case "COV":
			c.setMember(r, p, role)
		case "HLD":
			r.PolicyHolder = c.holder(role)
			r.Subscriber = firstReference(r.PolicyHolder, r.Subscriber)
			r.SubscriberID = firstOf(role.at("id").attr("extension"), r.SubscriberID)
		}
	}
	told := []*node{n}
	if act != nil {
		told = append(told, act)
	}
	for rel := range n.each("entryRelationship") {
		if plan := rel.at("act"); plan.attr("moodCode") == "DEF" {
			if name := firstOf(c.text(plan.at("text")), conceptWords(c.concept(plan.at("code")))); name != "" {
				r.Class = append(r.Class, r4.CoverageClass{Type: classOfCoverage("plan", "Plan"), Value: firstOf(plan.at("id").attr("extension"), name), Name: name})
				told = append(told, plan)
			}
		}
	}
	if r.Payor == nil {
		r.Payor = []r4.Reference{{Display: "Unknown"}}
	}
	c.add(r, told...)
}

func classOfCoverage(code, name string) *r4.CodeableConcept {
	return one("http://terminology.hl7.org/CodeSystem/coverage-class", code, name)
}

// addPayer adds an insurer (Payer Performer, 2.16.840.1.113883.10.20.22.4.87) or a guarantor (…4.88), who pays what the insurer
// does not.
func (c *converter) addPayer(r *r4.Coverage, p *node) {
	role := p.at("assignedEntity")
	if names := c.humanNames(role.at("assignedPerson")); names != nil {
		payer := c.patient
		if !c.isPatient(role) {
			payer = c.relatedPerson(role, names)
		}
		r.Payor = appendReference(r.Payor, *payer)
		return
	}
	place := firstNode(role.at("representedOrganization"), role)
	org := c.organization(place)
	if org == nil {
		org = c.organization(role)
	}
	if org == nil {
		return
	}
	if o := resourceOf[r4.Organization](c, org); o != nil {
		o.Identifier = appendIdentifiers(o.Identifier, identifiers(role))
		if o.Telecom == nil {
			o.Telecom = c.telecoms(role)
		}
		if o.Address == nil {
			o.Address = c.addresses(role)
		}
	}
	r.Payor = append([]r4.Reference{*org}, without(r.Payor, org)...)
}

// appendIdentifiers adds those that a list does not have.
func appendIdentifiers(list, more []r4.Identifier) []r4.Identifier {
	for _, id := range more {
		known := false
		for _, has := range list {
			known = known || has.System == id.System && has.Value == id.Value
		}
		if !known {
			list = append(list, id)
		}
	}
	return list
}

// setMember reads the covered party (2.16.840.1.113883.10.20.22.4.89): the patient's number, time, and relationship to the subscriber.
func (c *converter) setMember(r *r4.Coverage, p, role *node) {
	for id := range role.each("id") {
		if member, ok := identifier(id); ok && id.attr("extension") != "" {
			member.Type = one("http://terminology.hl7.org/CodeSystem/v2-0203", "MB", "Member Number")
			r.Identifier = append(r.Identifier, member)
			r.SubscriberID = firstOf(r.SubscriberID, id.attr("extension"))
		}
	}
	if when := c.period(p.at("time")); when != nil {
		r.Period = when
	}
	r.Relationship = c.concept(role.at("code"))
	if code := subscriberRelationship(role.at("code")); code != "" {
		known := r4.Coding{System: "http://terminology.hl7.org/CodeSystem/subscriber-relationship", Code: code, Display: strings.ToUpper(code[:1]) + code[1:]}
		r.Relationship.Coding = append([]r4.Coding{known}, r.Relationship.Coding...)
		if code == "self" {
			r.Subscriber = firstReference(r.Subscriber, c.patient)
		}
	}
}

// subscriberRelationship maps RoleCode (Coverage Role Type) to the relationships that FHIR has.
func subscriberRelationship(n *node) string {
	return lookup(`
SELF self
ONESELF self
SPS spouse
SPSE spouse
HUSB spouse
WIFE spouse
DOMPART common
CHILD child
NCHILD child
SON child
DAU child
SONC child
DAUC child
STPCHLD child
CHLDADOPT child
CHLDFOST child
PRN parent
MTH parent
FTH parent
INJ injured
FAMDEP other
HANDIC other
STUD other
DEP other
`, codeOf(n))
}

// holder gives who holds a policy: the patient, or a RelatedPerson with a name. It is nil for a number alone.
func (c *converter) holder(role *node) *r4.Reference {
	names := c.humanNames(role.at("playingEntity"))
	if c.isPatient(role) {
		return c.patient
	}
	if names == nil {
		return nil
	}
	return c.relatedPerson(role, names)
}

// coverageStatus maps ActStatus to the status of a policy: C-CDA says completed of one that is in force, since it is the telling that is.
func coverageStatus(n *node) string {
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "aborted", "cancelled", "canceled", "suspended", "obsolete":
		return "cancelled"
	case "nullified":
		return "entered-in-error"
	case "new", "held":
		return "draft"
	}
	return "active"
}
