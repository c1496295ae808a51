package document

func (d Document) problems() section {
	s := section{
		root: "2.16.840.1.113883.10.20.22.2.5.1", version: "2015-08-01", code: Code{LOINC, "11450-4", "Problem list"},
		name: "problem", heads: []string{"Problem", "Since", "Until"},
	}
	for _, p := range d.Problems {
		s.add(func(text node) node {
			return statement("act", "EVN",
				template("2.16.840.1.113883.10.20.22.4.3", "2015-08-01"), p.ID.part("concern"),
				concern().node("code"), status(running(p.To)), between(p.Noted.At, day(p.To)), p.Noted.author(),
				subject(p.observation(text)))
		}, p.Code.Name, p.From, p.To)
	}
	return s
}

func (p Problem) observation(text node) node {
	return statement("observation", "EVN",
		template("2.16.840.1.113883.10.20.22.4.4", "2015-08-01"), p.ID.node(),
		Code{SNOMED, "64572001", "Disease"}.node("code", Code{LOINC, "75323-6", "Condition"}.node("translation")),
		text, status("completed"), between(day(p.From), day(p.To)), p.Code.value(p.Billing.node("translation")),
		p.Noted.author())
}

// dischargeDiagnoses returns a section listing the problems that began during the stay.
func (d Document) dischargeDiagnoses() section {
	s := section{
		root: "2.16.840.1.113883.10.20.22.2.24", version: "2015-08-01",
		code: Code{LOINC, "11535-2", "Hospital discharge diagnosis"},
		name: "diagnosis", heads: []string{"Diagnosis", "Since", "Until"},
	}
	for _, p := range d.Problems {
		if day(p.From) < d.Visit.From[:8] || day(p.From) > d.Visit.To[:8] {
			continue
		}
		s.add(func(text node) node {
			return statement("act", "EVN",
				template("2.16.840.1.113883.10.20.22.4.33", "2015-08-01"), p.ID.part("discharge"),
				s.code.node("code"), status("active"), between(d.Visit.To, ""), subject(p.observation(text)))
		}, p.Code.Name, p.From, p.To)
	}
	return s
}

func (d Document) allergies() section {
	s := section{
		root: "2.16.840.1.113883.10.20.22.2.6.1", version: "2015-08-01",
		code: Code{LOINC, "48765-2", "Allergies and adverse reactions"},
		name: "allergy", heads: []string{"Substance", "Reaction", "Severity", "Since"},
	}
	for _, a := range d.Allergies {
		cells := []string{a.Substance.Name, a.Reaction.Name, a.Severity.Name, a.From}
		if a.Nothing {
			cells = []string{"No known allergies", "", "", ""}
		}
		s.add(func(text node) node {
			return statement("act", "EVN",
				template("2.16.840.1.113883.10.20.22.4.30", "2015-08-01"), a.ID.part("concern"),
				concern().node("code"), status("active"), between(a.Noted.At, ""), a.Noted.author(), subject(a.observation(text)))
		}, cells...)
	}
	return s
}

func (a Allergy) observation(text node) node {
	o := statement("observation", "EVN",
		template("2.16.840.1.113883.10.20.22.4.7", "2014-06-09"), a.ID.node(), assertion().node("code"),
		text, status("completed"), between(day(a.From), ""), a.Kind.value(), a.Noted.author(),
		el("participant", pairs{"typeCode", "CSM"}, el("participantRole", pairs{"classCode", "MANU"},
			el("playingEntity", pairs{"classCode", "MMAT"}, a.Substance.node("code")))))
	if a.Nothing {
		o.pairs = append(o.pairs, "negationInd", "true")
		return o
	}
	severity := statement("observation", "EVN",
		template("2.16.840.1.113883.10.20.22.4.8", "2014-06-09"), Code{actCode, "SEV", "Severity"}.node("code"),
		status("completed"), a.Severity.value())
	reaction := statement("observation", "EVN",
		template("2.16.840.1.113883.10.20.22.4.9", "2014-06-09"), a.ID.part("reaction"), assertion().node("code"),
		status("completed"), between(day(a.From), ""), a.Reaction.value(), subject(severity))
	o.children = append(o.children, el("entryRelationship", pairs{"typeCode", "MFST", "inversionInd", "true"}, reaction))
	return o
}

func (d Document) medications() section {
	s := medicationSection("2.16.840.1.113883.10.20.22.2.1.1", "2014-06-09",
		Code{LOINC, "10160-0", "History of medication use"})
	for _, m := range d.Medications {
		s.add(m.activity, m.cells()...)
	}
	return s
}

// dischargeMedications returns a section that lists the medications to continue after discharge.
func (d Document) dischargeMedications() section {
	s := medicationSection("2.16.840.1.113883.10.20.22.2.11.1", "2015-08-01",
		Code{LOINC, "10183-2", "Hospital discharge medications"})
	for _, m := range d.Medications {
		if m.To != "" && day(m.To) < d.Visit.To[:8] {
			continue
		}
		s.add(func(text node) node {
			return statement("act", "EVN", template("2.16.840.1.113883.10.20.22.4.35", "2016-03-01"),
				s.code.node("code"), status("active"), subject(m.activity(text)))
		}, m.cells()...)
	}
	return s
}

func medicationSection(root, version string, code Code) section {
	return section{
		root: root, version: version, code: code, name: "medication",
		heads: []string{"Medication", "How", "Since", "Until"},
	}
}

func (m Medication) cells() []string { return []string{m.Drug.Name, m.Words, m.From, m.To} }

func (m Medication) activity(text node) node {
	return statement("substanceAdministration", "INT",
		template("2.16.840.1.113883.10.20.22.4.16", "2014-06-09"), m.ID.node(), text, status(running(m.To)),
		el("effectiveTime", pairs{"xsi:type", "IVL_TS"}, el("low", pairs{"value", day(m.From)}),
			when(m.To != "", el("high", pairs{"value", day(m.To)}))),
		when(m.EveryHours != "", el("effectiveTime",
			pairs{"xsi:type", "PIVL_TS", "institutionSpecified", "true", "operator", "A"},
			el("period", pairs{"value", m.EveryHours, "unit", "h"}))),
		m.Route.node("routeCode"), el("doseQuantity", pairs{"value", m.Dose, "unit", m.Unit}),
		el("consumable", nil, el("manufacturedProduct", pairs{"classCode", "MANU"},
			template("2.16.840.1.113883.10.20.22.4.23", "2014-06-09"), el("manufacturedMaterial", nil, m.Drug.node("code")))),
		m.Noted.author(),
		el("entryRelationship", pairs{"typeCode", "RSON"}, statement("observation", "EVN",
			template("2.16.840.1.113883.10.20.22.4.19", "2014-06-09"), m.ID.part("reason"),
			Code{SNOMED, "404684003", "Clinical finding"}.node("code"), status("completed"), between(day(m.From), ""),
			m.Reason.value())),
		when(m.EveryHours == "", el("precondition", pairs{"typeCode", "PRCN"}, el("criterion", nil,
			template("2.16.840.1.113883.10.20.22.4.25", "2014-06-09"), assertion().node("code"), m.Reason.value()))))
}

// part returns the ID of one part of a clinical statement.
func (id ID) part(name string) node { return ID{id.Root, name}.node() }

func subject(n node) node { return el("entryRelationship", pairs{"typeCode", "SUBJ"}, n) }

func concern() Code { return Code{actClass, "CONC", "Concern"} }

func assertion() Code { return Code{actCode, "ASSERTION", "Assertion"} }

// running returns a fact's status, given its end date. The end date may be empty.
func running(to string) string {
	if to == "" {
		return "active"
	}
	return "completed"
}
