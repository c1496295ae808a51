package persona

import "maps"

// visit adds an encounter and its results. The visit's serial number determines the added resources, so records of
// different sizes contain the same mix of resources.
func visit(c *chart) {
	c.visits++
	n := c.visits
	c.encounter = c.add("Encounter", object{
		"status":          "finished",
		"class":           object{"system": terminology + "v3-ActCode", "code": "AMB", "display": "ambulatory"},
		"type":            list{concept(snomed, "390906007", "Follow-up encounter")},
		"subject":         c.patient(),
		"participant":     list{object{"individual": reference(c.doctor(n))}},
		"period":          period(c.at(n, 0), c.at(n, 30)),
		"location":        list{object{"location": reference(c.examRoom())}},
		"serviceProvider": reference(c.clinic()),
	})
	c.vitals(n)
	if n%2 == 0 {
		c.labReport(n)
	}
	if n%3 == 0 {
		c.note(n)
		acute := acuteConditions
		c.problem(acute[c.roll("acute", n, len(acute))], n, "encounter-diagnosis", "resolved")
	}
	if n%4 == 0 {
		c.operate(n)
	}
	if n%5 == 0 && c.medication != "" {
		c.prescribe(n, object{"medicationReference": reference(c.medication)})
	}
	if n%6 == 0 {
		c.vaccinate(n)
	}
	if n%2 == 1 && c.coverage != "" {
		c.bill(n)
	}
}

// homeReading adds one Observation that references only the patient, to pad a record to its exact size.
func homeReading(c *chart) {
	serial := c.serial["Observation"]
	c.observe("vital-signs", vitalSigns[0], c.visits+1, serial, object{})
}

func (c *chart) vitals(n int) {
	c.add("Observation", object{
		"status":            "final",
		"category":          categories("observation-category", "vital-signs"),
		"code":              concept(loinc, "85354-9", "Blood pressure panel"),
		"subject":           c.patient(),
		"encounter":         reference(c.encounter),
		"effectiveDateTime": instant(c.at(n, 3)),
		"performer":         list{reference(c.doctor(n))},
		"component": list{
			object{
				"code":          concept(loinc, "8480-6", "Systolic blood pressure"),
				"valueQuantity": quantity(108+float64(c.roll("systolic", n, 40)), "mm[Hg]"),
			},
			object{
				"code":          concept(loinc, "8462-4", "Diastolic blood pressure"),
				"valueQuantity": quantity(64+float64(c.roll("diastolic", n, 26)), "mm[Hg]"),
			},
		},
	})
	for i, m := range vitalSigns {
		c.observe("vital-signs", m, n, n*10+i, object{"encounter": reference(c.encounter)})
	}
}

// observe adds an Observation of measure m at visit n. extra holds additional elements.
func (c *chart) observe(category string, m measure, n, serial int, extra object) string {
	body := object{
		"status":            "final",
		"category":          categories("observation-category", category),
		"code":              concept(loinc, m.loinc, m.display),
		"subject":           c.patient(),
		"effectiveDateTime": instant(c.at(n, 5)),
		"valueQuantity":     quantity(m.low+m.step*float64(c.roll(m.loinc, serial, m.steps)), m.unit),
	}
	maps.Copy(body, extra)

	return c.add("Observation", body)
}

// labReport adds an order, its specimen, its results and a report. Every fourth report also has a printable form.
func (c *chart) labReport(n int) {
	panels := laboratoryPanels
	p := panels[c.roll("panel", n, len(panels))]
	order := c.add("ServiceRequest", object{
		"status":     "completed",
		"intent":     "order",
		"category":   list{concept(snomed, "108252007", "Laboratory procedure")},
		"code":       concept(loinc, p.loinc, p.display),
		"subject":    c.patient(),
		"encounter":  reference(c.encounter),
		"authoredOn": instant(c.at(n, 10)),
		"requester":  reference(c.doctor(n)),
	})
	specimen := c.add("Specimen", object{
		"status":     "available",
		"type":       concept(snomed, "119297000", "Blood specimen"),
		"subject":    c.patient(),
		"collection": object{"collectedDateTime": instant(c.at(n, 15))},
		"request":    list{reference(order)},
	})
	results := make(list, 0, len(p.measures))
	for i, m := range p.measures {
		results = append(results, reference(c.observe("laboratory", m, n, n*10+i, object{
			"encounter": reference(c.encounter),
			"specimen":  reference(specimen),
			"performer": list{reference(c.laboratory())},
			"basedOn":   list{reference(order)},
		})))
	}
	report := object{
		"status":            "final",
		"category":          categories("v2-0074", "LAB"),
		"code":              concept(loinc, p.loinc, p.display),
		"subject":           c.patient(),
		"encounter":         reference(c.encounter),
		"effectiveDateTime": instant(c.at(n, 15)),
		"issued":            instant(c.at(n, 600)),
		"performer":         list{reference(c.laboratory())},
		"basedOn":           list{reference(order)},
		"specimen":          list{reference(specimen)},
		"result":            results,
	}
	if n%8 == 0 {
		report["presentedForm"] = list{c.file("application/pdf", tinyPDF(p.display))}
	}
	c.add("DiagnosticReport", report)
}

func (c *chart) operate(n int) {
	all := procedures
	c.add("Procedure", object{
		"status":          "completed",
		"code":            coded(all[c.roll("procedure", n, len(all))]),
		"subject":         c.patient(),
		"encounter":       reference(c.encounter),
		"performedPeriod": period(c.at(n, 10), c.at(n, 25)),
		"performer":       list{object{"actor": reference(c.doctor(n))}},
		"location":        reference(c.examRoom()),
		"reasonReference": list{reference(c.condition)},
	})
}
