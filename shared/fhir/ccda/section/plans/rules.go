// Package plans converts the Plan of Treatment Section (2.16.840.1.113883.10.20.22.2.10) and the intervention, referral
// and instruction sections. It creates CarePlans, ServiceRequests and other requests.
//
// C-CDA on FHIR does not cover these sections, so the rules follow the workflow pattern of FHIR R4 (workflow.html) and
// US Core CarePlan and ServiceRequest.
package plans

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/docref"
	"recordbridge/shared/fhir/ccda/statement"
)

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{
		Folder: "section/plans", Sections: sections(), Entries: append(planned(), interventions()...),
	}
}

// planAssumptions returns, by element and mood, the templates assumed for plan entries without a template.
func planAssumptions() []statement.Assumption {
	return []statement.Assumption{
		{Element: "act", Mood: "EVN", Root: "2.16.840.1.113883.10.20.22.4.141"},
		{Element: "act", Root: "2.16.840.1.113883.10.20.22.4.39"},
		{Element: "encounter", Root: "2.16.840.1.113883.10.20.22.4.40"},
		{Element: "procedure", Root: "2.16.840.1.113883.10.20.22.4.41"},
		{Element: "substanceAdministration", Root: "2.16.840.1.113883.10.20.22.4.42"},
		{Element: "supply", Root: "2.16.840.1.113883.10.20.22.4.43"},
		{Element: "observation", Mood: "GOL", Root: statement.GoalRoot},
		{Element: "observation", Mood: "RQO", Root: "2.16.840.1.113883.10.20.22.4.44"},
		{Element: "observation", Mood: "INT", Root: "2.16.840.1.113883.10.20.22.4.44"},
		{Element: "observation", Mood: "PRP", Root: "2.16.840.1.113883.10.20.22.4.44"},
		{Element: "observation", Mood: "PRMS", Root: "2.16.840.1.113883.10.20.22.4.44"},
	}
}

func sections() []statement.Section {
	all := &carePlans{}
	return []statement.Section{
		{
			Codes: []string{"18776-5"}, Name: "Plan of Treatment", Assume: planAssumptions(), Narrative: all.convert,
			Roots: []string{
				"2.16.840.1.113883.10.20.22.2.10", "2.16.840.1.113883.10.20.1.10", "1.3.6.1.4.1.19376.1.5.3.1.3.31",
				"2.16.840.1.113883.3.88.11.83.124",
			},
			Titles: []string{"plan of treatment", "treatment plan", "plan of care", "care plan", "plan"},
		},
		{
			Codes: []string{"51847-2"}, Name: "Assessment and Plan", Assume: planAssumptions(),
			Narrative: all.convertAssessment,
			Roots:     []string{"2.16.840.1.113883.10.20.22.2.9", "1.3.6.1.4.1.19376.1.5.3.1.1.13.2.5"},
			Titles:    []string{"assessment and plan", "assessment and plan of treatment"},
		},
		{
			Codes: []string{"62387-6"}, Roots: []string{"2.16.840.1.113883.10.20.21.2.3"}, Name: "Interventions",
			Titles:    []string{"interventions", "interventions section"},
			Narrative: all.convert,
			Assume: append([]statement.Assumption{
				{Element: "act", Mood: "EVN", Root: interventionRoot},
				{Element: "act", Mood: "INT", Root: interventionRoot},
			}, planAssumptions()...),
		},
		{
			Codes: []string{"59772-4"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.30"}, Name: "Planned Procedure",
			Titles: []string{"planned procedure"},
			Assume: planAssumptions(), Narrative: docref.OfWords,
		},
		{
			Codes: []string{"42349-1"}, Roots: []string{"1.3.6.1.4.1.19376.1.5.3.1.3.1"}, Name: "Reason for Referral",
			Titles: []string{"reason for referral"},
			Assume: append([]statement.Assumption{
				{Element: "act", Root: "2.16.840.1.113883.10.20.22.4.140"},
			}, planAssumptions()...),
			Narrative: docref.OfWords,
		},
		{
			Codes: []string{"69730-0", "8653-8"},
			Roots: []string{"2.16.840.1.113883.10.20.22.2.45", "2.16.840.1.113883.10.20.22.2.41"}, Name: "Instructions",
			Titles: []string{
				"instructions", "patient instructions", "discharge instructions", "hospital discharge instructions",
			},
			Assume: append([]statement.Assumption{
				{Element: "act", Root: statement.InstructionRoot},
			}, planAssumptions()...),
			Narrative: docref.OfWords,
		},
	}
}

const interventionRoot = "2.16.840.1.113883.10.20.22.4.131"

func interventions() []statement.Entry {
	return []statement.Entry{
		{
			Roots: []string{interventionRoot, "2.16.840.1.113883.10.20.22.4.146"}, Name: "Intervention Act",
			Target:  "ServiceRequest (planned), Procedure (done)",
			Convert: intervention,
		},
	}
}

// planned returns the rules for planned statements (C-CDA R2.1, Plan of Treatment Section).
func planned() []statement.Entry {
	request := func(c *statement.Context, n *cda.Node) { request(c, n) }
	return []statement.Entry{
		{Roots: []string{statement.PlannedActRoot}, Name: "Planned Act", Target: "ServiceRequest", Convert: request},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.41"}, Name: "Planned Procedure", Target: "ServiceRequest",
			Convert: request,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.44"}, Name: "Planned Observation", Target: "ServiceRequest",
			Convert: plannedObservation,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.130"}, Name: "Nutrition Recommendation",
			Target: "ServiceRequest", Convert: request,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.40"}, Name: "Planned Encounter",
			Target: "Encounter (planned), ServiceRequest (requested)", Convert: plannedEncounter,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.43"}, Name: "Planned Supply",
			Target:  "MedicationRequest, DeviceRequest",
			Convert: plannedSupply,
		},
		{
			Roots: statement.InstructionRoots(), Name: "Instruction",
			Target: "ServiceRequest, or part of the related resource", Convert: instruction,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.140"}, Name: "Patient Referral Act", Target: "ServiceRequest",
			Convert: referral,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.141"}, Name: "Handoff Communication Participants",
			Target: "Communication", Convert: handoff,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.1.25"}, Name: "Plan of Care Activity (CCD)",
			Target: "as for a planned entry with that element", Convert: planActivity,
		},
	}
}
