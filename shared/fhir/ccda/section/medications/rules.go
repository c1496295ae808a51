// Package medications converts the Medications Section (2.16.840.1.113883.10.20.22.2.1) and the sections for admission,
// discharge and administered medications. It creates MedicationRequests, MedicationAdministrations and
// MedicationDispenses.
//
// See C-CDA on FHIR: hl7.org/fhir/us/ccda/CF-medications.html.
package medications

import "recordbridge/shared/fhir/ccda/statement"

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/medications", Sections: sections(), Entries: entries()}
}

func sections() []statement.Section {
	assume := []statement.Assumption{
		{Element: "substanceAdministration", Root: "2.16.840.1.113883.10.20.22.4.16"},
		{Element: "supply", Mood: "EVN", Root: "2.16.840.1.113883.10.20.22.4.18"},
		{Element: "supply", Root: "2.16.840.1.113883.10.20.22.4.17"},
	}
	return []statement.Section{
		{
			Codes: []string{"10160-0", "8677-7"}, Name: "Medications",
			Titles: []string{"medications", "current medications", "medication list"}, Assume: assume,
			Roots: []string{
				"2.16.840.1.113883.10.20.22.2.1", "2.16.840.1.113883.10.20.1.8", "1.3.6.1.4.1.19376.1.5.3.1.3.19",
				"2.16.840.1.113883.3.88.11.83.112",
			},
		},
		{
			Codes: []string{"10183-2", "75311-1"},
			Roots: []string{"2.16.840.1.113883.10.20.22.2.11", "1.3.6.1.4.1.19376.1.5.3.1.3.22"},
			Name:  "Discharge Medications", Titles: []string{"discharge medications", "hospital discharge medications"},
			Assume: assume,
		},
		{
			Codes: []string{"29549-3"},
			Roots: []string{"2.16.840.1.113883.10.20.22.2.38", "1.3.6.1.4.1.19376.1.5.3.1.3.21"},
			Name:  medicationsAdministered, Titles: []string{"medications administered"}, Assume: assume,
		},
		{
			Codes: []string{"42346-7"},
			Roots: []string{"2.16.840.1.113883.10.20.22.2.44", "1.3.6.1.4.1.19376.1.5.3.1.3.20"},
			Name:  "Admission Medications", Titles: []string{"admission medications", "medications on admission"},
			Assume: assume,
		},
		{
			Codes: []string{"59774-0"}, Roots: []string{"2.16.840.1.113883.10.20.22.2.25"},
			Name: medicationsAdministered, Titles: []string{"anesthesia"}, Assume: assume,
		},
	}
}

// medicationsAdministered is the section for medication that the document's author administered.
const medicationsAdministered = "Medications Administered"

func entries() []statement.Entry {
	return []statement.Entry{
		{
			Roots: []string{
				"2.16.840.1.113883.10.20.22.4.16", "2.16.840.1.113883.10.20.1.24", "1.3.6.1.4.1.19376.1.5.3.1.4.7",
			},
			Name:    "Medication Activity",
			Target:  "MedicationRequest, MedicationAdministration (administered)",
			Convert: medication,
		},
		{
			Roots: []string{statement.PlannedMedicationRoot}, Name: "Planned Medication Activity",
			Target: "MedicationRequest", Convert: medication,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.120"}, Name: "Planned Immunization Activity",
			Target: "MedicationRequest", Convert: medication,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.36"}, Name: "Admission Medication",
			Target: "MedicationRequest", Convert: medicationAct,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.35"}, Name: "Discharge Medication",
			Target: "MedicationRequest", Convert: medicationAct,
		},
		{
			Roots: []string{
				statement.SupplyOrderRoot, "2.16.840.1.113883.10.20.1.34", "1.3.6.1.4.1.19376.1.5.3.1.4.7.3",
			},
			Name: "Medication Supply Order", Target: "MedicationRequest.dispenseRequest", Convert: supplyOrder,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.18"}, Name: "Medication Dispense",
			Target: "MedicationDispense", Convert: dispense,
		},
	}
}
