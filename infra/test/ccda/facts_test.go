package ccdatest_test

import (
	"slices"
	"strings"
)

// measure names a kind of fact, such as a code or a time. Recall is computed separately for each measure.
type measure = string

const (
	ofCode      measure = "code"
	ofTime      measure = "time"
	ofStatus    measure = "status"
	ofAuthor    measure = "author"
	ofWriting   measure = "written" // time at which the author wrote the statement
	ofPerformer measure = "performer"
	ofValue     measure = "value"
	ofRange     measure = "range"
)

func measures() []measure {
	return []measure{ofCode, ofTime, ofStatus, ofAuthor, ofWriting, ofPerformer, ofValue, ofRange}
}

// fact is one item of information, such as a code or a time, from a clinical statement. A code may appear anywhere in
// the converted resources. Any other fact must appear in a resource that has one of the statement's codes.
type fact struct {
	measure measure
	about   []coding // the statement's codes; empty if it has none
	held    bool     // true if about holds the codes of nested statements
	want    []string // accepted representations; any one is sufficient
}

type coding struct{ system, code string }

// statements returns the names of the elements that represent clinical statements (CDA R2, ClinicalStatement).
func statements() []string {
	return []string{"observation", "act", "procedure", "encounter", "substanceAdministration", "supply", "organizer"}
}

// factsOf lists the facts in a document's entries. A repeated code counts once; any other fact counts each time it
// occurs.
func factsOf(document *element) []fact {
	var facts []fact
	codes := map[coding]bool{}
	for _, section := range document.below("section") {
		for _, entry := range section.all("entry", "*") {
			facts = append(facts, factsWithin(entry, false, codes)...)
		}
	}
	return facts
}

// factsWithin lists the facts in a statement and its nested statements. qualifies reports whether s qualifies another
// statement, as a severity does.
func factsWithin(s *element, qualifies bool, codes map[coding]bool) []fact {
	if !slices.Contains(statements(), s.name) {
		return nil
	}
	var facts []fact
	for _, c := range codingsOf(s) {
		if !codes[c] {
			codes[c] = true
			facts = append(facts, fact{measure: ofCode, about: []coding{c}})
		}
	}
	about, held := subjectOf(s)
	own := slices.Concat(timesOf(s, about), valuesOf(s, about), participationsOf(s, about))
	if status := s.first("statusCode").attrs["code"]; status != "" && !qualifies && !concern(s) {
		own = append(own, fact{measure: ofStatus, about: about, want: []string{status}})
	}
	for _, f := range own {
		f.held = held
		facts = append(facts, f)
	}
	for _, inner := range s.all("entryRelationship", "*") {
		facts = append(facts, factsWithin(inner, !concern(s), codes)...)
	}
	for _, inner := range s.all("component", "*") {
		facts = append(facts, factsWithin(inner, false, codes)...)
	}
	return facts
}

// concern reports whether an act only groups other statements, as a problem concern does. In FHIR, the group and its
// statements have a single status, and the statements' statuses take precedence ("C-CDA on FHIR", Problems).
func concern(s *element) bool {
	return s.name == "act" && len(s.all("entryRelationship", "observation"))+
		len(s.all("entryRelationship", "substanceAdministration"))+
		len(s.all("entryRelationship", "act")) > 0
}

// codingsOf lists the codings of a statement's code, value, product, participants and similar elements, including
// translations. The codings of nested statements are excluded.
func codingsOf(s *element) []coding {
	coded := slices.Concat(
		s.all("code"), s.all("value"), s.all("consumable", "manufacturedProduct", "manufacturedMaterial", "code"),
		s.all("product", "manufacturedProduct", "manufacturedMaterial", "code"),
		s.all("participant", "participantRole", "playingEntity", "code"),
		s.all("participant", "participantRole", "playingDevice", "code"),
		s.all("routeCode"), s.all("approachSiteCode"), s.all("targetSiteCode"), s.all("methodCode"),
		s.all("interpretationCode"),
		s.all("specimen", "specimenRole", "specimenPlayingEntity", "code"), s.all("precondition", "criterion", "value"),
	)
	var all []coding
	for _, e := range coded {
		for _, c := range append([]*element{e}, e.all("translation")...) {
			if c.attrs["code"] != "" && c.attrs["codeSystem"] != "" {
				all = append(all, coding{c.attrs["codeSystem"], strings.TrimSpace(c.attrs["code"])})
			}
		}
	}
	return all
}

// structural reports whether a code identifies only the kind of statement and conveys no information about the patient.
func structural(c coding) bool {
	return slices.Contains([]coding{
		{actCode, "ASSERTION"},
		{actCode, "SEV"},
		{actClass, "CONC"},
		{loinc, "33999-4"},
		{loinc, "48765-2"},
		{loinc, "11450-4"},
		{loinc, "29308-4"},
		{loinc, "48768-6"},
		{loinc, "82606-5"},
		{loinc, "75310-3"},
	}, c)
}

// subjectOf returns the codes that identify a statement's subject. If there are no such codes, subjectOf returns the
// codes of nested statements and sets held.
func subjectOf(s *element) (own []coding, held bool) {
	own = slices.DeleteFunc(codingsOf(s), structural)
	for _, path := range [][]string{{"entryRelationship", "*"}, {"component", "*"}} {
		if len(own) > 0 {
			break
		}
		for _, inner := range s.all(path...) {
			if slices.Contains(statements(), inner.name) {
				inside, _ := subjectOf(inner)
				own, held = append(own, inside...), true
			}
		}
	}
	return own, held
}
