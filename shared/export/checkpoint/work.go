package checkpoint

import (
	"slices"
	"strings"

	"recordbridge/shared/fhir/plan"
)

// Work holds the remaining work, and what a run must know about earlier tries.
type Work struct {
	Position

	Queries  []plan.Query `json:"queries"`  // not begun; the first may be under way
	Tried    int          `json:"tried"`    // tries of the next request so far
	Ended    int          `json:"done"`     // queries, reads and attachments that have ended
	Oversize int          `json:"oversize"` // documents that were too large
	Round    int          `json:"round"`    // rounds of retries of deferred work so far
	Down     bool         `json:"down"`     // the server's recent requests have all failed
	// the server demanded a pause: see source.Session.OneByOne
	OneByOne bool   `json:"one_by_one,omitempty"`
	Cached   Cached `json:"cached,omitzero"`

	Refs        []Reference  `json:"-"` // to be read
	Binaries    []Reference  `json:"-"` // to be read after all other references
	Attachments []Attachment `json:"-"` // to be read last
	Deferred    Deferred     `json:"-"`
}

// Cached holds the progress of a record that is read from a cache.
type Cached struct {
	Batch string `json:"batch"` // see tokens.Records
	Left  int    `json:"left"`  // remaining chunks
}

// Position holds the progress of the first query.
type Position struct {
	Next  string   `json:"next"`  // next page; empty if the query has not begun
	Pages int      `json:"pages"` // pages read
	Links []uint64 `json:"links"` // marks of the next links seen so far
	Hits  int      `json:"hits"`  // resources found
	Lost  int      `json:"lost"`  // entries without a usable resource
}

// Turn makes link the next page of the first query. It reports false if the query has already visited it.
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
	Round int    `json:"round"` // 1 if a search result refers to it
}

// Name returns the reference as FHIR writes it, such as Practitioner/1.
func (r Reference) Name() string { return r.Type + "/" + r.ID }

// clone copies the reference's strings, so that they do not retain the URL they were sliced from.
func (r Reference) clone() Reference {
	return Reference{Type: strings.Clone(r.Type), ID: strings.Clone(r.ID), Round: r.Round}
}

// Attachment is content that the record names by a URL of the server.
type Attachment struct {
	URL         string `json:"url"`
	ContentType string `json:"content_type,omitempty"` // as the record states it
	ID          string `json:"id"`                     // id of the resulting Binary
}

// Name returns the name of the Binary.
func (a Attachment) Name() string { return "Binary/" + a.ID }

// Deferred holds work that is deferred until all else is done.
type Deferred struct {
	Queries     []plan.Query `json:"queries,omitempty"`
	Refs        []Reference  `json:"refs,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

// Any reports whether any work is deferred.
func (l Deferred) Any() bool { return l.size() > 0 }

func (l Deferred) size() int { return len(l.Queries) + len(l.Refs) + len(l.Attachments) }

// TakeTried returns how often earlier runs have tried the next request, and resets the count, which applies to one
// request only.
func (w *Work) TakeTried() int {
	tried := w.Tried
	w.Tried = 0
	return tried
}

// Restart resets the position in the first query.
func (w *Work) Restart() { w.Position = Position{} }

// DeferAll defers all remaining work.
func (w *Work) DeferAll() {
	w.Deferred.Queries = append(w.Deferred.Queries, w.Queries...)
	w.Deferred.Refs = append(append(w.Deferred.Refs, w.Refs...), w.Binaries...)
	w.Deferred.Attachments = append(w.Deferred.Attachments, w.Attachments...)
	w.Queries, w.Refs, w.Binaries, w.Attachments = nil, nil, nil, nil
	w.Restart()
}

// NextRound turns the deferred work into current work.
func (w *Work) NextRound() {
	w.Queries, w.Attachments = w.Deferred.Queries, w.Deferred.Attachments
	for _, r := range w.Deferred.Refs {
		w.addReference(r)
	}
	w.Deferred = Deferred{}
	w.Round++
}

func (w *Work) addReference(r Reference) {
	if r.Type == "Binary" {
		w.Binaries = append(w.Binaries, r)
	} else {
		w.Refs = append(w.Refs, r)
	}
}

// waiting returns the number of items to read besides the queries: references, attachments and deferred work.
func (w *Work) waiting() int {
	return len(w.Refs) + len(w.Binaries) + len(w.Attachments) + w.Deferred.size()
}
