// Package encounters converts the Encounters Section (2.16.840.1.113883.10.20.22.2.22) to Encounters and their
// diagnoses.
//
// See C-CDA on FHIR: hl7.org/fhir/us/ccda/CF-encounters.html.
package encounters

import "recordbridge/shared/fhir/ccda/statement"

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/encounters", Sections: sections(), Entries: entries()}
}

func sections() []statement.Section {
	return []statement.Section{{
		Codes: []string{"46240-8"}, Name: "Encounters",
		Titles: []string{"encounters", "history of encounters", "encounter"},
		Roots: []string{
			"2.16.840.1.113883.10.20.22.2.22", "2.16.840.1.113883.10.20.1.3", "1.3.6.1.4.1.19376.1.5.3.1.1.5.3.3",
			"2.16.840.1.113883.3.88.11.83.127",
		},
		Assume: []statement.Assumption{{Element: "encounter", Root: "2.16.840.1.113883.10.20.22.4.49"}},
		Shared: []string{"1.3.6.1.4.1.19376.1.5.3.1.4.14"},
	}}
}

func entries() []statement.Entry {
	return []statement.Entry{
		{
			Roots: []string{
				"2.16.840.1.113883.10.20.22.4.49", "2.16.840.1.113883.10.20.1.21", "2.16.840.1.113883.3.88.11.83.16",
			},
			Name: "Encounter Activity", Target: "Encounter, Location, Condition", Convert: encounterActivity,
		},
	}
}
