package checkpoint

import (
	"slices"
	"strings"

	"recordbridge/shared/fhir/plan"
)

// Work is what is left to do, and what a run has to know of what was tried.
type Work struct {
	Position

	Queries  []plan.Query `json:"queries"`  // not begun, or under way when first
	Tried    int          `json:"tried"`    // how often the request that comes next was tried
	Ended    int          `json:"done"`     // queries, reads and attachments that have ended
	Oversize int          `json:"oversize"` // documents that were too large
	Round    int          `json:"round"`    // how often what is put off has been tried again
	Down     bool         `json:"down"`     // the server has answered nothing of late
	// the server has demanded to be left alone: see source.Session.OneByOne
	OneByOne bool   `json:"one_by_one,omitempty"`
	Cached   Cached `json:"cached,omitzero"`

	Refs        []Reference  `json:"-"` // to be read
	Binaries    []Reference  `json:"-"` // to be read after all others
	Attachments []Attachment `json:"-"` // to be read last
	Later       Later        `json:"-"`
}

// Cached is how far a record has come that is read from a cache.
type Cached struct {
	Batch string `json:"batch"` // see tokens.Records
	Left  int    `json:"left"`  // chunks
}

// Position is how far the first query has come.
type Position struct {
	Next  string   `json:"next"`  // next page, empty to begin it
	Pages int      `json:"pages"` // pages read
	Links []uint64 `json:"links"` // marks of the next links that it had
	Hits  int      `json:"hits"`  // resources that it has found
	Lost  int      `json:"lost"`  // entries that were no usable resource
}

// Turn makes link the next page of the first query; it is false when the query has been there before.
func (p *Position) Turn(link string) bool {
	mark := MarkOf(link)
	if slices.Contains(p.Links, mark) {
		return false
	}
	p.Links = append(p.Links, mark)
	p.Next = link
	return true
}

// Reference is a resource that the record refers to.
type Reference struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Round int    `json:"round"` // 1 for what a search has found refers to it
}

// Name is the reference as FHIR writes it, such as Practitioner/1.
func (r Reference) Name() string { return r.Type + "/" + r.ID }

// clone copies the reference out of the address whose parts its texts are.
func (r Reference) clone() Reference {
	return Reference{Type: strings.Clone(r.Type), ID: strings.Clone(r.ID), Round: r.Round}
}

// Attachment is content that the record names by an address of the server.
type Attachment struct {
	URL         string `json:"url"`
	ContentType string `json:"content_type,omitempty"` // as the record states it
	ID          string `json:"id"`                     // of the Binary that it becomes
}

// Name is that of the Binary.
func (a Attachment) Name() string { return "Binary/" + a.ID }

// Later is what has been put off until all else is done.
type Later struct {
	Queries     []plan.Query `json:"queries,omitempty"`
	Refs        []Reference  `json:"refs,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

// Any reports whether something has been put off.
func (l Later) Any() bool { return l.size() > 0 }

func (l Later) size() int { return len(l.Queries) + len(l.Refs) + len(l.Attachments) }

// TakeTried is how often earlier runs have tried the request that comes next. It is that of one request only.
func (w *Work) TakeTried() int {
	tried := w.Tried
	w.Tried = 0
	return tried
}

// Restart forgets how far the first query has come.
func (w *Work) Restart() { w.Position = Position{} }

// PutOffAll puts off all that is left.
func (w *Work) PutOffAll() {
	w.Later.Queries = append(w.Later.Queries, w.Queries...)
	w.Later.Refs = append(append(w.Later.Refs, w.Refs...), w.Binaries...)
	w.Later.Attachments = append(w.Later.Attachments, w.Attachments...)
	w.Queries, w.Refs, w.Binaries, w.Attachments = nil, nil, nil, nil
	w.Restart()
}

// NextRound makes what was put off the work that is to be done.
func (w *Work) NextRound() {
	w.Queries, w.Attachments = w.Later.Queries, w.Later.Attachments
	for _, r := range w.Later.Refs {
		w.addReference(r)
	}
	w.Later = Later{}
	w.Round++
}

func (w *Work) addReference(r Reference) {
	if r.Type == "Binary" {
		w.Binaries = append(w.Binaries, r)
	} else {
		w.Refs = append(w.Refs, r)
	}
}

// waiting is how much is to be read besides the queries: references, attachments, and what was put off.
func (w *Work) waiting() int {
	return len(w.Refs) + len(w.Binaries) + len(w.Attachments) + w.Later.size()
}
