package sim

import (
	"slices"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/people"
)

// holding is that a facility has a patient, and how it behaves when it is asked.
type holding struct {
	subject string // of the patient
	at      int    // the facility
	address int    // which of the patient's it knows; the first is the current one
	names   int    // how many local ids the patient has there beside the first
	answer  answer
	slow    time.Duration  // what its answer takes; 0 is as long as answers usually take
	refuses error          // what it says to who asks for documents
	spoilt  map[int]spoilt // by place in its list of documents
}

// answer is how a facility answers who locates.
type answer int

const (
	once      answer = iota
	twice            // with all local ids only at the second time
	ambiguous        // there is another person of the name and the day
	silent           // not at all
)

// spoilt is what is wrong with a document.
type spoilt int

const (
	whole spoilt = iota
	gone         // it is listed, and is not there
	huge         // nobody reads as much
	noXML
)

// holdings are all that the network has. What is at none of them is found nowhere.
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
		{subject: "p07", at: 13, spoilt: map[int]spoilt{1: gone}},
		{subject: "p09", at: 3},
		{subject: "p09", at: 16, address: 1},
		{subject: "p10", at: 14},
		{subject: "p10", at: 17, slow: 12 * time.Second},
		{subject: "p10", at: 18, slow: 18 * time.Second},
		{subject: "p11", at: 20, spoilt: map[int]spoilt{1: huge, 2: noXML}},
		{subject: "p12", at: 7, refuses: tefca.ErrUnavailable},
		{subject: "p12", at: 14, refuses: tefca.ErrRefused},
		{subject: "p12", at: 15, refuses: tefca.ErrIdentity},
		{subject: "p12", at: 19},
		{subject: "p13", at: 13},
		{subject: "p14", at: 19},
	}
}

// heldOf lists the holdings of whoever a person is to each facility.
func heldOf(who tefca.Person) []holding {
	patients := people.All()
	return slices.DeleteFunc(holdings(), func(h holding) bool {
		at := slices.IndexFunc(patients, func(p people.Patient) bool { return p.Subject == h.subject })
		return at < 0 || !fits(who, patients[at].Person, patients[at].Person.Addresses[h.address])
	})
}

// chart is what the facility knows under some of the patient's local ids.
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
