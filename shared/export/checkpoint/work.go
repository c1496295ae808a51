package checkpoint

import (
	"slices"
	"strings"

	"recordbridge/shared/fhir/plan"
)

// Work holds the remaining work of an export, and the retry state that a run inherits from earlier runs.
type Work struct {
	Position

	Queries  []plan.Query `json:"queries"`  // remaining queries; the first may be in progress
	Tried    int          `json:"tried"`    // number of attempts so far at the next request
	Ended    int          `json:"done"`     // number of completed queries, reads and attachments
	Oversize int          `json:"oversize"` // number of responses that were too large
	Round    int          `json:"round"`    // number of completed retry rounds of deferred work
	Down     bool         `json:"down"`     // whether all recent requests to the server failed
	// set if the server demanded a pause; see source.Session.OneByOne
	OneByOne bool   `json:"one_by_one,omitempty"`
	Cached   Cached `json:"cached,omitzero"`

	Refs        []Reference  `json:"-"` // resources waiting to be read
	Binaries    []Reference  `json:"-"` // Binary resources, which are read after all other references
	Attachments []Attachment `json:"-"` // attachments, which are read last
	Deferred    Deferred     `json:"-"`
}

// Cached holds the progress of an export of a cached record.
type Cached struct {
	Batch string `json:"batch"` // batch being read; see tokens.Records
	Left  int    `json:"left"`  // number of chunks still to be written
}

// Position holds the progress of the first query in Work.
type Position struct {
	Next  string   `json:"next"`  // URL of the next page; empty if the query has not started
	Pages int      `json:"pages"` // number of pages read
	Links []uint64 `json:"links"` // marks of the next-page links seen so far
	Hits  int      `json:"hits"`  // number of resources found by the query
	Lost  int      `json:"lost"`  // number of entries without a usable resource
}

// Turn sets link as the next page of the first query. It returns false if the query has already visited link.
func (p *Position) Turn(link string) bool {
	mark := MarkOf(link)
	if slices.Contains(p.Links, mark) {
		return false
	}
	p.Links = append(p.Links, mark)
	p.Next = link
	return true
}

// Reference is a resource to which the record refers.
type Reference struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Round int    `json:"round"` // 1 if a search result contains the reference
}

// Name returns the reference in FHIR's form, such as Practitioner/1.
func (r Reference) Name() string { return r.Type + "/" + r.ID }

// clone copies the reference's strings, so the copy does not keep the original URL in memory.
func (r Reference) clone() Reference {
	return Reference{Type: strings.Clone(r.Type), ID: strings.Clone(r.ID), Round: r.Round}
}

// Attachment is content to which the record refers by a URL on the server.
type Attachment struct {
	URL         string `json:"url"`
	ContentType string `json:"content_type,omitempty"` // media type as stated in the record
	ID          string `json:"id"`                     // id of the Binary resource that the export writes
}

// Name returns the reference to the resulting Binary, such as Binary/1.
func (a Attachment) Name() string { return "Binary/" + a.ID }

// Deferred holds work that is postponed until all other work is done.
type Deferred struct {
	Queries     []plan.Query `json:"queries,omitempty"`
	Refs        []Reference  `json:"refs,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

// Any reports whether any work is deferred.
func (l Deferred) Any() bool { return l.size() > 0 }

func (l Deferred) size() int { return len(l.Queries) + len(l.Refs) + len(l.Attachments) }

// TakeTried returns how often earlier runs attempted the next request, and resets the count, which applies only to that
// request.
func (w *Work) TakeTried() int {
	tried := w.Tried
	w.Tried = 0
	return tried
}

// Restart resets the first query to its start.
func (w *Work) Restart() { w.Position = Position{} }

// DeferAll moves all remaining work to the deferred work.
func (w *Work) DeferAll() {
	w.Deferred.Queries = append(w.Deferred.Queries, w.Queries...)
	w.Deferred.Refs = append(append(w.Deferred.Refs, w.Refs...), w.Binaries...)
	w.Deferred.Attachments = append(w.Deferred.Attachments, w.Attachments...)
	w.Queries, w.Refs, w.Binaries, w.Attachments = nil, nil, nil, nil
	w.Restart()
}

// NextRound makes all deferred work current again.
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

// waiting returns the total number of references, attachments and deferred items that are waiting to be read. Queries
// are not included.
func (w *Work) waiting() int {
	return len(w.Refs) + len(w.Binaries) + len(w.Attachments) + w.Deferred.size()
}
