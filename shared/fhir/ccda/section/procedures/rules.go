// Package procedures converts the Procedures Section (2.16.840.1.113883.10.20.22.2.7) to Procedures and Observations.
//
// See C-CDA on FHIR: hl7.org/fhir/us/ccda/CF-procedures.html.
package procedures

import "recordbridge/shared/fhir/ccda/statement"

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/procedures", Sections: sections(), Entries: entries()}
}

func sections() []statement.Section {
	return []statement.Section{{
		Codes: []string{"47519-4"}, Name: "Procedures",
		Titles: []string{"procedures", "history of procedures", "surgical history", "procedure history"},
		Roots: []string{
			"2.16.840.1.113883.10.20.22.2.7", "2.16.840.1.113883.10.20.1.12", "1.3.6.1.4.1.19376.1.5.3.1.3.11",
			"1.3.6.1.4.1.19376.1.5.3.1.3.12",
			"2.16.840.1.113883.3.88.11.83.108", "2.16.840.1.113883.3.88.11.83.145",
		},
		Assume: []statement.Assumption{
			{Element: "procedure", Root: "2.16.840.1.113883.10.20.22.4.14"},
			{Element: "observation", Root: "2.16.840.1.113883.10.20.22.4.13"},
			{Element: "act", Root: "2.16.840.1.113883.10.20.22.4.12"},
		},
		Shared: []string{"2.16.840.1.113883.10.20.1.29"},
	}}
}

func entries() []statement.Entry {
	return []statement.Entry{
		{
			Roots: []string{
				"2.16.840.1.113883.10.20.22.4.14", "2.16.840.1.113883.10.20.1.29", "2.16.840.1.113883.3.88.11.83.17",
				"1.3.6.1.4.1.19376.1.5.3.1.4.19",
			},
			Name: "Procedure Activity Procedure", Target: "Procedure, ServiceRequest (planned)", Convert: procedure,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.12"}, Name: "Procedure Activity Act",
			Target: "Procedure, ServiceRequest (planned)", Convert: procedure,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.13"}, Name: "Procedure Activity Observation",
			Target: "Observation, ServiceRequest (planned)", Convert: procedureObservation,
		},
	}
}
