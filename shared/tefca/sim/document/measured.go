package document

import "strings"

func (d Document) vitals() section {
	s := section{
		root: "2.16.840.1.113883.10.20.22.2.4.1", version: "2015-08-01", code: Code{LOINC, "8716-3", "Vital signs"},
		name: "vitals", heads: []string{"Date", "Measured"},
	}
	for _, p := range d.Vitals {
		s.add(func(text node) node {
			return p.organizer("CLUSTER", "2.16.840.1.113883.10.20.22.4.26",
				Code{SNOMED, "46680005", "Vital signs"}.node("code", p.Code.node("translation")), func(m Measured) node {
					return m.observation("2.16.840.1.113883.10.20.22.4.27", "2014-06-09", p.Noted.At, text)
				})
		}, shown(p.Noted.At), p.shown())
	}
	return s
}

func (d Document) results() section {
	s := section{
		root: "2.16.840.1.113883.10.20.22.2.3.1", version: "2015-08-01",
		code: Code{LOINC, "30954-2", "Relevant diagnostic tests/laboratory data"},
		name: "result", heads: []string{"Date", "Measured"},
	}
	for _, p := range d.Results {
		s.add(func(text node) node {
			return p.organizer("BATTERY", "2.16.840.1.113883.10.20.22.4.1", p.Code.node("code"), func(m Measured) node {
				return m.observation("2.16.840.1.113883.10.20.22.4.2", "2015-08-01", p.Noted.At, text)
			})
		}, shown(p.Noted.At), p.Code.Name+": "+p.shown())
	}
	return s
}

// organizer combines values that were measured together into one element.
func (p Panel) organizer(class, root string, code node, one func(Measured) node) node {
	return el("organizer", pairs{"classCode", class, "moodCode", "EVN"},
		template(root, "2015-08-01"), p.ID.node(), code, status("completed"), between(p.Noted.At, p.Noted.At),
		p.Noted.author(),
		each(p.Measured, func(m Measured) node { return el("component", nil, one(m)) }))
}

func (m Measured) observation(root, version, moment string, text node) node {
	bounds := el("value", pairs{"xsi:type", "IVL_PQ"},
		when(m.Low != "", el("low", pairs{"value", m.Low, "unit", m.Unit})),
		when(m.High != "", el("high", pairs{"value", m.High, "unit", m.Unit})))
	return statement("observation", "EVN",
		template(root, version), m.ID.node(), m.Code.node("code"), text, status("completed"), at(moment),
		el("value", pairs{"xsi:type", "PQ", "value", m.Value, "unit", m.Unit}),
		when(m.Usual != "", el("interpretationCode", pairs{"code", m.Usual, "codeSystem", "2.16.840.1.113883.5.83"})),
		when(m.Low+m.High != "", el("referenceRange", nil, el("observationRange", nil, bounds))))
}

// shown formats the measurements as human-readable text.
func (p Panel) shown() string {
	values := make([]string, 0, len(p.Measured))
	for _, m := range p.Measured {
		values = append(values, m.Code.Name+" "+m.Value+" "+m.Unit)
	}
	return strings.Join(values, "; ")
}

func (d Document) social() section {
	s := section{
		root: "2.16.840.1.113883.10.20.22.2.17", version: "2015-08-01", code: Code{LOINC, "29762-2", "Social history"},
		name: "social", heads: []string{"Social history", "Date"},
	}
	for _, x := range d.Smoking {
		s.add(func(text node) node {
			return statement("observation", "EVN",
				template("2.16.840.1.113883.10.20.22.4.78", "2014-06-09"), x.ID.node(),
				Code{LOINC, "72166-2", "Tobacco smoking status"}.node("code"),
				text, status("completed"), at(x.Noted.At), x.Code.value(), x.Noted.author())
		}, x.Code.Name, shown(x.Noted.At))
	}
	return s
}
