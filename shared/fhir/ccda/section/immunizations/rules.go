// Package immunizations converts the Immunizations Section (2.16.840.1.113883.10.20.22.2.2) to Immunizations.
//
// See C-CDA on FHIR: hl7.org/fhir/us/ccda/CF-immunizations.html.
package immunizations

import "recordbridge/shared/fhir/ccda/statement"

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/immunizations", Sections: sections(), Entries: entries()}
}

func sections() []statement.Section {
	return []statement.Section{{
		Codes: []string{"11369-6"}, Name: "Immunizations",
		Titles: []string{"immunizations", "immunization history", "vaccinations"},
		Roots: []string{
			"2.16.840.1.113883.10.20.22.2.2", "2.16.840.1.113883.10.20.1.6", "1.3.6.1.4.1.19376.1.5.3.1.3.23",
			"2.16.840.1.113883.3.88.11.83.117",
		},
		Assume: []statement.Assumption{{Element: "substanceAdministration", Root: immunizationRoot}},
		Shared: []string{"2.16.840.1.113883.10.20.1.24", "2.16.840.1.113883.10.20.22.4.16"},
	}}
}

const immunizationRoot = "2.16.840.1.113883.10.20.22.4.52"

func entries() []statement.Entry {
	return []statement.Entry{{
		Roots:  []string{immunizationRoot, "2.16.840.1.113883.3.88.11.83.13", "1.3.6.1.4.1.19376.1.5.3.1.4.12"},
		Name:   "Immunization Activity",
		Target: "Immunization, MedicationRequest (planned)", Convert: immunization,
	}}
}
