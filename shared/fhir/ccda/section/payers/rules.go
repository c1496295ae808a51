// Package payers converts the Payers Section (2.16.840.1.113883.10.20.22.2.18) to Coverages.
//
// C-CDA on FHIR does not cover this section, so the rules follow US Core Coverage.
package payers

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/statement"
)

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/payers", Sections: sections(), Entries: entries()}
}

const (
	coverageRoot = "2.16.840.1.113883.10.20.22.4.60"
	policyRoot   = "2.16.840.1.113883.10.20.22.4.61"
)

func sections() []statement.Section {
	return []statement.Section{{
		Codes: []string{"48768-6"}, Name: "Payers",
		Roots: []string{
			"2.16.840.1.113883.10.20.22.2.18", "2.16.840.1.113883.10.20.1.9", "1.3.6.1.4.1.19376.1.5.3.1.1.5.3.7",
			"2.16.840.1.113883.3.88.11.83.101.1",
		},
		Titles: []string{"payers", "insurance", "insurance providers", "health insurance"},
		Assume: []statement.Assumption{{Element: "act", Root: coverageRoot}},
	}}
}

func entries() []statement.Entry {
	return []statement.Entry{
		{
			Roots: []string{coverageRoot, "2.16.840.1.113883.10.20.1.20", "1.3.6.1.4.1.19376.1.5.3.1.4.17"},
			Name:  "Coverage Activity", Target: "Coverage",
			Convert: coverageAct,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.129"}, Name: "Planned Coverage", Target: "Coverage",
			Convert: coverageAct,
		},
		{
			Roots: []string{policyRoot, "2.16.840.1.113883.10.20.1.26", "1.3.6.1.4.1.19376.1.5.3.1.4.18"},
			Name:  "Policy Activity", Target: "Coverage",
			Convert: func(c *statement.Context, n *cda.Node) { convertPolicy(c, n, nil, 0) },
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.1.19"}, Name: "Authorization Activity", Target: "its entries",
			Convert: authorization,
		},
	}
}
