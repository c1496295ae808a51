package persona

import "maps"

// problem adds a Condition whose onset is at visit n.
func (c *chart) problem(what code, n int, category, status string) string {
	return c.add("Condition", object{
		"clinicalStatus":     concept(terminology+"condition-clinical", status, status),
		"verificationStatus": concept(terminology+"condition-ver-status", "confirmed", "Confirmed"),
		"category":           categories("condition-category", category),
		"code":               coded(what),
		"subject":            c.patient(),
		"encounter":          reference(c.encounter),
		"onsetDateTime":      date(c.at(n, 0)),
		"recordedDate":       date(c.at(n, 0)),
		"recorder":           reference(c.doctor(n)),
	})
}

func vaccination(c *chart) { c.vaccinate(0) }

func (c *chart) vaccinate(n int) {
	all := vaccines
	c.add("Immunization", object{
		"status":             "completed",
		"vaccineCode":        coded(all[c.roll("vaccine", n, len(all))]),
		"patient":            c.patient(),
		"encounter":          reference(c.encounter),
		"occurrenceDateTime": instant(c.at(n, 12)),
		"primarySource":      true,
		"location":           reference(c.examRoom()),
	})
}

func allergies(c *chart) {
	all := allergens
	first := c.roll("allergy", 0, len(all))
	for i := range 2 {
		c.add("AllergyIntolerance", object{
			"clinicalStatus":     concept(terminology+"allergyintolerance-clinical", "active", "Active"),
			"verificationStatus": concept(terminology+"allergyintolerance-verification", "confirmed", "Confirmed"),
			"type":               "allergy",
			"category":           list{[]string{"food", "medication", "environment"}[(first+i)%3]},
			"criticality":        "low",
			"code":               coded(all[(first+i)%len(all)]),
			"patient":            c.patient(),
			"recordedDate":       date(c.at(0, 5)),
			"recorder":           reference(c.doctor(i)),
			"reaction": list{object{
				"manifestation": list{concept(snomed, "126485001", "Urticaria")}, "severity": "mild",
			}},
		})
	}
}

// medications adds MedicationRequests that identify their drug by reference or by code.
func medications(c *chart) {
	all := drugs
	first := c.roll("drug", 0, len(all))
	c.medication = c.formulary(all[first])
	c.prescribe(0, object{"medicationReference": reference(c.medication)})
	c.prescribe(0, object{"medicationCodeableConcept": coded(all[(first+1)%len(all)])})
}

// prescribe adds a MedicationRequest for visit n. what identifies the drug by reference or code.
func (c *chart) prescribe(n int, what object) {
	body := object{
		"status":          "active",
		"intent":          "order",
		"category":        categories("medicationrequest-category", "outpatient"),
		"subject":         c.patient(),
		"encounter":       reference(c.encounter),
		"authoredOn":      instant(c.at(n, 20)),
		"requester":       reference(c.doctor(n)),
		"reasonReference": list{reference(c.condition)},
		"dosageInstruction": list{object{
			"sequence": 1, "text": "Take one tablet daily",
			"timing": object{"repeat": object{"frequency": 1, "period": 1, "periodUnit": "d"}},
		}},
	}
	maps.Copy(body, what)
	c.add("MedicationRequest", body)
}

func background(c *chart) {
	c.add("Observation", object{
		"status":               "final",
		"category":             categories("observation-category", "social-history"),
		"code":                 concept(loinc, "72166-2", "Tobacco smoking status"),
		"subject":              c.patient(),
		"effectiveDateTime":    instant(c.at(0, 4)),
		"performer":            list{reference(c.doctor(0))},
		"valueCodeableConcept": concept(snomed, "266919005", "Never smoked tobacco"),
	})
	c.add("FamilyMemberHistory", object{
		"status":       "completed",
		"patient":      c.patient(),
		"relationship": concept(terminology+"v3-RoleCode", "MTH", "mother"),
		"condition":    list{object{"code": concept(snomed, "38341003", "Hypertensive disorder")}},
	})
	c.add("RelatedPerson", object{
		"active":       true,
		"patient":      c.patient(),
		"relationship": list{concept(terminology+"v3-RoleCode", "SPS", "spouse")},
		"name":         list{object{"family": c.spec.family, "given": list{"Bryony"}}},
	})
}
