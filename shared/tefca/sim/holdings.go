package sim

import (
	"slices"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/people"
)

// holding represents a facility's records of a patient and determines how the facility responds to queries.
type holding struct {
	subject string // the patient's subject
	at      int    // directory number of the facility
	address int    // index of the patient's address on file at the facility; 0 is the current address
	names   int    // number of additional local IDs that the patient has at the facility
	answer  answer
	slow    time.Duration  // response time; 0 means the usual response time
	refuses error          // error returned when documents are requested
	defects map[int]defect // defects, keyed by the document's position in the list
}

// answer determines how a facility responds to a location query.
type answer int

const (
	once      answer = iota
	twice            // returns some local IDs only in a second response
	ambiguous        // another person has the same name and date of birth
	silent           // never responds
)

type defect int

const (
	whole defect = iota
	gone         // listed but can't be retrieved
	huge         // exceeds the size limit of every reader
	noXML
)

// holdings returns the network's holdings of all patients. A facility finds a patient only if it holds data about the
// patient.
func holdings() []holding {
	return []holding{
		{subject: "p01", at: 1},
		{subject: "p01", at: 2, answer: twice},
		{subject: "p01", at: 3},
		{subject: "p02", at: 4},
		{subject: "p03", at: 5},
		{subject: "p03", at: 6, answer: ambiguous},
		{subject: "p04", at: 7},
		{subject: "p04", at: 8, answer: silent},
		{subject: "p04", at: 20, answer: silent},
		{subject: "p05", at: 9},
		{subject: "p05", at: 10},
		{subject: "p06", at: 11},
		{subject: "p06", at: 12, answer: twice, names: 1},
		{subject: "p07", at: 13, defects: map[int]defect{1: gone}},
		{subject: "p09", at: 3},
		{subject: "p09", at: 16, address: 1},
		{subject: "p10", at: 14},
		{subject: "p10", at: 17, slow: 12 * time.Second},
		{subject: "p10", at: 18, slow: 18 * time.Second},
		{subject: "p11", at: 20, defects: map[int]defect{1: huge, 2: noXML}},
		{subject: "p12", at: 7, refuses: tefca.ErrUnavailable},
		{subject: "p12", at: 14, refuses: tefca.ErrRefused},
		{subject: "p12", at: 15, refuses: tefca.ErrIdentity},
		{subject: "p12", at: 19},
		{subject: "p13", at: 13},
		{subject: "p14", at: 19},
	}
}

// heldOf returns the holdings of every patient who would match the person at a facility.
func heldOf(who tefca.Person) []holding {
	patients := people.All()
	return slices.DeleteFunc(holdings(), func(h holding) bool {
		at := slices.IndexFunc(patients, func(p people.Patient) bool { return p.Subject == h.subject })
		return at < 0 || !fits(who, patients[at].Person, patients[at].Person.Addresses[h.address])
	})
}

// chart returns the facility's records of the patient and the patient's local IDs there.
func (h holding) chart() chart {
	c := chart{place: placeOf(h.at), known: histories()[h.subject], address: h.address}
	for _, p := range people.All() {
		if p.Subject == h.subject {
			c.patient = p
		}
	}
	for n := range h.names + 1 {
		c.locals = append(c.locals, "R"+digits(h.subject, c.place.oid(), string(rune('a'+n))))
	}
	return c
}
