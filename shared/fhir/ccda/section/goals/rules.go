// Package goals converts the Goals Section (2.16.840.1.113883.10.20.22.2.60) and the outcomes section
// (2.16.840.1.113883.10.20.22.2.61) to Goals and Observations.
//
// C-CDA on FHIR does not cover these sections, so the rules follow US Core Goal.
package goals

import "recordbridge/shared/fhir/ccda/statement"

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/goals", Sections: sections(), Entries: entries()}
}

const progressRoot = "2.16.840.1.113883.10.20.22.4.110"

func sections() []statement.Section {
	return []statement.Section{
		{
			Codes: []string{"61146-7"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.60"}, Name: "Goals",
			Titles: []string{"goals", "goals section"},
			Assume: []statement.Assumption{
				{Element: "observation", Root: statement.GoalRoot}, {Element: "act", Root: statement.GoalRoot},
			},
		},
		{
			Codes: []string{"11383-7"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.61"},
			Name: "Health Status Evaluations and Outcomes",
			Titles: []string{
				"health status evaluations and outcomes", "health status evaluations/outcomes section", "outcomes",
			},
			Assume: []statement.Assumption{
				{Element: "observation", Root: outcomeRoot},
				{Element: "act", Root: statement.ExternalDocumentReference},
			},
		},
	}
}

const outcomeRoot = "2.16.840.1.113883.10.20.22.4.144"

func entries() []statement.Entry {
	return []statement.Entry{
		{Roots: []string{statement.GoalRoot}, Name: "Goal Observation", Target: "Goal", Convert: goal},
		{
			Roots: []string{statement.PreferenceRoot, "2.16.840.1.113883.10.20.22.4.142"}, Name: "Priority Preference",
			Target: "Observation, Goal.priority", Convert: preference,
		},
		{
			Roots: []string{outcomeRoot}, Name: "Outcome Observation", Target: "Observation, Goal.outcomeReference",
			Convert: outcome,
		},
		{
			Roots: []string{progressRoot}, Name: "Progress Toward Goal Observation",
			Target: "Goal.achievementStatus, Observation", Convert: progress,
		},
	}
}
