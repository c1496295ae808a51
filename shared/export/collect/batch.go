package collect

import (
	"slices"

	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

const (
	// batchSize is the maximum number of searches in one batch. Servers run a batch's searches one after another.
	batchSize = 16
	// maxControlHits and maxControlBytes limit the page that a control search may return.
	maxControlHits  = 50
	maxControlBytes = 64 << 10
)

// batches combines searches for types that patients rarely have (docs/reference/deviations.md, "Exports"). Each search
// is counted as if it had been sent alone. A search that fails in a batch is retried individually.
type batches struct {
	work     *checkpoint.Work
	learned  *checkpoint.Learned
	pageSize int // page size for the server's software
	of       map[plan.Query]*batch
	alone    map[plan.Query]bool // queries that failed in a batch
}

// batch is one request that combines several searches.
type batch struct {
	key     plan.Query // key of the batch's stream
	control checkpoint.Control
	queries []plan.Query
	found   map[plan.Query]source.Page // pages by query; nil until the response arrives
}

func newBatches(state *checkpoint.State, pageSize int) batches {
	return batches{
		work: &state.Work, learned: &state.Server.Learned, pageSize: pageSize, of: map[plan.Query]*batch{},
		alone: map[plan.Query]bool{},
	}
}

// has reports whether a query belongs to a batch from which take has not yet returned its page.
func (b *batches) has(q plan.Query) bool { return b.of[q] != nil }

// waits reports whether a query should wait to join a batch because a control search may soon be available.
func (b *batches) waits(q plan.Query) bool {
	return b.may(q) && b.learned.Control == nil && !slices.Contains(b.learned.Last, b.work.Queries[0].Type)
}

// may reports whether a query can join a batch.
func (b *batches) may(q plan.Query) bool {
	isOpen := !b.alone[q] && b.of[q] == nil
	return isOpen && b.learned.Batches && !q.IsAttaching() && slices.Contains(b.learned.Last, q.Type)
}

// begin creates a batch from the first waiting query and other eligible queries. It returns nil if there is no control
// search or if fewer than two queries are eligible.
func (b *batches) begin(waiting []plan.Query, isAsked func(plan.Query) bool) *batch {
	control := b.learned.Control
	if control == nil || !b.may(waiting[0]) {
		return nil
	}
	made := &batch{key: waiting[0], control: *control}
	for i, q := range waiting {
		if len(made.queries) < batchSize && b.may(q) && !isAsked(q) {
			waiting[i] = b.learned.Sized(q, b.pageSize)
			made.queries = append(made.queries, waiting[i])
		}
	}
	if len(made.queries) < 2 {
		return nil
	}
	for _, q := range made.queries {
		b.of[q] = made
	}
	return made
}

// searches returns the batch's searches, with the control search first.
func (b *batch) searches() []plan.Query { return append([]plan.Query{b.control.Query}, b.queries...) }

// receive processes the response to a batch. Searches missing from the batch response are sent individually.
func (b *batches) receive(of *batch, answer source.Page) {
	learned := b.learned
	isGood := answer.Failed == nil && answer.Parts[0].IsThere && answer.Parts[0].Len == of.control.Hits
	of.found = map[plan.Query]source.Page{}
	for i, q := range of.queries {
		if !isGood || !answer.Parts[i+1].IsThere {
			delete(b.of, q)
			b.alone[q] = true
			continue
		}
		page := answer.Parts[i+1]
		of.found[q] = source.Page{Bundle: page.Bundle, Bytes: page.Bytes, Took: answer.Took}
	}
	switch {
	case isGood && len(of.found) > 0:
		if learned.Batched == nil {
			learned.Batched = new(true)
		}
	case answer.Failed != nil && isPassing(answer.Failed.Class) && answer.Failed.Class != fhir.ServerFault:
		learned.Batches = false // disables batches for the rest of this export only
	default:
		learned.Batches, learned.Batched = false, new(false)
	}
}

// take returns a query's page from a batch response. It returns false if no batch response contains the page.
func (b *batches) take(q plan.Query) (source.Page, bool) {
	of := b.of[q]
	if of == nil || of.found == nil {
		return source.Page{}, false
	}
	delete(b.of, q)
	return of.found[q], true
}

// note makes q the control search if q returned a single page with fewer resources than the current control search did.
func (b *batches) note(q plan.Query, found source.Page) {
	learned := b.learned
	isFit := found.Next == "" && !found.NextLost && found.Unusable == 0 && found.Len > 0 && found.Len <= maxControlHits &&
		found.Bytes <= maxControlBytes
	if isFit && q.Type != "" && !q.IsDefinition() && !q.IsAttaching() &&
		(learned.Control == nil || found.Len < learned.Control.Hits) {
		learned.Control = &checkpoint.Control{Query: q, Hits: found.Len}
	}
}
