// Package family converts the Family History Section (2.16.840.1.113883.10.20.22.2.15) to FamilyMemberHistories.
//
// C-CDA on FHIR does not cover this section, so the rules follow FHIR R4 (familymemberhistory-mappings.html, CDA).
package family

import "recordbridge/shared/fhir/ccda/statement"

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/family", Sections: sections(), Entries: entries()}
}

const (
	familyOrganizerRoot   = "2.16.840.1.113883.10.20.22.4.45"
	familyObservationRoot = "2.16.840.1.113883.10.20.22.4.46"
)

func sections() []statement.Section {
	return []statement.Section{{
		Codes: []string{"10157-6"}, Name: "Family History",
		Titles: []string{"family history", "family medical history"},
		Roots: []string{
			"2.16.840.1.113883.10.20.22.2.15", "2.16.840.1.113883.10.20.1.4", "1.3.6.1.4.1.19376.1.5.3.1.3.14",
			"1.3.6.1.4.1.19376.1.5.3.1.3.15",
			"2.16.840.1.113883.3.88.11.83.125",
		},
		Assume: []statement.Assumption{
			{Element: "organizer", Root: familyOrganizerRoot}, {Element: "observation", Root: familyObservationRoot},
		},
	}}
}

func entries() []statement.Entry {
	return []statement.Entry{
		{
			Roots:  []string{familyOrganizerRoot, "2.16.840.1.113883.10.20.1.23", "1.3.6.1.4.1.19376.1.5.3.1.4.15"},
			Name:   "Family History Organizer",
			Target: "FamilyMemberHistory", Convert: familyMember,
		},
		{
			Roots:  []string{familyObservationRoot, "2.16.840.1.113883.10.20.1.22", "1.3.6.1.4.1.19376.1.5.3.1.4.13.3"},
			Name:   "Family History Observation",
			Target: "FamilyMemberHistory.condition", Convert: familyMember,
		},
	}
}
