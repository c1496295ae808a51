// Package functional converts the Functional Status (2.16.840.1.113883.10.20.22.2.14) and Mental Status
// (2.16.840.1.113883.10.20.22.2.56) Sections to Observations.
//
// C-CDA on FHIR does not cover these sections, so the rules follow its page on results (CF-results.html) and US Core
// Simple Observation.
package functional

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/statement"
)

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/functional", Sections: sections(), Entries: entries()}
}

func sections() []statement.Section {
	return []statement.Section{
		{
			Codes: []string{"47420-5"}, Name: "Functional Status", Titles: []string{"functional status"},
			Roots: []string{
				"2.16.840.1.113883.10.20.22.2.14", "2.16.840.1.113883.10.20.1.5", "1.3.6.1.4.1.19376.1.5.3.1.3.17",
				"2.16.840.1.113883.3.88.11.83.109",
			},
			Assume: []statement.Assumption{
				{Element: "organizer", Root: "2.16.840.1.113883.10.20.22.4.66"},
				{Element: "observation", Root: "2.16.840.1.113883.10.20.22.4.67"},
			},
			Shared: []string{"2.16.840.1.113883.10.20.22.4.2", "2.16.840.1.113883.10.20.22.4.1"},
		},
		{
			Codes: []string{"10190-7"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.56"}, Name: "Mental Status",
			Titles: []string{"mental status", "cognitive status"},
			Assume: []statement.Assumption{
				{Element: "organizer", Root: "2.16.840.1.113883.10.20.22.4.75"},
				{Element: "observation", Root: "2.16.840.1.113883.10.20.22.4.74"},
			},
		},
	}
}

func entries() []statement.Entry {
	rule := func(name string, convert func(*statement.Context, *cda.Node), roots ...string) statement.Entry {
		return statement.Entry{Roots: roots, Name: name, Target: "Observation", Convert: convert}
	}
	return []statement.Entry{
		rule("Functional Status Organizer", statusPanel(functionalStatus), "2.16.840.1.113883.10.20.22.4.66"),
		rule("Functional Status Observation", statusObservation(functionalStatus), "2.16.840.1.113883.10.20.22.4.67"),
		rule("Self-Care Activities", statusObservation(functionalStatus), "2.16.840.1.113883.10.20.22.4.128"),
		rule("Sensory Status", statusObservation(functionalStatus), "2.16.840.1.113883.10.20.22.4.127"),
		rule("Mental Status Organizer", statusPanel(cognitiveStatus), "2.16.840.1.113883.10.20.22.4.75"),
		rule("Mental Status Observation", statusObservation(cognitiveStatus), "2.16.840.1.113883.10.20.22.4.74"),
		rule("Cognitive Abilities Observation", statusObservation(cognitiveStatus), "2.16.840.1.113883.10.20.22.4.126"),
		rule("Assessment Scale Observation", assessment, "2.16.840.1.113883.10.20.22.4.69"),
		rule("Assessment Scale Supporting Observation", assessment, "2.16.840.1.113883.10.20.22.4.86"),
	}
}
