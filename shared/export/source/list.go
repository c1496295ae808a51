package source

import (
	"context"

	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// listLimit is the maximum size, in bytes, of the response to a search by ids. The response is held in memory until its
// last resource is written.
const listLimit = 512 << 10

// List returns a Fetch that reads the resources of a type with the given ids as a single page. If the page is
// incomplete, Page.NextLost is true. A response that is too large counts as fhir.Rejected. After a rejection, the
// resources can be read individually.
func (s *Session) List(resourceType string, ids []string, base fhir.Base) Fetch {
	search := s.Search(plan.Listed(resourceType, ids), base)
	return func(ctx context.Context, wanted Wanted) (Page, error) {
		wanted.Limit = listLimit
		found, err := search(ctx, wanted)
		if found.Failed != nil {
			found.Failed = unlessTooLarge(found.Failed)
		}
		found.NextLost, found.Next = found.NextLost || found.Next != "", ""
		return found, err
	}
}
