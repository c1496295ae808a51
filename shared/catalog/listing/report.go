package listing

import (
	"slices"
	"time"
)

// A report is kept in a row, which holds 400 KB at most, whatever a list contains.
const (
	longestKey   = 60  // runes
	longestOwn   = 500 // bytes of the address of an OwnList; a longer one is not told
	toldKeys     = 5   // of a Problem
	toldOwnLists = 20
)

// Report is what came of reading a list.
type Report struct {
	Listings  int       `json:"listings"`            // given to each
	Entries   int       `json:"entries"`             // of the list, those that cannot be used among them
	Timestamp time.Time `json:"timestamp,omitzero"`  // as the list says itself; zero where it does not
	Problems  []Problem `json:"problems,omitempty"`  // by reason, in the order in which they were met
	OwnLists  []OwnList `json:"own_lists,omitempty"` // the first that its institutions name
}

// Problem is what is wrong with some entries, and which they are.
type Problem struct {
	Reason Reason   `json:"reason"`
	Count  int      `json:"count"`
	Lost   bool     `json:"lost,omitempty"` // the entries are left out; otherwise only what is wrong in them is
	Keys   []string `json:"keys"`           // of the first of them; their places in the list where they have no key
}

// OwnList is a list that an institution publishes of itself (brandBundle of SMART App Launch 2.2, section 8). It is
// told to an operator, who may make a source of it: nothing is fetched because a list says so.
type OwnList struct {
	Key string `json:"key"`
	URL string `json:"url"`
}

// Unreadable is how many entries are left out, without those that only repeat another.
func (r *Report) Unreadable() int {
	n := 0
	for _, p := range r.Problems {
		if p.Lost && p.Reason != DuplicateKey {
			n += p.Count
		}
	}
	return n
}

// found notes what is wrong in an entry of which the rest is taken.
func (r *Report) found(reason Reason, key string) { r.note(reason, false, key) }

// lost notes an entry that is left out.
func (r *Report) lost(reason Reason, key string) { r.note(reason, true, key) }

func (r *Report) note(reason Reason, isLost bool, key string) {
	at := slices.IndexFunc(r.Problems, func(p Problem) bool { return p.Reason == reason && p.Lost == isLost })
	if at < 0 {
		at = len(r.Problems)
		r.Problems = append(r.Problems, Problem{Reason: reason, Lost: isLost})
	}
	p := &r.Problems[at]
	p.Count++
	if len(p.Keys) < toldKeys {
		p.Keys = append(p.Keys, shortened(key))
	}
}

func (r *Report) names(key, address string) {
	if len(r.OwnLists) < toldOwnLists && len(address) <= longestOwn {
		r.OwnLists = append(r.OwnLists, OwnList{Key: shortened(key), URL: address})
	}
}

// shortened makes a key fit for a terminal and a row: short, and without what a terminal would obey.
func shortened(key string) string {
	text, _ := plain(key)
	if runes := []rune(text); len(runes) > longestKey {
		return string(runes[:longestKey]) + "…"
	}
	return text
}
