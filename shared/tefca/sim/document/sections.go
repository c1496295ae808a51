package document

import "strconv"

// section is a section of the document's body. Its narrative is a table, and its entries refer to the table's rows.
type section struct {
	root, version string
	code          Code
	name          string // prefix of the row IDs
	heads         []string
	rows          [][]string
	entries       []node
	words         string // text that replaces the table
}

// add adds an entry and its table row. entry's argument is a reference to the row.
func (s *section) add(entry func(text node) node, cells ...string) {
	s.rows = append(s.rows, cells)
	reference := el("text", nil, el("reference", pairs{"value", "#" + s.row(len(s.rows))}))
	s.entries = append(s.entries, entry(reference))
}

func (s *section) row(number int) string { return s.name + strconv.Itoa(number) }

func (s *section) node() node {
	absent := ""
	if len(s.rows) == 0 && s.words == "" {
		absent = "NI"
	}
	return el("component", nil, el("section", pairs{"nullFlavor", absent},
		template(s.root, s.version), s.code.node("code"), el("title", nil, words(s.code.Name)),
		el("text", nil, s.narrative()),
		each(s.entries, func(n node) node { return el("entry", pairs{"typeCode", "DRIV"}, n) })))
}

func (s *section) narrative() node {
	switch {
	case s.words != "":
		return el("paragraph", nil, words(s.words))
	case len(s.rows) == 0:
		return el("paragraph", nil, words("Nothing is recorded."))
	}
	number := 0
	return el("table", nil,
		el("thead", nil, el("tr", nil, each(s.heads, func(head string) node { return el("th", nil, words(head)) }))),
		el("tbody", nil, each(s.rows, func(cells []string) node {
			number++
			return el("tr", pairs{"ID", s.row(number)},
				each(cells, func(cell string) node { return el("td", nil, words(cell)) }))
		})))
}

// prose returns a section that contains only text.
func prose(root, version string, code Code, text string) section {
	return section{root: root, version: version, code: code, words: text}
}

func (d Document) course() section {
	return prose("1.3.6.1.4.1.19376.1.5.3.1.3.5", "", Code{LOINC, "8648-8", "Hospital course"}, d.Note.Words)
}

func (d Document) assessment() section {
	return prose("2.16.840.1.113883.10.20.22.2.8", "", Code{LOINC, "51848-0", "Assessment"}, d.Visit.Reason.Name+".")
}

func (d Document) plan() section {
	return prose("2.16.840.1.113883.10.20.22.2.10", "2014-06-09", Code{LOINC, "18776-5", "Plan of treatment"},
		"Continue as before, and return in three months.")
}

func (d Document) notes() section {
	s := section{
		root: "2.16.840.1.113883.10.20.22.2.65", version: "2016-11-01", code: Code{LOINC, "11506-3", "Progress note"},
		name: "note", heads: []string{"Date", "Note"},
	}
	s.add(func(text node) node {
		return statement("act", "EVN",
			template("2.16.840.1.113883.10.20.22.4.202", "2016-11-01"), d.Note.ID.node(),
			Code{LOINC, "34109-9", "Note"}.node("code", Code{LOINC, "11506-3", "Progress note"}.node("translation")),
			text, status("completed"), at(d.Note.Noted.At), d.Note.Noted.author(),
			el("entryRelationship", pairs{"typeCode", "COMP", "inversionInd", "true"},
				el("encounter", pairs{"classCode", "ENC", "moodCode", "EVN"}, d.Visit.ID.node())))
	}, shown(d.Note.Noted.At), d.Note.Words)
	return s
}

func status(code string) node { return el("statusCode", pairs{"code", code}) }

func statement(name, mood string, children ...node) node {
	class := map[string]string{
		"act": "ACT", "observation": "OBS", "substanceAdministration": "SBADM", "procedure": "PROC",
		"encounter": "ENC",
	}[name]
	return el(name, pairs{"classCode", class, "moodCode", mood}, children...)
}

// shown formats a date or a time as human-readable text.
func shown(date string) string {
	if len(date) >= len("20060102") && date[4] != '-' {
		return date[:4] + "-" + date[4:6] + "-" + date[6:8]
	}
	return date
}
