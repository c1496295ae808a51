// Package concerns converts the Health Concerns Section (2.16.840.1.113883.10.20.22.2.58), the indications section and
// the nutrition section to Conditions and Observations.
//
// C-CDA on FHIR does not cover these sections, so the rules follow US Core Condition Problems and Health Concerns.
package concerns

import (
	"recordbridge/shared/fhir/ccda/docref"
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/statement"
)

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/concerns", Sections: sections(), Entries: entries()}
}

const healthConcernRoot = "2.16.840.1.113883.10.20.22.4.132"

const riskConcernRoot = "2.16.840.1.113883.10.20.22.4.136"

const healthConcernName = "Health Concerns" // section name, used for the category of the section's Conditions

func sections() []statement.Section {
	return []statement.Section{
		{
			Codes: []string{"75310-3"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.58"}, Name: healthConcernName,
			Titles: []string{"health concerns", "health concerns section"},
			Assume: []statement.Assumption{
				{Element: "act", Root: healthConcernRoot},
				{Element: "observation", Root: "2.16.840.1.113883.10.20.22.4.4"},
			},
		},
		{
			Codes: []string{"59768-2"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.29"},
			Name:      "Procedure Indications",
			Titles:    []string{"procedure indications", "indications"},
			Assume:    []statement.Assumption{{Element: "observation", Root: statement.IndicationRoot}},
			Narrative: docref.OfWords,
		},
		{
			Codes: []string{"61144-2"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.57"}, Name: "Nutrition",
			Titles: []string{"nutrition", "nutrition section"},
			Assume: []statement.Assumption{{Element: "observation", Root: "2.16.840.1.113883.10.20.22.4.124"}},
		},
	}
}

func entries() []statement.Entry {
	return []statement.Entry{
		{
			Roots: []string{healthConcernRoot}, Name: "Health Concern Act", Target: "Condition (health-concern)",
			Convert: healthConcern,
		},
		{
			Roots: []string{riskConcernRoot}, Name: "Risk Concern Act", Target: "Condition (health-concern)",
			Convert: riskConcern,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.133"}, Name: "Wound Measurement Observation",
			Target: "Observation", Convert: observation.Generic,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.134"}, Name: "Wound Characteristics", Target: "Observation",
			Convert: observation.Generic,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.76"}, Name: "Number of Pressure Ulcers Observation",
			Target: "Observation", Convert: observation.Generic,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.77"}, Name: "Highest Pressure Ulcer Stage",
			Target: "Observation", Convert: observation.Generic,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.124"}, Name: "Nutritional Status Observation",
			Target: "Observation", Convert: observation.Generic,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.138"}, Name: "Nutrition Assessment", Target: "Observation",
			Convert: observation.Generic,
		},
	}
}
