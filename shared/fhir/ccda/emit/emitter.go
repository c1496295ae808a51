// Package emit collects a document's resources within a budget and derives their ids from their facts. It records which
// parts of the document the resources represent and which were dropped.
//
// The ids of converted resources are version 5 UUIDs (RFC 9562) in a single namespace. The rules for ids are documented
// in package ccda.
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

type headers struct {
	Names

	Salt string // the patient's id if other ids could collide with those of another patient's facts; otherwise empty
}

// coverage records which resource represents each statement.
type coverage struct {
	store  *Store
	latest int32           // position of the last resource that Merge added or completed
	taken  []bool          // statements and codes represented by a resource, by node number
	facts  map[int32]int32 // position of each statement's resource, by node number
}

// schedule holds functions deferred until all statements have been converted to resources.
type schedule struct {
	document *cda.Document
	later    []func()
}

// spending charges output against the budget and counts the omitted parts of the document.
type spending struct {
	budget budget
	drops  *tally
}

// tally counts the parts of a document that were merged, covered, unknown or dropped.
type tally struct {
	report    DocumentReport
	merged    int
	texts     int // number of human-readable texts in resources
	textsLost int
}

// New returns an Emitter for a document of the given size in bytes. If packer is not nil, a large document's resources
// are packed between entries (see Pack).
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

// RunLater runs the functions deferred until all statements have been converted to resources.
func (e *Emitter) RunLater() {
	for _, do := range e.later {
		do()
		e.Pack()
	}
}

// Report returns the document's report, including the number of resources.
func (e *Emitter) Report() DocumentReport {
	clear(e.report.Resources)
	for at := range e.store.Len() {
		e.report.Resources[e.store.Type(int32(at))]++
	}
	return e.report
}

// Merged returns the number of resources that were merged into an earlier one.
func (e *tally) Merged() int { return e.merged }

// Seen is like ResourceOf, but the caller must only read the resource and must not retain it.
func Seen[T any](e *Emitter, ref *r4.Reference) *T {
	at, known := e.store.Find(ref.Reference)
	if !known {
		return nil
	}
	r, _ := any(e.store.See(at)).(*T)
	return r
}

// ResourceOf returns the resource to which a reference points, including additions from later resources with the same
// id. It returns nil for a resource of another type.
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
