package sim

import (
	"slices"
	"strconv"
	"strings"

	"recordbridge/shared/tefca/people"
	"recordbridge/shared/tefca/sim/document"
	"recordbridge/shared/words/ids"
)

// recent is the number of recent visits whose measurements are included in a document.
const recent = 3

// chart holds one facility's records of a patient.
type chart struct {
	patient people.Patient
	place   place
	known   history
	locals  []string // the facility's local IDs for the patient, usually one
	address int      // index of the postal address that the facility has on file
}

// id returns the ID of a fact. Every document that states the fact uses the same ID, whichever facility wrote it.
func (c chart) id(words ...string) document.ID {
	return document.ID{Root: ids.Derive(slices.Concat([]string{"simulated network", c.patient.Subject}, words)...)}
}

// visits returns the visits to the facility, ordered by date.
func (c chart) visits() []visit {
	return slices.DeleteFunc(slices.Clone(c.known.visits), func(v visit) bool { return v.at != c.place.number })
}

// until returns the visits recorded up to the end of the given visit.
func (c chart) until(last visit) []visit {
	return slices.DeleteFunc(slices.Clone(c.known.visits), func(v visit) bool {
		return v.from > last.from || v.at != c.place.number && !v.shared
	})
}

// document returns the document that the facility wrote about a visit.
func (c chart) document(v visit) document.Document {
	stay := c.visit(v)
	d := document.Document{
		ID: document.ID{Root: c.place.oid() + ".9", Extension: c.name(v)}, Kind: v.kind(),
		Made:    moment(v.end(), "1730", c.place.offset),
		Patient: c.person(v), Facility: c.place.facility(), Author: c.place.clinician(), Visit: stay,
		Problems: c.problems(v), Allergies: c.allergies(v), Medications: c.medications(v), Smoking: c.smoking(),
		Note: document.Note{
			ID: c.id("note", v.from), Words: v.words(stay.Reason.Name),
			Noted: document.Noted{By: stay.By, At: stay.To},
		},
	}
	known := c.until(v)
	for i, k := range known {
		at := document.Noted{By: placeOf(k.at).clinician(), At: moment(k.from, k.hour()+"15", placeOf(k.at).offset)}
		d.Visits = append(d.Visits, c.visit(k))
		for _, name := range k.vaccines {
			d.Immunizations = append(d.Immunizations,
				document.Immunization{ID: c.id("vaccine", name, k.from), Vaccine: vaccines()[name], Noted: at})
		}
		for _, name := range k.done {
			d.Procedures = append(d.Procedures, document.Procedure{
				ID:   c.id("procedure", name, k.from),
				Code: procedures()[name], Noted: at,
			})
		}
		if i >= len(known)-recent {
			d.Vitals = append(d.Vitals, vitals(c.has("hypertension", k)).take(c.measured(k), at))
			d.Results = append(d.Results, c.laboratory(k, at)...)
		}
	}
	return d
}

func (c chart) measured(v visit) func(...string) document.ID {
	return func(words ...string) document.ID { return c.id(append([]string{"measured", v.from}, words...)...) }
}

// laboratory returns a report for each panel that the patient's conditions required at the time of the visit.
func (c chart) laboratory(v visit, at document.Noted) []document.Panel {
	var reports []document.Panel
	for _, e := range c.known.episodes {
		p := diagnoses()[e.condition].laboratory
		if len(p.measures) == 0 || !c.has(e.condition, v) ||
			slices.ContainsFunc(reports, func(r document.Panel) bool { return r.Code == p.code }) {
			continue
		}
		reports = append(reports, p.take(c.measured(v), at))
	}
	return reports
}

// has reports whether the patient had a condition at the time of a visit.
func (c chart) has(condition string, v visit) bool {
	return slices.ContainsFunc(c.known.episodes, func(e episode) bool {
		return e.condition == condition && e.from <= v.from && (e.to == "" || e.to >= v.from)
	})
}

// problems returns the problems that had begun by the time of a visit, without end dates that follow the visit.
func (c chart) problems(v visit) []document.Problem {
	begun := c.begun(v)
	list := make([]document.Problem, 0, len(begun))
	for _, e := range begun {
		is := diagnoses()[e.condition]
		list = append(list, document.Problem{
			ID: c.id("problem", e.condition), Code: is.code, Billing: is.billing, From: e.from, To: e.to,
			Noted: placeOf(e.at).noted(e.from),
		})
	}
	return list
}

func (c chart) medications(v visit) []document.Medication {
	oral := document.Code{System: "2.16.840.1.113883.3.26.1.1", Code: "C38288", Name: "Oral Route of Administration"}
	inhaled := document.Code{System: oral.System, Code: "C38216", Name: "Respiratory (Inhalation) Route of Administration"}
	var list []document.Medication
	for _, e := range c.begun(v) {
		is := diagnoses()[e.condition]
		if is.drug.code.Code == "" {
			continue
		}
		m := document.Medication{
			ID: c.id("medication", e.condition), Drug: is.drug.code, Words: is.drug.words, Dose: is.drug.dose,
			Unit:       is.drug.unit,
			EveryHours: is.drug.hours, Route: oral, Reason: is.code, From: e.from, To: e.to, Noted: placeOf(e.at).noted(e.from),
		}
		if is.drug.unit != "{tbl}" {
			m.Route = inhaled
		}
		list = append(list, m)
	}
	return list
}

// begun returns the episodes that had begun by the time of a visit, omitting end dates after the visit.
func (c chart) begun(v visit) []episode {
	var list []episode
	for _, e := range c.known.episodes {
		if e.from > v.end() {
			continue
		}
		if e.to > v.end() {
			e.to = ""
		}
		list = append(list, e)
	}
	return list
}

func (c chart) allergies(v visit) []document.Allergy {
	var list []document.Allergy
	for _, a := range c.known.allergies {
		if is := allergens()[a.allergen]; a.from <= v.end() {
			list = append(list, document.Allergy{
				ID: c.id("allergy", a.allergen), Nothing: a.allergen == "", Kind: is.kind, Substance: is.substance,
				Reaction: is.reaction,
				Severity: is.severity, From: a.from, Noted: placeOf(a.at).noted(a.from),
			})
		}
	}
	return list
}

// smoking returns the smoking status recorded at the first visit.
func (c chart) smoking() []document.Smoking {
	first := c.known.visits[0]
	return []document.Smoking{{
		ID: c.id("smoking"), Code: smoking()[c.known.smoking],
		Noted: placeOf(first.at).noted(first.from),
	}}
}

func (c chart) person(v visit) document.Patient {
	p := c.patient.Person
	person := document.Patient{Given: p.Given, Family: p.Family, Sex: p.Sex, BirthDate: p.BirthDate, Email: p.Email}
	person.IDs = []document.ID{{Root: c.place.oid() + ".2", Extension: c.local(v)}}
	if c.known.community {
		person.IDs = append(person.IDs, document.ID{Root: "2.999.0", Extension: "C" + digits(c.patient.Subject)})
	}
	a := p.Addresses[c.address]
	person.Addresses = []document.Address{{
		Street: a.Street, City: a.City, State: a.State, PostalCode: a.PostalCode,
		Country: a.Country,
	}}
	return person
}

func (c chart) visit(v visit) document.Visit {
	at := placeOf(v.at)
	seen := document.Visit{
		ID: document.ID{Root: at.oid() + ".3", Extension: "V" + digits(c.patient.Subject, v.from)}, Inpatient: v.to != "",
		Code: document.Code{System: document.SNOMED, Code: "185349003", Name: "Encounter for check up"},
		From: moment(v.from, v.hour()+"00", at.offset), To: moment(v.from, v.hour()+"30", at.offset),
		Reason: diagnoses()[v.reason].code, By: at.clinician(), At: at.facility(),
	}
	if v.to != "" {
		seen.Code = document.Code{System: document.SNOMED, Code: "32485007", Name: "Hospital admission"}
		seen.To = moment(v.to, "1100", at.offset)
	}
	return seen
}

// name returns the facility's name for a visit's document.
func (c chart) name(v visit) string {
	return c.local(v) + "-" + strings.ReplaceAll(v.from, "-", "")
}

// local returns the local ID under which a visit is recorded.
func (c chart) local(v visit) string { return c.locals[min(v.record, len(c.locals)-1)] }

func (v visit) kind() document.Kind {
	switch {
	case v.to != "":
		return document.Discharge
	case v.noted:
		return document.Progress
	}
	return document.Summary
}

func (v visit) words(reason string) string {
	if v.to != "" {
		return "Admitted for this: " + reason + ". Recovered without complications, and went home on foot."
	}
	return "Seen for this: " + reason + ". Doing well; no new complaints."
}

// end returns the date of the visit's last day.
func (v visit) end() string { return max(v.from, v.to) }

// hour returns the visit's starting hour as two digits.
func (v visit) hour() string { return strconv.FormatUint(10+draw(6, v.from), 10) }

// moment formats a date and a time of day (hhmm) in HL7's format.
func moment(date, clock, offset string) string {
	return strings.ReplaceAll(date, "-", "") + clock + offset
}

// digits returns six digits derived from words. The digits look like an assigned number.
func digits(words ...string) string { return strconv.FormatUint(100000+draw(900000, words...), 10) }
