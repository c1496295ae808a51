package persona

func insurance(c *chart) {
	c.coverage = c.add("Coverage", object{
		"status":       "active",
		"type":         concept(terminology+"v3-ActCode", "EHCPOL", "extended healthcare"),
		"subscriberId": "SUB-" + c.spec.id,
		"beneficiary":  c.patient(),
		"relationship": concept(terminology+"subscriber-relationship", "self", "Self"),
		"payor":        list{reference(c.payer())},
	})
}

func careCoordination(c *chart) {
	team := c.add("CareTeam", object{
		"status":  "active",
		"name":    "Care team",
		"subject": c.patient(),
		"participant": list{
			object{"role": list{concept(snomed, "446050000", "Primary care provider")}, "member": reference(c.doctor(0))},
			object{"role": list{concept(snomed, "224535009", "Registered nurse")}, "member": reference(c.doctor(1))},
		},
		"managingOrganization": list{reference(c.clinic())},
	})
	goal := c.add("Goal", object{
		"lifecycleStatus": "active",
		"description":     object{"text": "Blood pressure below 130/80 mmHg"},
		"subject":         c.patient(),
		"startDate":       date(c.at(0, 0)),
		"addresses":       list{reference(c.condition)},
	})
	c.add("CarePlan", object{
		"status": "active",
		"intent": "plan",
		"category": list{concept("http://hl7.org/fhir/us/core/CodeSystem/careplan-category", "assess-plan",
			"Assessment and Plan of Treatment")},
		"text": object{
			"status": "generated",
			"div":    `<div xmlns="http://www.w3.org/1999/xhtml"><p>Diet, exercise &amp; a visit every quarter.</p></div>`,
		},
		"subject":   c.patient(),
		"encounter": reference(c.encounter),
		"careTeam":  list{reference(team)},
		"goal":      list{reference(goal)},
		"addresses": list{reference(c.condition)},
	})
}

func devices(c *chart) {
	c.add("Device", object{
		"status":       "active",
		"patient":      c.patient(),
		"type":         concept(snomed, "43770009", "Sphygmomanometer"),
		"manufacturer": "Bramble Instruments",
		"deviceName":   list{object{"name": "Home blood pressure monitor", "type": "user-friendly-name"}},
		"owner":        reference(c.clinic()),
	})
}

// bill adds a Claim for visit n and the payer's ClaimResponse.
func (c *chart) bill(n int) {
	cover := list{object{"sequence": 1, "focal": true, "coverage": reference(c.coverage)}}
	kind := concept(terminology+"claim-type", "professional", "Professional")
	total := object{"value": 80 + float64(c.roll("bill", n, 200)), "currency": "USD"}
	claim := c.add("Claim", object{
		"status":         "active",
		"type":           kind,
		"use":            "claim",
		"patient":        c.patient(),
		"billablePeriod": period(c.at(n, 0), c.at(n, 30)),
		"created":        instant(c.at(n, 60)),
		"provider":       reference(c.clinic()),
		"priority":       concept(terminology+"processpriority", "normal", "Normal"),
		"diagnosis":      list{object{"sequence": 1, "diagnosisReference": reference(c.condition)}},
		"insurance":      cover,
		"total":          total,
	})
	c.add("ExplanationOfBenefit", object{
		"status":    "active",
		"type":      kind,
		"use":       "claim",
		"patient":   c.patient(),
		"created":   instant(c.at(n, 90)),
		"insurer":   reference(c.payer()),
		"provider":  reference(c.clinic()),
		"claim":     reference(claim),
		"outcome":   "complete",
		"insurance": list{object{"focal": true, "coverage": reference(c.coverage)}},
		"total": list{object{
			"category": concept(terminology+"adjudication", "submitted", "Submitted Amount"), "amount": total,
		}},
	})
}
