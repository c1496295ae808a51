package us

import "slices"

// vendor is a fictional list publisher with a real publisher's statistics.
type vendor struct {
	label string
	rows  int
	// base URLs, in which "#" stands for an institution's number and "@" for its host name
	bases []string

	// fractions of the vendor's rows that have each property
	zip, npi, capitals, legal, stateFirst, townLast, noise float64

	isCopied bool    // true if the collector lists some of this vendor's rows
	copies   float64 // fraction of the collector's rows that are copied from other vendors
}

// vendors returns all vendors, with the collector last.
func vendors() []vendor {
	return append(slices.Concat(largeVendors(), smallVendors(), synthetic()), vendor{
		label: "Allfound", rows: 6808, bases: []string{"fhir.hallow.us.example/FHIRServer/fhir/#"}, zip: 0.82, capitals: 0.02,
		legal: 0.16, townLast: 0.2, copies: 0.36,
	})
}

// largeVendors returns the vendors with more than a thousand rows, including those in additional lists.
func largeVendors() []vendor {
	return []vendor{
		{label: "Onehall_Clinicals", rows: 17019, bases: []string{onehall}, capitals: 0.16, legal: 0.31, stateFirst: 0.72},
		{
			label: "Freeleaf", rows: 4754, capitals: 0.08, legal: 0.29,
			bases: []string{"api.freeleaf.us.example/fhir/r4/v1/#", "api.leafpatient.us.example/fhir/r4/v1/#"},
		},
		{
			label: "Verdigon", rows: 3098, capitals: 0.02, legal: 0.19,
			bases: []string{"fhir.verdigon.us.example/fhirroute/fhir/#", "fhir.verdigon.us.example/fhirroute/open/#"},
		},
		{label: "Verdigon", rows: 271, legal: 0.1, bases: []string{"fhir.verdigon.us.example/fhirroute/open/#"}},
		{
			label: "Centurio_Corporation", rows: 2606, zip: 1, capitals: 0.01, legal: 0.2, isCopied: true,
			bases: []string{"fhir-patients.centurio.us.example/dstu2/#/", "fhir-patients.centurio.us.example/r4/#/"},
		},
		{
			label: "Centurio_Corporation", rows: 699, bases: []string{"fhir-patients.centurio.us.example/r4/#/"},
			zip: 1, legal: 0.2,
		},
		{
			label: "eHollow_LLC", rows: 2541, bases: []string{"fhir4.ehollow.us.example/fhir/r4/#"}, zip: 0.88, capitals: 0.04,
			legal: 0.35, townLast: 0.06, isCopied: true,
		},
		{label: "Marewell_LLC", rows: 2376, bases: []string{"app.marewell.us.example/api/fhir/#"}, legal: 0.28, noise: 0.03},
		{
			label: "Pathstone_EHR", rows: 1213, bases: []string{"developer.pathstone.us.example/#/api/"}, capitals: 0.03,
			legal: 0.24,
		},
		{
			label: "Elevant_Inc", rows: 1110, bases: []string{"@.us.example/FHIR/#", "@.us.example/FHIR/R4/#"}, capitals: 0.11,
			legal: 0.08, noise: 0.05,
		},
	}
}

// smallVendors returns the publishers with a hundred to a thousand rows.
func smallVendors() []vendor {
	return []vendor{
		{
			label: "Inland_Medical_Technology_Inc", rows: 920,
			bases: []string{"@.us.example/v2/argonaut/v1", "@.us.example/v2/uscore/R4"}, legal: 0.02, noise: 0.3,
		},
		{label: "Onehall_Inc", rows: 723, bases: []string{onehall}, capitals: 0.19, legal: 0.32, stateFirst: 0.41},
		{
			label: "Parkway_Health_LLC", rows: 632, bases: []string{"fhir-api.parkway.us.example/fhir/R4/#"}, capitals: 0.04,
			legal: 0.44,
		},
		{
			label: "Second_Insight_Corporation", rows: 527, bases: []string{"@.us.example/API/#/R4"}, capitals: 0.05,
			legal: 0.38,
		},
		{
			label: "Epoch_Systems_Corporation", rows: 954,
			bases: []string{"@.us.example/FHIRProxy/api/FHIR/DSTU2/", "@.us.example/FHIRProxy/api/FHIR/R4/"},
		},
		{
			label: "Ordinary_Medicine", rows: 334, bases: []string{"@.gastro.us.example/fhir/r4/#"}, capitals: 0.47,
			legal: 0.19,
		},
		{label: "Office_Pronto", rows: 298, bases: []string{"applications.pronto.us.example/#/api/fhir/R4"}, legal: 0.73},
		{
			label: "Runline_LLC", rows: 177, bases: []string{"patientportal.runline.us.example/FHIRServer/FHIR"}, capitals: 0.92,
			legal: 0.34,
		},
		{label: "INNHOST", rows: 140, bases: []string{"fhir.innhost.us.example/tenant/#"}, npi: 0.99},
		{label: "Netwise", rows: 109, bases: []string{"fhir.netwise.us.example/uscore/v1"}, legal: 0.21},
		{
			label: "Camellia_Health", rows: 100, bases: []string{"app.camellia.us.example/fhir/R4/#"}, zip: 0.99, capitals: 1,
			legal: 0.13,
		},
	}
}

// synthetic returns the vendors that have only a few rows each.
func synthetic() []vendor {
	names := []string{
		"Alba", "Brio", "Cirra", "Dova", "Ember", "Folia", "Gala", "Helio", "Iris", "Juno", "Kite", "Lumen", "Mira", "Nova",
		"Opal", "Pico", "Quanta", "Rhea", "Sola",
		"Tela", "Umbra", "Vela", "Wren", "Xeno", "Yara", "Zephyr", "Acorn", "Basil", "Clove", "Dill", "Elder", "Fennel",
		"Ginger", "Hazel", "Ivy", "Juniper", "Kale", "Laurel", "Myrtle", "Nettle",
	}
	all := make([]vendor, 0, len(names))
	for i, name := range names {
		all = append(all, vendor{
			label: name + "_Synthetic", rows: max(1, 60/(i+1)),
			bases: []string{"@.us.example/" + name + "/R4"}, legal: 0.2,
		})
	}
	return all
}

// onehall is the URL of the largest server, which appears in two lists.
const onehall = "api.platform.onehall.us.example/fhir/r4"
