// Package emit holds the output of a document: its resources under ids derived from their facts, the parts of the
// document that they cover, the dropped parts, and the budget that bounds them all.
//
// Ids are version 5 UUIDs (RFC 9562) in one namespace. Package ccda documents the rules.
package emit

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

// Emitter collects the resources of one document.
type Emitter struct {
	headers
	coverage
	schedule
	spending
	*tally

	sources r4.Sources
	filler  r4.Filler
}

// headers creates the headers of resources.
type headers struct {
	Names

	Salt string // empty, or the patient's id if another patient's facts in the set have the same ids
}

// coverage records which resource states each statement.
type coverage struct {
	store  *Store
	latest int32           // the last resource that Merge has added or completed
	taken  []bool          // statements and codes covered by a resource, by the number of their node
	facts  map[int32]int32 // position of the resource for each statement, by the number of its node
}

// schedule holds functions deferred until every statement has its resource.
type schedule struct {
	document *cda.Document
	later    []func()
}

// spending spends the budget, and counts the parts it omits.
type spending struct {
	budget budget
	drops  *tally
}

// tally counts the parts of the document: merged, covered, unknown and dropped.
type tally struct {
	report    DocumentReport
	merged    int
	texts     int // texts for people that a resource holds
	textsLost int
}

// New returns an Emitter for a document of the given size. If packer is not nil, the resources of large documents are
// packed between entries (Pack).
func New(d *cda.Document, bytes int, salt string, packer *r4.Packer) *Emitter {
	names := NamesOf(d.Root)
	counts := &tally{report: DocumentReport{
		Source: names.Source, Code: cda.CodeOf(d.Root.At("code")),
		Resources: map[string]int{}, Templates: map[string]int{},
		Unknown: map[string]int{},
	}}
	return &Emitter{
		headers:  headers{Names: names, Salt: salt},
		coverage: coverage{store: NewStore(packer), taken: make([]bool, d.Elements), facts: map[int32]int32{}},
		schedule: schedule{document: d}, spending: spending{budget: budgetOf(bytes), drops: counts}, tally: counts,
		sources: r4.Sources{},
	}
}

// RunLater runs the functions deferred until every statement has its resource.
func (e *Emitter) RunLater() {
	for _, do := range e.later {
		do()
		e.Pack()
	}
}

// Report returns the document's report with its resources counted.
func (e *Emitter) Report() DocumentReport {
	clear(e.report.Resources)
	for at := range e.store.Len() {
		e.report.Resources[e.store.Type(int32(at))]++
	}
	return e.report
}

// Merged returns the number of resources that completed an earlier one of the document.
func (e *tally) Merged() int { return e.merged }

// Seen is ResourceOf for a resource that is only read, and not retained.
func Seen[T any](e *Emitter, ref *r4.Reference) *T {
	at, known := e.store.Find(ref.Reference)
	if !known {
		return nil
	}
	r, _ := any(e.store.See(at)).(*T)
	return r
}

// ResourceOf returns the resource that a reference points to, completed by later ones with its id; nil if it has
// another type.
func ResourceOf[T any](e *Emitter, ref *r4.Reference) *T {
	if ref == nil {
		return nil
	}
	at, known := e.store.Find(ref.Reference)
	if !known {
		return nil
	}
	r, _ := any(e.store.Get(at)).(*T)
	return r
}
