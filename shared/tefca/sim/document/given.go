package document

func (d Document) immunizations() section {
	s := section{
		root: "2.16.840.1.113883.10.20.22.2.2.1", version: "2015-08-01",
		code: Code{LOINC, "11369-6", "History of Immunization"},
		name: "vaccine", heads: []string{"Vaccine", "Date"},
	}
	for _, i := range d.Immunizations {
		s.add(func(text node) node {
			given := statement("substanceAdministration", "EVN",
				template("2.16.840.1.113883.10.20.22.4.52", "2015-08-01"), i.ID.node(), text, status("completed"), at(i.Noted.At),
				Code{"2.16.840.1.113883.3.26.1.1", "C28161", "Intramuscular Route of Administration"}.node("routeCode"),
				el("doseQuantity", pairs{"value", "0.5", "unit", "mL"}),
				el("consumable", nil, el("manufacturedProduct", pairs{"classCode", "MANU"},
					template("2.16.840.1.113883.10.20.22.4.54", "2014-06-09"),
					el("manufacturedMaterial", nil, i.Vaccine.node("code")))),
				el("performer", nil, i.Noted.By.assigned("assignedEntity", Facility{})))
			given.pairs = append(given.pairs, "negationInd", "false")
			return given
		}, i.Vaccine.Name, shown(i.Noted.At))
	}
	return s
}

func (d Document) procedures() section {
	s := section{
		root: "2.16.840.1.113883.10.20.22.2.7.1", version: "2014-06-09",
		code: Code{LOINC, "47519-4", "History of Procedures"},
		name: "procedure", heads: []string{"Procedure", "Date"},
	}
	for _, p := range d.Procedures {
		s.add(func(text node) node {
			return statement("procedure", "EVN",
				template("2.16.840.1.113883.10.20.22.4.14", "2014-06-09"), p.ID.node(), p.Code.node("code"), text,
				status("completed"), at(p.Noted.At),
				el("performer", nil, p.Noted.By.assigned("assignedEntity", Facility{})))
		}, p.Code.Name, shown(p.Noted.At))
	}
	return s
}

func (d Document) encounters() section {
	s := section{
		root: "2.16.840.1.113883.10.20.22.2.22.1", version: "2015-08-01",
		code: Code{LOINC, "46240-8", "History of Hospitalizations+Outpatient visits"},
		name: "visit", heads: []string{"Visit", "Reason", "From", "To"},
	}
	for _, v := range d.Visits {
		s.add(v.activity, v.Code.Name, v.Reason.Name, shown(v.From), shown(v.To))
	}
	return s
}

func (v Visit) activity(text node) node {
	class := Code{actCode, "AMB", "ambulatory"}
	if v.Inpatient {
		class = Code{actCode, "IMP", "inpatient encounter"}
	}
	return statement("encounter", "EVN",
		template("2.16.840.1.113883.10.20.22.4.49", "2015-08-01"), v.ID.node(),
		v.Code.node("code", class.node("translation")), text,
		status("completed"), between(v.From, v.To), el("performer", nil, v.By.assigned("assignedEntity", Facility{})),
		el("participant", pairs{"typeCode", "LOC"}, el("participantRole", pairs{"classCode", "SDLOC"},
			el("templateId", pairs{"root", "2.16.840.1.113883.10.20.22.4.32"}), v.At.place(), v.At.Ward.node("code"),
			v.At.Address.node("WP"),
			el("playingEntity", pairs{"classCode", "PLC"}, el("name", nil, words(v.At.Name))))),
		el("entryRelationship", pairs{"typeCode", "RSON"}, statement("observation", "EVN",
			template("2.16.840.1.113883.10.20.22.4.19", "2014-06-09"), ID{v.ID.Root, v.ID.Extension + "-reason"}.node(),
			Code{SNOMED, "404684003", "Clinical finding"}.node("code"), status("completed"), between(v.From[:8], ""),
			v.Reason.value())))
}
