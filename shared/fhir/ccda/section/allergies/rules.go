// Package allergies converts the Allergies and Intolerances Section (2.16.840.1.113883.10.20.22.2.6) to
// AllergyIntolerances.
//
// See C-CDA on FHIR: hl7.org/fhir/us/ccda/CF-allergies.html.
package allergies

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/statement"
)

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/allergies", Sections: sections(), Entries: entries()}
}

func sections() []statement.Section {
	return []statement.Section{{
		Codes: []string{"48765-2"}, Name: "Allergies",
		Titles: []string{"allergies", "allergies and adverse reactions", "allergies, adverse reactions, alerts"},
		Roots: []string{
			"2.16.840.1.113883.10.20.22.2.6", "2.16.840.1.113883.10.20.1.2", "1.3.6.1.4.1.19376.1.5.3.1.3.13",
			"2.16.840.1.113883.3.88.11.83.102",
		},
		// acts and observations that CCD and IHE use for both problems and allergies
		Shared: []string{
			"2.16.840.1.113883.10.20.1.27", "1.3.6.1.4.1.19376.1.5.3.1.4.5.1", "2.16.840.1.113883.10.20.1.28",
			"1.3.6.1.4.1.19376.1.5.3.1.4.5",
		},
		Assume: []statement.Assumption{
			{Element: "act", Root: "2.16.840.1.113883.10.20.22.4.30"},
			{Element: "observation", Root: "2.16.840.1.113883.10.20.22.4.7"},
		},
	}}
}

func entries() []statement.Entry {
	return []statement.Entry{
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.30", "1.3.6.1.4.1.19376.1.5.3.1.4.5.3"},
			Name:  "Allergy Concern Act", Target: "AllergyIntolerance", Convert: allergyAct,
		},
		{
			Roots: []string{
				"2.16.840.1.113883.10.20.22.4.7", "2.16.840.1.113883.10.20.24.3.90", "2.16.840.1.113883.10.20.1.18",
				"1.3.6.1.4.1.19376.1.5.3.1.4.6",
			},
			Name: "Allergy Intolerance Observation", Target: "AllergyIntolerance",
			Convert: func(c *statement.Context, n *cda.Node) { allergy(c, n, nil) },
		},
	}
}
