// Package directives converts the Advance Directives Section (2.16.840.1.113883.10.20.22.2.21) to Consents and
// Observations.
//
// C-CDA on FHIR does not cover this section, so the rules follow the section on advance care directives in FHIR R4
// (consent.html).
package directives

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/statement"
)

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/directives", Sections: sections(), Entries: entries()}
}

const (
	directiveRoot          = "2.16.840.1.113883.10.20.22.4.48"
	directiveOrganizerRoot = "2.16.840.1.113883.10.20.22.4.108"
)

func sections() []statement.Section {
	return []statement.Section{{
		Codes: []string{"42348-3"}, Name: "Advance Directives", Titles: []string{"advance directives"},
		Roots: []string{
			"2.16.840.1.113883.10.20.22.2.21", "2.16.840.1.113883.10.20.1.1", "1.3.6.1.4.1.19376.1.5.3.1.3.34",
			"1.3.6.1.4.1.19376.1.5.3.1.3.35",
			"2.16.840.1.113883.3.88.11.83.116",
		},
		Assume: []statement.Assumption{
			{Element: "organizer", Root: directiveOrganizerRoot}, {Element: "observation", Root: directiveRoot},
		},
	}}
}

func entries() []statement.Entry {
	return []statement.Entry{
		{
			Roots:   []string{directiveRoot, "2.16.840.1.113883.10.20.1.17", "1.3.6.1.4.1.19376.1.5.3.1.4.13.7"},
			Name:    "Advance Directive Observation",
			Target:  "Consent (directive or document), Observation (other values)",
			Convert: func(c *statement.Context, n *cda.Node) { directive(c, n, nil) },
		},
		{
			Roots: []string{directiveOrganizerRoot}, Name: "Advance Directive Organizer", Target: "Consent",
			Convert: directives,
		},
	}
}
