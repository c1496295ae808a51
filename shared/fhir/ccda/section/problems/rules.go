// Package problems converts the Problem Section (2.16.840.1.113883.10.20.22.2.5) and the diagnosis sections to
// Conditions.
//
// See C-CDA on FHIR: hl7.org/fhir/us/ccda/CF-problems.html. Other sections convert problems by calling
// statement.Problems.
package problems

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/statement"
)

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/problems", Sections: sections(), Entries: entries()}
}

func sections() []statement.Section {
	concern := []statement.Assumption{
		{Element: "act", Root: "2.16.840.1.113883.10.20.22.4.3"},
		{Element: "observation", Root: "2.16.840.1.113883.10.20.22.4.4"},
	}
	return []statement.Section{
		{
			Codes: []string{"11450-4"},
			Roots: []string{
				"2.16.840.1.113883.10.20.22.2.5", "2.16.840.1.113883.10.20.1.11", "1.3.6.1.4.1.19376.1.5.3.1.3.6",
				"2.16.840.1.113883.3.88.11.83.103",
			},
			Name: "Problems", Titles: []string{"problems", "problem list", "active problems", "conditions"},
			Assume: concern,
		},
		{
			Codes:  []string{"11348-0"},
			Roots:  []string{"2.16.840.1.113883.10.20.22.2.20", "1.3.6.1.4.1.19376.1.5.3.1.3.8"},
			Name:   "Past Medical History",
			Titles: []string{"past medical history", "history of past illness", "resolved problems"}, Assume: concern,
		},
		{
			Codes: []string{"46241-6"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.43"},
			Name: "Admission Diagnosis", Titles: []string{"admission diagnosis", "hospital admission diagnosis"},
			Assume: concern,
		},
		{
			Codes: []string{"11535-2", "78375-3"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.24"},
			Name: "Discharge Diagnosis", Titles: []string{"discharge diagnosis", "hospital discharge diagnosis"},
			Assume: concern,
		},
		{
			Codes: []string{"10219-4"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.34"},
			Name: "Preoperative Diagnosis", Titles: []string{"preoperative diagnosis"}, Assume: concern,
		},
		{
			Codes: []string{"10218-6"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.35"},
			Name: "Postoperative Diagnosis", Titles: []string{"postoperative diagnosis"}, Assume: concern,
		},
		{
			Codes: []string{"59769-0"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.36"},
			Name: "Postprocedure Diagnosis", Titles: []string{"postprocedure diagnosis"}, Assume: concern,
		},
		{
			Codes: []string{"55109-3"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.37"},
			Name: "Complications", Titles: []string{"complications"}, Assume: concern,
		},
		{
			Codes: []string{"59776-5"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.28"},
			Name: "Procedure Findings", Titles: []string{"procedure findings"}, Assume: concern,
		},
	}
}

func entries() []statement.Entry {
	holder := func(c *statement.Context, n *cda.Node) { problemAct(c, n) }
	return []statement.Entry{
		{
			Roots: []string{
				"2.16.840.1.113883.10.20.22.4.3", "2.16.840.1.113883.10.20.1.27", "1.3.6.1.4.1.19376.1.5.3.1.4.5.2",
			},
			Name: "Problem Concern Act", Target: "Condition", Convert: holder,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.34"}, Name: "Hospital Admission Diagnosis",
			Target: "Condition, Encounter.diagnosis", Convert: holder,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.33"}, Name: "Hospital Discharge Diagnosis",
			Target: "Condition, Encounter.diagnosis", Convert: holder,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.65"}, Name: "Preoperative Diagnosis",
			Target: "Condition, Encounter.diagnosis", Convert: holder,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.51"}, Name: "Postprocedure Diagnosis",
			Target: "Condition, Encounter.diagnosis", Convert: holder,
		},
		{
			Roots: problemRoots(), Name: "Problem Observation", Target: "Condition", Convert: problemBy,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.68"}, Name: "Functional Status Problem Observation",
			Target: "Condition", Convert: problemBy,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.73"}, Name: "Cognitive Status Problem Observation",
			Target: "Condition", Convert: problemBy,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.80"}, Name: "Encounter Diagnosis",
			Target: "Condition, Encounter.diagnosis", Convert: holder,
		},
		{
			Roots: []string{statement.IndicationRoot}, Name: "Indication",
			Target: "reason for the indicated act, or Condition", Convert: problemAlone,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.114"}, Name: "Longitudinal Care Wound Observation",
			Target: "Condition", Convert: problemAlone,
		},
	}
}

// problemRoots returns the templates for a Problem Observation.
func problemRoots() []string {
	return []string{"2.16.840.1.113883.10.20.22.4.4", "2.16.840.1.113883.10.20.1.28", "1.3.6.1.4.1.19376.1.5.3.1.4.5"}
}

func problemBy(c *statement.Context, n *cda.Node) { problem(c, n, nil) }

// problemAlone creates a Condition for a problem that is not part of a concern.
func problemAlone(c *statement.Context, n *cda.Node) {
	if n.At("value") != nil {
		problem(c, n, nil)
	}
}
