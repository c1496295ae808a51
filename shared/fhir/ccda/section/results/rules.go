// Package results converts the Results Section (2.16.840.1.113883.10.20.22.2.3) to DiagnosticReports, Observations and
// Specimens.
//
// See C-CDA on FHIR: hl7.org/fhir/us/ccda/CF-results.html.
package results

import "recordbridge/shared/fhir/ccda/statement"

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/results", Sections: sections(), Entries: entries()}
}

func sections() []statement.Section {
	return []statement.Section{*resultSection()}
}

func resultSection() *statement.Section {
	return &statement.Section{
		Codes: []string{"30954-2", "26436-6", "18725-2", "18719-5", "18723-7"}, Name: "Results",
		Titles: []string{
			"results", "lab results", "laboratory results", "diagnostic results", "test results",
			"relevant diagnostic tests and/or laboratory data",
		},
		Roots: []string{
			"2.16.840.1.113883.10.20.22.2.3", "2.16.840.1.113883.10.20.1.14", "1.3.6.1.4.1.19376.1.5.3.1.3.27",
			"1.3.6.1.4.1.19376.1.5.3.1.3.28", "2.16.840.1.113883.3.88.11.83.122",
		},
		Assume: []statement.Assumption{
			{Element: "organizer", Root: "2.16.840.1.113883.10.20.22.4.1"},
			{Element: "observation", Root: "2.16.840.1.113883.10.20.22.4.2"},
		},
		Shared: []string{"1.3.6.1.4.1.19376.1.5.3.1.4.13"},
	}
}

func entries() []statement.Entry {
	return []statement.Entry{
		{
			Roots: []string{
				"2.16.840.1.113883.10.20.22.4.1", "2.16.840.1.113883.10.20.1.32", "1.3.6.1.4.1.19376.1.3.1.4",
			},
			Name: "Result Organizer", Target: "DiagnosticReport, Observation (in another organizer)",
			Convert: resultOrganizer,
		},
		{
			Roots: []string{
				"2.16.840.1.113883.10.20.22.4.2", "2.16.840.1.113883.10.20.1.31", "2.16.840.1.113883.3.88.11.83.15",
				"2.16.840.1.113883.3.88.11.83.15.1",
				"1.3.6.1.4.1.19376.1.3.1.6",
			},
			Name: "Result Observation", Target: "Observation", Convert: result,
		},
		{
			Roots: []string{statement.SpecimenCollectionRoot}, Name: "Specimen Collection Procedure",
			Target: "Specimen", Convert: collected,
		},
	}
}
