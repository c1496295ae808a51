package payers

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// authorization marks an authorization that has no code as covered, because its content is in nested statements.
func authorization(c *statement.Context, n *cda.Node) {
	if cda.CodeOf(n.At("code")) == "" {
		c.Emit.Take(n)
	}
}

// coverageAct creates Coverages for the policies that an act lists, in order of payment. If an act lists no policies,
// the act itself becomes a Coverage.
func coverageAct(c *statement.Context, n *cda.Node) {
	found := false
	for rel := range n.Each("entryRelationship") {
		for policy := range rel.Each("act") {
			if !cda.IsTemplate(policy, "2.16.840.1.113883.10.20.1.19") {
				order := datatype.Whole(rel.At("sequenceNumber"))
				if order == nil {
					order = new(int32)
				}
				convertPolicy(c, policy, n, int(max(0, *order)))
				found = true
			}
		}
	}
	if !found {
		convertPolicy(c, n, nil, 0)
	}
}

// convertPolicy creates a Coverage (US Core Coverage). The Coverage names the payor, the covered person with the member
// number, and the policy holder. act is the act that lists the policy, or nil if there is none.
func convertPolicy(c *statement.Context, n, act *cda.Node, order int) {
	r := &r4.Coverage{
		Header: c.Emit.Header("Coverage", n), Status: coverageStatus(n), Type: c.Read.Concept(n.At("code")),
		Beneficiary: c.Patient, Order: order,
		Period: c.Read.Period(cmp.Or(n.At("effectiveTime"), act.At("effectiveTime"))),
	}
	r.Identifier = datatype.Identifiers(n)
	for _, id := range r.Identifier {
		if id.System != datatype.URISystem && id.Value != "" { // group or contract number
			r.Class = append(r.Class, r4.CoverageClass{Type: classOfCoverage("group", "Group"), Value: id.Value})
		}
	}
	for p := range n.Each("performer") {
		addPayer(c, r, p)
	}
	isOver := c.Document.IsPast(cmp.Or(n.At("effectiveTime"), act.At("effectiveTime")).At("high"))
	for p := range n.Each("participant") {
		switch role := p.At("participantRole"); p.Attr("typeCode") {
		case "COV":
			setMember(c, r, p, role)
			isOver = isOver || c.Document.IsPast(p.At("time", "high"))
		case "HLD":
			r.PolicyHolder = holder(c, role)
			r.Subscriber = cmp.Or(r.PolicyHolder, r.Subscriber)
			r.SubscriberID = cmp.Or(role.At("id").Attr("extension"), r.SubscriberID)
		}
	}
	told := []*cda.Node{n}
	if act != nil {
		told = append(told, act)
	}
	for rel := range n.Each("entryRelationship") {
		if plan := rel.At("act"); plan.Attr("moodCode") == "DEF" {
			if name := cmp.Or(c.Read.Text(plan.At("text")), r4.Words(c.Read.Concept(plan.At("code")))); name != "" {
				r.Class = append(r.Class, r4.CoverageClass{
					Type: classOfCoverage("plan", "Plan"), Value: cmp.Or(plan.At("id").Attr("extension"), name),
					Name: name,
				})
				told = append(told, plan)
			}
		}
	}
	if r.Status == "active" && isOver {
		r.Status = "cancelled" // FHIR has no other status for an expired policy.
	}
	if r.Payor == nil {
		r.Payor = []r4.Reference{{Display: "Unknown"}}
	}
	c.Add(r, told...)
}

func classOfCoverage(code, name string) *r4.CodeableConcept {
	return r4.Concept("http://terminology.hl7.org/CodeSystem/coverage-class", code, name)
}

// addPayer adds an insurer (Payer Performer, 2.16.840.1.113883.10.20.22.4.87) or a guarantor (…4.88). A guarantor pays
// what the insurer doesn't cover.
func addPayer(c *statement.Context, r *r4.Coverage, p *cda.Node) {
	role := p.At("assignedEntity")
	if names := c.Read.HumanNames(role.At("assignedPerson")); names != nil {
		payer := c.Patient
		if !c.Make.IsPatient(role) {
			payer = c.Make.RelatedPerson(role, names)
		}
		r.Payor = r4.AppendReference(r.Payor, *payer)
		return
	}
	place := cmp.Or(role.At("representedOrganization"), role)
	org := c.Make.Organization(place)
	if org == nil {
		org = c.Make.Organization(role)
	}
	if org == nil {
		return
	}
	if o := emit.ResourceOf[r4.Organization](c.Emit, org); o != nil {
		o.Identifier = appendIdentifiers(o.Identifier, datatype.Identifiers(role))
		if o.Telecom == nil {
			o.Telecom = c.Read.Telecoms(role)
		}
		if o.Address == nil {
			o.Address = c.Read.Addresses(role)
		}
	}
	r.Payor = append([]r4.Reference{*org}, r4.Without(r.Payor, org)...)
}

// appendIdentifiers appends the identifiers that list does not yet contain.
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

// setMember converts the covered party (2.16.840.1.113883.10.20.22.4.89): the patient's member number, the coverage
// period, and the relationship to the subscriber.
func setMember(c *statement.Context, r *r4.Coverage, p, role *cda.Node) {
	for id := range role.Each("id") {
		if member, ok := datatype.Identifier(id); ok && id.Attr("extension") != "" {
			member.Type = r4.Concept("http://terminology.hl7.org/CodeSystem/v2-0203", "MB", "Member Number")
			r.Identifier = append(r.Identifier, member)
			r.SubscriberID = cmp.Or(r.SubscriberID, id.Attr("extension"))
		}
	}
	if when := c.Read.Period(p.At("time")); when != nil {
		r.Period = when
	}
	r.Relationship = c.Read.Concept(role.At("code"))
	if code := subscriberRelationship(role.At("code")); code != "" {
		known := r4.Coding{
			System: "http://terminology.hl7.org/CodeSystem/subscriber-relationship", Code: code,
			Display: strings.ToUpper(code[:1]) + code[1:],
		}
		r.Relationship.Coding = append([]r4.Coding{known}, r.Relationship.Coding...)
		if code == "self" {
			r.Subscriber = cmp.Or(r.Subscriber, c.Patient)
		}
	}
}

// subscriberRelationship maps RoleCode (Coverage Role Type) to FHIR's relationship codes.
func subscriberRelationship(n *cda.Node) string {
	return relationships.Of(cda.CodeOf(n))
}

// holder returns the policy holder, which is either the patient or a RelatedPerson with a name. It returns nil for any
// other role without a name.
func holder(c *statement.Context, role *cda.Node) *r4.Reference {
	names := c.Read.HumanNames(role.At("playingEntity"))
	if c.Make.IsPatient(role) {
		return c.Patient
	}
	if names == nil {
		return nil
	}
	return c.Make.RelatedPerson(role, names)
}

// coverageStatus maps ActStatus to a policy's status. In C-CDA, the status code describes the statement, so a policy in
// force has the status code "completed". An unknown status doesn't mean that the policy is in force.
func coverageStatus(n *cda.Node) string {
	if cda.HasNoStatus(n) {
		return "active"
	}
	return cmp.Or(statuses.Of(cda.StatusOf(n)), "draft")
}
