package facilitated

import (
	"strings"

	"recordbridge/shared/tefca"
)

// demographics holds the elements common to Patient and RelatedPerson (FHIR R4), limited to verified data.
type demographics struct {
	Name      []name    `json:"name"`
	Telecom   []telecom `json:"telecom,omitempty"`
	Gender    string    `json:"gender"`
	BirthDate string    `json:"birthDate"`
	Address   []address `json:"address,omitempty"`
}

// patient is a US Core Patient resource.
type patient struct {
	demographics

	Type       string       `json:"resourceType"`
	Identifier []identifier `json:"identifier"`
}

// relatedPerson represents the user as a RelatedPerson resource. In this service, the user and the patient are always
// the same person.
type relatedPerson struct {
	demographics

	Type         string    `json:"resourceType"`
	Patient      reference `json:"patient"`
	Relationship []concept `json:"relationship"`
}

type (
	name struct {
		Use    string   `json:"use"`
		Family string   `json:"family"`
		Given  []string `json:"given"`
	}
	telecom struct {
		System string `json:"system"`
		Value  string `json:"value"`
	}
	address struct {
		Use        string   `json:"use"`
		Line       []string `json:"line,omitempty"`
		City       string   `json:"city,omitempty"`
		State      string   `json:"state,omitempty"`
		PostalCode string   `json:"postalCode,omitempty"`
		Country    string   `json:"country,omitempty"`
	}
	identifier struct {
		System string `json:"system"`
		Value  string `json:"value"`
	}
	reference struct {
		Type    string `json:"type"`
		Display string `json:"display"`
	}
	concept struct {
		Coding []coding `json:"coding"`
	}
	coding struct {
		System string `json:"system"`
		Code   string `json:"code"`
	}
)

// patientOf returns the person as a patient. The identifier is the subject that the identity provider assigned.
func patientOf(who tefca.Assertion) patient {
	return patient{
		Type: "Patient", Identifier: []identifier{{System: who.Issuer, Value: who.Subject}},
		demographics: demographicsOf(who.Person),
	}
}

func userOf(who tefca.Person) relatedPerson {
	return relatedPerson{
		Type: "RelatedPerson", Patient: reference{Type: "Patient", Display: fullName(who)}, demographics: demographicsOf(who),
		Relationship: []concept{{Coding: []coding{{
			System: "http://terminology.hl7.org/CodeSystem/v3-RoleCode",
			Code:   "ONESELF",
		}}}},
	}
}

func demographicsOf(who tefca.Person) demographics {
	d := demographics{
		Name:   []name{{Use: "official", Family: who.Family, Given: strings.Fields(who.Given + " " + who.Middle)}},
		Gender: genderOf(who.Sex), BirthDate: who.BirthDate,
	}
	for _, one := range []telecom{{"phone", who.Phone}, {"email", who.Email}} {
		if one.Value != "" {
			d.Telecom = append(d.Telecom, one)
		}
	}
	use := "home"
	for _, at := range who.Addresses {
		one := address{Use: use, City: at.City, State: at.State, PostalCode: at.PostalCode, Country: at.Country}
		if at.Street != "" {
			one.Line = strings.Split(at.Street, "\n")
		}
		d.Address = append(d.Address, one)
		use = "old" // only the first address is current
	}
	return d
}

// genderOf converts the identity provider's value to a FHIR administrative gender.
func genderOf(sex string) string {
	switch word := strings.ToLower(sex); word {
	case "f", "female":
		return "female"
	case "m", "male":
		return "male"
	case "other", "x":
		return "other"
	}
	return "unknown"
}
