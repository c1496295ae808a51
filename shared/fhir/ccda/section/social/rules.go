// Package social converts the Social History Section (2.16.840.1.113883.10.20.22.2.17) to Observations and Patient
// extensions.
//
// See C-CDA on FHIR: hl7.org/fhir/us/ccda/CF-social.html.
package social

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/statement"
)

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/social", Sections: sections(), Entries: entries()}
}

func sections() []statement.Section {
	return []statement.Section{{
		Codes: []string{"29762-2"}, Name: "Social History",
		Titles: []string{"social history", "social determinants of health"},
		Roots: []string{
			"2.16.840.1.113883.10.20.22.2.17", "2.16.840.1.113883.10.20.1.15", "1.3.6.1.4.1.19376.1.5.3.1.3.16",
			"1.3.6.1.4.1.19376.1.5.3.1.3.16.1",
			"2.16.840.1.113883.3.88.11.83.126",
		},
		Assume: []statement.Assumption{{Element: "observation", Root: "2.16.840.1.113883.10.20.22.4.38"}},
		Shared: []string{"1.3.6.1.4.1.19376.1.5.3.1.4.13"},
	}}
}

func entries() []statement.Entry {
	rule := func(name string, convert func(*statement.Context, *cda.Node), roots ...string) statement.Entry {
		return statement.Entry{Roots: roots, Name: name, Target: "Observation", Convert: convert}
	}
	return append(patientEntries(),
		rule("Social History Observation", social,
			"2.16.840.1.113883.10.20.22.4.38", "2.16.840.1.113883.10.20.1.33", "2.16.840.1.113883.3.88.11.83.19",
			"1.3.6.1.4.1.19376.1.5.3.1.4.13.4"),
		rule("Smoking Status", coded("72166-2", "Tobacco smoking status"), "2.16.840.1.113883.10.20.22.4.78"),
		rule("Tobacco Use", coded("11367-0", "History of Tobacco use"), "2.16.840.1.113883.10.20.22.4.85"),
		rule("Pregnancy Observation", pregnancy, "2.16.840.1.113883.10.20.15.3.8"),
		rule(
			"Pregnancy Intention in Next Year", coded("86645-9", "Pregnancy intention in the next year - Reported"),
			"2.16.840.1.113883.10.20.22.4.281",
		),
		rule(
			"Sexual Orientation Observation", coded("76690-7", "Sexual orientation"),
			"2.16.840.1.113883.10.20.22.4.501",
		),
		rule("Characteristics of Home Environment", social, "2.16.840.1.113883.10.20.22.4.109"),
		rule("Caregiver Characteristics", social, "2.16.840.1.113883.10.20.22.4.72"),
		rule("Cultural and Religious Observation", social, "2.16.840.1.113883.10.20.22.4.111"),
		rule(
			"Basic Occupation Observation", coded("11341-5", "History of Occupation"),
			"2.16.840.1.113883.10.20.22.4.503",
		),
		rule(
			"Basic Industry Observation", coded("86188-0", "History of Occupation industry"),
			"2.16.840.1.113883.10.20.22.4.504",
		),
		rule("Past or Present Occupation Observation", social, "2.16.840.1.113883.10.20.22.4.217"),
		rule("Usual Occupation Observation", social, "2.16.840.1.113883.10.20.22.4.221"),
		rule("Employment Status Observation", social, "2.16.840.1.113883.10.20.22.4.212"),
		rule("Disability Status Observation", disability, "2.16.840.1.113883.10.20.22.4.505"),
	)
}
