// Package equipment converts the Medical Equipment Section (2.16.840.1.113883.10.20.22.2.23) to SupplyDeliveries and
// Devices.
//
// C-CDA on FHIR does not cover this section, so the rules follow US Core Implantable Device and FHIR R4
// (supplydelivery.html).
package equipment

import (
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/statement"
)

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/equipment", Sections: sections(), Entries: entries()}
}

func sections() []statement.Section {
	return []statement.Section{{
		Codes: []string{"46264-8"}, Name: "Medical Equipment",
		Titles: []string{"medical equipment", "implants", "durable medical equipment", "implantable devices"},
		Roots: []string{
			"2.16.840.1.113883.10.20.22.2.23", "2.16.840.1.113883.10.20.1.7", "1.3.6.1.4.1.19376.1.5.3.1.1.5.3.5",
			"2.16.840.1.113883.3.88.11.83.128",
		},
		Assume: []statement.Assumption{
			{Element: "supply", Root: "2.16.840.1.113883.10.20.22.4.50"},
			{Element: "procedure", Root: "2.16.840.1.113883.10.20.22.4.14"},
		},
		Shared: []string{"2.16.840.1.113883.10.20.1.34"},
	}}
}

func entries() []statement.Entry {
	return []statement.Entry{
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.50"}, Name: "Non-Medicinal Supply Activity",
			Target: "SupplyDelivery, Device, ServiceRequest (planned)", Convert: supply,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.22.4.135"}, Name: "Medical Equipment Organizer",
			Target: "Observation, members separately", Convert: observation.Generic,
		},
	}
}
