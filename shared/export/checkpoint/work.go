package checkpoint

import (
	"slices"
	"strings"

	"recordbridge/shared/fhir/plan"
)

// Work holds an export's remaining work and the retry state of earlier runs.
type Work struct {
	Position

	Queries  []plan.Query `json:"queries"`  // remaining queries; the first may be in progress
	Tried    int          `json:"tried"`    // number of attempts so far for the next request
	Ended    int          `json:"done"`     // number of completed queries, reads and attachments
	Oversize int          `json:"oversize"` // number of responses that were too large
	Round    int          `json:"round"`    // number of completed retry rounds
	Down     bool         `json:"down"`     // whether all recent requests to the server failed
	// whether the server demanded a pause; see source.Session.OneByOne
	OneByOne bool   `json:"one_by_one,omitempty"`
	Cached   Cached `json:"cached,omitzero"`

	Refs        []Reference  `json:"-"` // resources waiting to be read
	Binaries    []Reference  `json:"-"` // Binary resources, which are read after all other references
	Attachments []Attachment `json:"-"` // attachments, which are read last
	Deferred    Deferred     `json:"-"`
}

// Cached holds the progress of exporting a cached record.
type Cached struct {
	Batch string `json:"batch"` // batch being read (tokens.Records.Batch)
	Left  int    `json:"left"`  // number of chunks yet to be written
}

// Position holds the progress of the first query in Work.
type Position struct {
	Next  string   `json:"next"`  // URL of the next page; empty if the query has not started
	Pages int      `json:"pages"` // number of pages read
	Links []uint64 `json:"links"` // hashes of the next-page links seen so far (MarkOf)
	Hits  int      `json:"hits"`  // number of resources that the query found
	Lost  int      `json:"lost"`  // number of entries without a usable resource
}

// Turn sets link as the next page of the first query. It returns false if the query has already seen link.
func (p *Position) Turn(link string) bool {
	mark := MarkOf(link)
	if slices.Contains(p.Links, mark) {
		return false
	}
	p.Links = append(p.Links, mark)
	p.Next = link
	return true
}

// Reference identifies a resource to which the record refers.
type Reference struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Round int    `json:"round"` // 1 if a search result contains the reference
}

// Name returns the reference as a relative URL, such as Practitioner/1.
func (r Reference) Name() string { return r.Type + "/" + r.ID }

// clone copies the reference's strings so that they don't keep the original URL in memory.
func (r Reference) clone() Reference {
	return Reference{Type: strings.Clone(r.Type), ID: strings.Clone(r.ID), Round: r.Round}
}

// Attachment is content on the server that the record references by URL.
type Attachment struct {
	URL         string `json:"url"`
	ContentType string `json:"content_type,omitempty"` // media type stated in the record
	ID          string `json:"id"`                     // id of the Binary resource that the export writes
}

// Name returns a reference to the Binary that will contain the attachment, such as Binary/1.
func (a Attachment) Name() string { return "Binary/" + a.ID }

// Deferred holds work postponed until all other work is done.
type Deferred struct {
	Queries     []plan.Query `json:"queries,omitempty"`
	Refs        []Reference  `json:"refs,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

// Any reports whether any work is deferred.
func (l Deferred) Any() bool { return l.size() > 0 }

func (l Deferred) size() int { return len(l.Queries) + len(l.Refs) + len(l.Attachments) }

// TakeTried returns the number of earlier attempts for the next request and resets it to 0, because it applies only to
// that request.
func (w *Work) TakeTried() int {
	tried := w.Tried
	w.Tried = 0
	return tried
}

// Restart makes the first query start again from its first page.
func (w *Work) Restart() { w.Position = Position{} }

// DeferAll defers all remaining work.
func (w *Work) DeferAll() {
	w.Deferred.Queries = append(w.Deferred.Queries, w.Queries...)
	w.Deferred.Refs = append(append(w.Deferred.Refs, w.Refs...), w.Binaries...)
	w.Deferred.Attachments = append(w.Deferred.Attachments, w.Attachments...)
	w.Queries, w.Refs, w.Binaries, w.Attachments = nil, nil, nil, nil
	w.Restart()
}

// NextRound starts a retry round by making all deferred work current.
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

// waiting returns the number of references and attachments to be read, including deferred ones, plus the number of
// deferred queries.
func (w *Work) waiting() int {
	return len(w.Refs) + len(w.Binaries) + len(w.Attachments) + w.Deferred.size()
}
