package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

const (
	careTeamRoot   = "2.16.840.1.113883.10.20.22.4.500"
	careMemberRoot = "2.16.840.1.113883.10.20.22.4.500.1"
)

func careTeamSections() []sectionRule {
	return []sectionRule{{
		codes: []string{"85847-2"}, roots: []string{"2.16.840.1.113883.10.20.22.2.500"}, name: "Care Teams", titles: []string{"care teams", "care team", "patient care team"},
		file: "careteams.go", assume: []assumption{{"organizer", "", careTeamRoot}, {"act", "", careMemberRoot}},
	}}
}

func careTeamEntries() []entryRule {
	const file = "careteams.go"
	return []entryRule{
		{roots: []string{careTeamRoot}, name: "Care Team Organizer", target: "CareTeam", file: file, convert: (*converter).team},
		{roots: []string{careMemberRoot}, name: "Care Team Member Act", target: "CareTeam.participant", file: file, convert: (*converter).team},
	}
}

// team makes a CareTeam of an organizer with its members (US Core CareTeam), or of one member who stands alone.
func (c *converter) team(n *node) {
	t := &r4.CareTeam{
		Header: c.header("CareTeam", n), Identifier: identifiers(n), Status: teamStatus(n), Subject: c.patient, Period: c.period(n.at("effectiveTime")),
		Name: c.teamName(n), Note: c.comments(n),
	}
	told := []*node{n}
	if n.name == "act" {
		c.addMembers(t, n)
	}
	for part := range n.each("component") {
		for s := range part.each("act", "observation") {
			switch {
			case s.name == "act" && (isTemplate(s, careMemberRoot) || s.at("performer") != nil && !isTemplate(s, noteActivityRoot)):
				c.addMembers(t, s)
				told = append(told, s)
			case s.name == "observation" && isTemplate(s, "2.16.840.1.113883.10.20.22.4.500.2"):
				t.Category = append(t.Category, listed(c.concept(s.at("value")))...)
				told = append(told, s)
			}
		}
	}
	c.addOthers(t, n)
	c.add(t, told...)
}

func (c *converter) teamName(n *node) string {
	name := c.text(n.at("code", "originalText"))
	if words := c.text(n.at("text")); name == "" && len(words) < 100 {
		name = words
	}
	return name
}

// addMembers adds those who perform the act of a member, each with their function, and a place where nobody is named.
func (c *converter) addMembers(t *r4.CareTeam, act *node) {
	for p := range act.each("performer") {
		who := c.party(p)
		member := r4.CareTeamParticipant{
			Role:   append(c.concepts(p, "functionCode"), c.concepts(p.at("assignedEntity"), "code")...),
			Member: who.as("Practitioner", "PractitionerRole", "RelatedPerson", "Patient", "Organization"), Period: c.period(act.at("effectiveTime")),
		}
		if who.practitioner != nil {
			member.OnBehalfOf = who.organization
		}
		if member.Member == nil {
			continue
		}
		if member.Role == nil { // US Core asks for one
			member.Role = []r4.CodeableConcept{*absentConcept(p.at("functionCode"))}
		}
		t.Participant = append(t.Participant, member)
	}
	c.addOthers(t, act)
}

// addOthers adds who takes part besides: the one who leads the team (PPRF), and people who are no professionals (IND).
func (c *converter) addOthers(t *r4.CareTeam, n *node) {
	for p := range n.each("participant") {
		who := c.party(p).as("Practitioner", "PractitionerRole", "RelatedPerson", "Patient", "Organization")
		if who == nil || p.attr("typeCode") == "LOC" {
			continue
		}
		role := append(c.concepts(p, "functionCode"), c.concepts(p.at("participantRole"), "code")...)
		if role == nil {
			role = []r4.CodeableConcept{*one("http://terminology.hl7.org/CodeSystem/v3-ParticipationType", firstOf(p.attr("typeCode"), "IND"), "")}
		}
		t.Participant = append(t.Participant, r4.CareTeamParticipant{Role: role, Member: who})
	}
}

// teamStatus maps ActStatus to CareTeamStatus.
func teamStatus(n *node) string {
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "new":
		return "proposed"
	case "suspended", "held":
		return "suspended"
	case "completed", "aborted", "cancelled", "canceled", "obsolete":
		return "inactive"
	case "nullified":
		return "entered-in-error"
	}
	return "active"
}
