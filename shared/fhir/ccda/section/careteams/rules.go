// Package careteams converts the Care Teams Section (2.16.840.1.113883.10.20.22.2.500) to CareTeams.
//
// C-CDA on FHIR does not cover this section, so the rules follow US Core CareTeam.
package careteams

import "recordbridge/shared/fhir/ccda/statement"

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/careteams", Sections: sections(), Entries: entries()}
}

const (
	careTeamRoot   = "2.16.840.1.113883.10.20.22.4.500"
	careMemberRoot = "2.16.840.1.113883.10.20.22.4.500.1"
)

func sections() []statement.Section {
	return []statement.Section{{
		Codes: []string{"85847-2"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.500"}, Name: "Care Teams",
		Titles: []string{"care teams", "care team", "patient care team"},
		Assume: []statement.Assumption{
			{Element: "organizer", Root: careTeamRoot}, {Element: "act", Root: careMemberRoot},
		},
	}}
}

func entries() []statement.Entry {
	return []statement.Entry{
		{Roots: []string{careTeamRoot}, Name: "Care Team Organizer", Target: "CareTeam", Convert: team},
		{Roots: []string{careMemberRoot}, Name: "Care Team Member Act", Target: "CareTeam.participant", Convert: team},
	}
}
