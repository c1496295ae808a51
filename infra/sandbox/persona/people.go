package persona

import "strings"

func identity(c *chart) {
	s := c.spec
	c.put("Patient", s.patientID(), object{
		"active":     true,
		"identifier": list{object{"system": "urn:recordbridge:sandbox:mrn", "value": "MRN-" + s.id}},
		"name": list{object{
			"use": "official", "family": s.family, "given": list{s.given}, "text": s.given + " " + s.family,
		}},
		"gender":    s.gender,
		"birthDate": s.birth,
		"telecom":   list{object{"system": "email", "value": s.id + "@patient.example", "use": "home"}},
		"address": list{object{
			"line": list{"1 Example Lane"}, "city": "Sampleton", "state": "MA",
			"postalCode": "00000", "country": "US",
		}},
		"communication": list{object{"language": concept("urn:ietf:bcp:47", "en-US", "English"), "preferred": true}},
		"extension": list{object{
			"url":       "http://hl7.org/fhir/us/core/StructureDefinition/us-core-birthsex",
			"valueCode": "UNK",
		}},
		"managingOrganization": reference(c.clinic()),
		"generalPractitioner":  list{reference(c.doctor(0))},
	})
}

func intake(c *chart) {
	c.encounter = c.add("Encounter", object{
		"status":  "finished",
		"class":   object{"system": terminology + "v3-ActCode", "code": "AMB", "display": "ambulatory"},
		"type":    list{concept(snomed, "185349003", "Encounter for check up")},
		"subject": c.patient(),
		"participant": list{object{
			"individual": reference(c.doctor(0)),
		}},
		"period":          period(c.at(0, 0), c.at(0, 30)),
		"location":        list{object{"location": reference(c.examRoom())}},
		"serviceProvider": reference(c.clinic()),
	})
	c.condition = c.problem(c.spec.chronic, 0, "problem-list-item", "active")
}

func (c *chart) clinic() string {
	return c.once("Organization", "orchard-health", object{
		"active": true,
		"type":   list{concept(terminology+"organization-type", "prov", "Healthcare Provider")},
		"name":   "Orchard Health (sandbox)",
	})
}

func (c *chart) laboratory() string {
	return c.once("Organization", "meadow-laboratory", object{
		"active": true,
		"name":   "Meadow Laboratory (sandbox)",
		"partOf": reference(c.clinic()),
	})
}

func (c *chart) payer() string {
	return c.once("Organization", "harbour-insurance", object{
		"active": true,
		"type":   list{concept(terminology+"organization-type", "pay", "Payer")},
		"name":   "Harbour Insurance (sandbox)",
	})
}

func (c *chart) doctor(n int) string {
	names := [][2]string{{"Sage", "Heron"}, {"Robin", "Thistle"}, {"Wren", "Sorrel"}}
	name := names[n%len(names)]

	return c.once("Practitioner", "practitioner-"+name[1], object{
		"active": true,
		"name":   list{object{"family": name[1], "given": list{name[0]}, "prefix": list{"Dr."}}},
	})
}

func (c *chart) examRoom() string {
	return c.once("Location", "orchard-room-1", object{
		"status":               "active",
		"name":                 "Orchard Health, room 1",
		"managingOrganization": reference(c.clinic()),
	})
}

// formulary adds the drug's Medication, to which MedicationRequests refer.
func (c *chart) formulary(drug code) string {
	return c.once("Medication", "rx-"+drug.code, object{
		"status": "active",
		"code":   coded(drug),
	})
}

// largeNote is the largest attachment's size in bytes. It exceeds a client's read buffer and is below a Lambda
// function's maximum response.
const largeNote = 1 << 20

// unusual adds data that is valid FHIR but may break clients, such as mixed scripts and emoji, markup in strings,
// partial dates, contained resources, a resource without a category, repeated references and a large attachment.
func unusual(c *chart) {
	c.add("Condition", object{
		"code":          object{"text": "Høysnue – 花粉症 – حساسية 🌾 \u2028 <script>alert('sandbox')</script>"},
		"subject":       c.patient(),
		"onsetDateTime": "1999",
		"note":          list{object{"text": "Line one\nLine two\tTab \"quoted\" back\\slash"}},
	})
	c.add("MedicationRequest", object{
		"status":              "stopped",
		"intent":              "order",
		"contained":           list{object{"resourceType": "Medication", "id": "med", "code": object{"text": "Herbal tea"}}},
		"medicationReference": reference("#med"),
		"subject":             c.patient(),
		"authoredOn":          "2003-04",
	})
	c.add("Observation", object{
		"status":            "entered-in-error",
		"code":              object{"text": "Reading without a category"},
		"subject":           c.patient(),
		"performer":         list{reference(c.doctor(0)), reference(c.doctor(0)), reference(c.doctor(1))},
		"effectiveDateTime": "2001-09",
		"dataAbsentReason":  concept(terminology+"data-absent-reason", "unknown", "Unknown"),
	})
	line := "A long note, as a discharge summary copied forward many times tends to be.\n"
	long := strings.Repeat(line, largeNote/len(line))
	c.add("DocumentReference", c.document(noteTypes[2], 0, list{c.file("text/plain", long)}))
}
