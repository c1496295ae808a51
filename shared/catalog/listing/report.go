package listing

import (
	"slices"
	"time"
)

// Limits on a report, which must fit in a row of at most 400 KB whatever the list contains.
const (
	longestKey   = 60  // maximum length of a key in runes
	longestOwn   = 500 // maximum length in bytes of an OwnList's URL; longer URLs are omitted
	toldKeys     = 5   // number of keys listed per Problem
	toldOwnLists = 20
)

// Report describes the result of reading a list.
type Report struct {
	Listings  int       `json:"listings"`            // number of listings passed to Read's callback
	Entries   int       `json:"entries"`             // number of entries in the list, including unusable ones
	Timestamp time.Time `json:"timestamp,omitzero"`  // timestamp of the list; zero if the list has no timestamp
	Problems  []Problem `json:"problems,omitempty"`  // problems by reason, in order of first occurrence
	OwnLists  []OwnList `json:"own_lists,omitempty"` // the first few OwnLists referenced by the list's institutions
}

// Problem is a defect, with the keys of the first few entries that have it.
type Problem struct {
	Reason Reason   `json:"reason"`
	Count  int      `json:"count"`
	Lost   bool     `json:"lost,omitempty"` // whether entire entries, not only their defective parts, are omitted
	Keys   []string `json:"keys"`           // keys of the first few entries, or their positions in the list
}

// OwnList is a brand bundle that an institution publishes for its own brands (SMART App Launch 2.2, section 8).
// Operators see OwnLists in the report and may create sources for them. The service never fetches a URL merely because
// a list contains it.
type OwnList struct {
	Key string `json:"key"`
	URL string `json:"url"`
}

// Unreadable returns the number of omitted entries, excluding duplicates.
func (r *Report) Unreadable() int {
	n := 0
	for _, p := range r.Problems {
		if p.Lost && p.Reason != DuplicateKey {
			n += p.Count
		}
	}
	return n
}

// problem records a defect in an entry whose other parts are still used.
func (r *Report) problem(reason Reason, key string) { r.note(reason, false, key) }

func (r *Report) omitted(reason Reason, key string) { r.note(reason, true, key) }

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

// shortened truncates a key and removes its control characters so that the key can safely be displayed in a terminal
// and stored in a row.
func shortened(key string) string {
	text, _ := plain(key)
	if runes := []rune(text); len(runes) > longestKey {
		return string(runes[:longestKey]) + "…"
	}
	return text
}
