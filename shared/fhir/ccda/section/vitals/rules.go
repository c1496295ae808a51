// Package vitals converts the Vital Signs Section (2.16.840.1.113883.10.20.22.2.4) to Observations.
//
// See C-CDA on FHIR (hl7.org/fhir/us/ccda/CF-vitals.html) and US Core Vital Signs Profiles.
package vitals

import "recordbridge/shared/fhir/ccda/statement"

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/vitals", Sections: sections(), Entries: entries()}
}

func sections() []statement.Section {
	return []statement.Section{*vitalSection()}
}

func vitalSection() *statement.Section {
	return &statement.Section{
		Codes: []string{"8716-3"}, Name: "Vital Signs", Titles: []string{"vital signs", "vitals"},
		Roots: []string{
			"2.16.840.1.113883.10.20.22.2.4", "2.16.840.1.113883.10.20.1.16", "1.3.6.1.4.1.19376.1.5.3.1.3.25",
			"1.3.6.1.4.1.19376.1.5.3.1.1.5.3.2", "2.16.840.1.113883.3.88.11.83.119",
		},
		Assume: []statement.Assumption{
			{Element: "organizer", Root: "2.16.840.1.113883.10.20.22.4.26"},
			{Element: "observation", Root: "2.16.840.1.113883.10.20.22.4.27"},
		},
		Shared: []string{
			"2.16.840.1.113883.10.20.1.32", "2.16.840.1.113883.10.20.1.31", "1.3.6.1.4.1.19376.1.5.3.1.4.13",
		},
	}
}

func entries() []statement.Entry {
	return []statement.Entry{
		{
			Roots: []string{
				"2.16.840.1.113883.10.20.22.4.26", "2.16.840.1.113883.10.20.1.35", "1.3.6.1.4.1.19376.1.5.3.1.4.13.1",
			},
			Name: "Vital Signs Organizer", Target: "Observation (panel)", Convert: vitalPanel,
		},
		{
			Roots: []string{
				"2.16.840.1.113883.10.20.22.4.27", "2.16.840.1.113883.3.88.11.83.14",
				"1.3.6.1.4.1.19376.1.5.3.1.4.13.2",
			},
			Name: "Vital Sign Observation", Target: "Observation", Convert: vitalSign,
		},
	}
}
