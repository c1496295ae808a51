package careteams

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// team creates a CareTeam (US Core CareTeam) from an organizer and its members, or from a single member without an
// organizer.
func team(c *statement.Context, n *cda.Node) {
	t := &r4.CareTeam{
		Header: c.Emit.Header("CareTeam", n), Identifier: datatype.Identifiers(n), Status: teamStatus(c, n),
		Subject: c.Patient, Period: c.Read.Period(n.At("effectiveTime")),
		Name: teamName(c, n), Note: c.Comments(n),
	}
	told := []*cda.Node{n}
	if n.Name == "act" {
		addMembers(c, t, n)
	}
	for part := range n.Each("component") {
		for s := range part.Each("act", "observation") {
			switch {
			case cda.IsNegated(s):
			case s.Name == "act" && (cda.IsTemplate(s, careMemberRoot) ||
				s.At("performer") != nil && !cda.IsTemplate(s, statement.NoteActivityRoot)):
				addMembers(c, t, s)
				told = append(told, s)
			case s.Name == "observation" && cda.IsTemplate(s, "2.16.840.1.113883.10.20.22.4.500.2"):
				t.Category = append(t.Category, r4.Listed(c.Read.Concept(s.At("value")))...)
				told = append(told, s)
			}
		}
	}
	addOthers(c, t, n)
	c.Add(t, told...)
}

func teamName(c *statement.Context, n *cda.Node) string {
	name := c.Read.Text(n.At("code", "originalText"))
	if words := c.Read.Text(n.At("text")); name == "" && len(words) < 100 {
		name = words
	}
	return name
}

// addMembers adds the performers of a member's act with their functions. If there are none, it adds a location.
func addMembers(c *statement.Context, t *r4.CareTeam, act *cda.Node) {
	for p := range act.Each("performer") {
		who := c.Make.Party(p)
		member := r4.CareTeamParticipant{
			Role:   append(c.Read.Concepts(p, "functionCode"), c.Read.Concepts(p.At("assignedEntity"), "code")...),
			Member: who.As("Practitioner", "PractitionerRole", "RelatedPerson", "Patient", "Organization"),
			Period: c.Read.Period(act.At("effectiveTime")),
		}
		if who.Practitioner != nil {
			member.OnBehalfOf = who.Organization
		}
		if member.Member == nil {
			continue
		}
		if member.Role == nil { // US Core requires a role.
			member.Role = []r4.CodeableConcept{*datatype.AbsentConcept(p.At("functionCode"))}
		}
		t.Participant = append(t.Participant, member)
	}
	addOthers(c, t, act)
}

// addOthers adds the remaining participants: the team's leader (PPRF) and people who are not professionals (IND).
func addOthers(c *statement.Context, t *r4.CareTeam, n *cda.Node) {
	for p := range n.Each("participant") {
		who := c.Make.Party(p).As("Practitioner", "PractitionerRole", "RelatedPerson", "Patient", "Organization")
		if who == nil || p.Attr("typeCode") == "LOC" {
			continue
		}
		role := append(c.Read.Concepts(p, "functionCode"), c.Read.Concepts(p.At("participantRole"), "code")...)
		if role == nil {
			role = []r4.CodeableConcept{
				*r4.Concept(
					"http://terminology.hl7.org/CodeSystem/v3-ParticipationType", cmp.Or(p.Attr("typeCode"), "IND"), "",
				),
			}
		}
		t.Participant = append(t.Participant, r4.CareTeamParticipant{Role: role, Member: who})
	}
}

// teamStatus maps ActStatus to CareTeamStatus. It returns "" if the document does not state one. A team whose period
// has ended is not active.
func teamStatus(c *statement.Context, n *cda.Node) string {
	status := statuses.Of(cda.StatusOf(n))
	if status == "active" && c.Document.IsPast(n.At("effectiveTime", "high")) {
		return "inactive"
	}
	return status
}
