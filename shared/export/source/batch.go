package source

import (
	"context"

	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// batchLimit is the maximum size of a batch response, in bytes. The response is held in memory until its last page is
// written.
const batchLimit = 1 << 20

// Batch returns a Fetch that sends searches to the server at base in a single batch request. Page.Parts contains the
// first page of each search, in order. A part whose search failed has IsThere set to false. A response that is too
// large, or that does not match the batch, counts as fhir.Rejected. After a rejection, the searches can be sent
// individually.
func (s *Session) Batch(queries []plan.Query, base fhir.Base) Fetch {
	addresses := make([]string, 0, len(queries))
	for _, q := range queries {
		addresses = append(addresses, PathOf(q)+"?"+q.Values().Encode())
	}
	return func(ctx context.Context, wanted Wanted) (Page, error) {
		batch, err := fhir.Batch(addresses)
		if err != nil {
			return Page{}, err
		}
		answer, err := s.ask(ctx, wanted, func(ctx context.Context) (fhir.Response, error) {
			return s.server.Batch(ctx, batch, batchLimit)
		})
		if err != nil || answer.Stop.Stops() {
			return Page{Stop: answer.Stop}, err
		}
		return batched(answer, queries, base), nil
	}
}

func batched(answer Response, queries []plan.Query, base fhir.Base) Page {
	if answer.Failed != nil {
		return Page{Failed: unlessTooLarge(answer.Failed)}
	}
	pages, err := fhir.ParseBatch(answer.Body)
	if err != nil || len(pages) != len(queries) {
		return Page{Failed: &fhir.RequestError{Class: fhir.Rejected, Status: 200, Cause: err}}
	}
	for i, page := range pages {
		learned := base.Learn(page.Bundle, PathOf(queries[i]))
		if address, ok := learned.Resolve(page.Next); ok && page.Next != "" {
			pages[i].Next = address
		}
	}
	return Page{Parts: pages, Took: answer.Took, room: int64(cap(answer.Body))}
}

// unlessTooLarge converts a fhir.TooLarge failure to fhir.Rejected and returns any other failure unchanged.
func unlessTooLarge(failed *fhir.RequestError) *fhir.RequestError {
	if failed.Class == fhir.TooLarge {
		return &fhir.RequestError{Class: fhir.Rejected, Status: failed.Status}
	}
	return failed
}
