// Package people defines the synthetic patients of TEFCA mode (docs/guide/tefca.md, "Patients"). The simulated identity
// provider vouches for these patients, the simulated network holds their records, and POST
// /bridge/vault_connection/revoke ends their connections. The patients are not real people, and their email addresses
// use a domain reserved for examples (RFC 6761 section 6.5).
package people

import (
	"slices"
	"strings"

	"recordbridge/shared/tefca"
)

// Issuer is the simulated identity provider's path, relative to the sandbox's base URL.
const Issuer = "/identity"

// Patient is one of the synthetic patients.
type Patient struct {
	Subject string // permanent ID at the simulated identity provider
	Story   string // description of the patient's test case, for testers
	Person  tefca.Person
}

// Named returns the patient with the given email address, ignoring case.
func Named(email string) (Patient, bool) {
	all := All()
	at := slices.IndexFunc(all, func(p Patient) bool { return strings.EqualFold(p.Person.Email, email) })
	if at < 0 {
		return Patient{}, false
	}
	return all[at], true
}

// All returns all synthetic patients.
func All() []Patient {
	return []Patient{
		patient("p01", "Maple", "Aster", "1984-03-12", "female", "Several hospitals have records",
			home("Madison", "WI", "53703")),
		patient("p02", "Sorrel", "Birch", "1951-11-02", "male", "One hospital has a long record",
			home("Portland", "OR", "97205")),
		patient("p03", "Willow", "Calder", "1990-07-24", "female", "One facility finds several possible patients (ambiguous)",
			home("Austin", "TX", "78701")),
		patient("p04", "Rowan", "Dell", "1977-01-30", "male", "Some facilities don't respond in time",
			home("Denver", "CO", "80202")),
		patient("p05", "Hazel", "Ember", "2001-05-05", "female", "One facility lists no documents",
			home("Boston", "MA", "02108")),
		patient("p06", "Alder", "Fenn", "1966-09-17", "male", "Two hospitals' documents state the same facts",
			home("Seattle", "WA", "98101")),
		patient("p07", "Juniper", "Gale", "1939-12-08", "female", "One document can't be retrieved",
			home("Tucson", "AZ", "85701")),
		patient("p08", "Linden", "Heath", "1995-10-21", "male", "No facility finds the patient",
			home("Atlanta", "GA", "30303")),
		patient("p09", "Laurel", "Iverbrook", "1988-02-29", "female", "Facilities find the patient by a former address",
			home("Chicago", "IL", "60601"), home("Springfield", "IL", "62702")),
		patient("p10", "Cedar", "Jessamine", "1972-06-14", "male", "Two facilities respond slowly",
			home("Nashville", "TN", "37201")),
		patient("p11", "Briar", "Kestlewood", "1958-08-19", "female", "One document is too large, and one is not XML",
			home("San Diego", "CA", "92101")),
		patient("p12", "Aspen", "Larkmoor", "1981-04-27", "male", "Facilities return errors or require a new identity check",
			home("Columbus", "OH", "43201")),
		patient("p13", "Holly Ann", "Maywood", "2003-03-03", "female", "The search must not return a twin sister's records",
			home("Helena", "MT", "59601")),
		patient("p14", "Holly Beth", "Maywood", "2003-03-03", "female", "A twin's records are at another hospital",
			home("Helena", "MT", "59601")),
	}
}

// patient returns a Patient. The first address is the current one.
func patient(subject, given, family, born, sex, story string, addresses ...tefca.Address) Patient {
	return Patient{Subject: subject, Story: story, Person: tefca.Person{
		Given: given, Family: family, BirthDate: born, Sex: sex, Addresses: addresses,
		Email: strings.ToLower(strings.ReplaceAll(given, " ", ".")+"."+family) + "@tefca.example",
	}}
}

func home(city, state, postalCode string) tefca.Address {
	return tefca.Address{Street: "1 Example Street", City: city, State: state, PostalCode: postalCode, Country: "US"}
}
