package checkpoint

import (
	"slices"
	"time"

	"recordbridge/shared/export/known"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// Learned holds the request settings that work best for the server, learned from its responses. The zero value means
// that nothing has been learned.
type Learned struct {
	InFlight int `json:"in_flight,omitempty"` // concurrent requests that the server handles; 0 if no limit was observed
	// initial page size of a query; plan.AnySize to omit it; 0 if not yet learned
	PageSize int `json:"page_size,omitempty"`
	// server's maximum page size; 0 if unknown
	MaxSize  int      `json:"max_size,omitempty"`
	TooLarge []string `json:"too_large,omitempty"` // types whose pages at the default size were too large
	NoCount  []string `json:"no_count,omitempty"`  // types whose searches fail if a page size is set
	ByID     []string `json:"by_id,omitempty"`     // types that can be searched by a list of ids in the _id parameter
	ListSize int      `json:"list_size,omitempty"` // maximum number of ids in an _id list; 0 if the server has no limit

	Release string           `json:"release,omitempty"` // release of the server software; see known.ReleaseOf
	Load    known.Experience `json:"load,omitzero"`     // concurrency observed in completed runs
	// types requested last because patients rarely have them
	Last    []string `json:"last,omitempty"`
	Batches bool     `json:"batches,omitempty"` // whether the types in Last may be requested in a batch
	Batched *bool    `json:"batched,omitempty"` // whether batches worked; nil if never tried
	Control *Control `json:"control,omitempty"`
	// whether the server responded to a search, keyed by type, for types that the CapabilityStatement does not list
	Trials map[string]bool `json:"trials,omitempty"`

	MayAttach bool  `json:"may_attach,omitempty"` // whether _revinclude of Provenance has yet to be tried
	Attached  *bool `json:"attached,omitempty"`   // whether _revinclude worked; nil if never tried
}

// Tried records whether the server has responded to a search for a type that its CapabilityStatement does not list.
func (l *Learned) Tried(resourceType string, answered bool) {
	if l.Trials == nil {
		l.Trials = map[string]bool{}
	}
	l.Trials[resourceType] = answered
}

// Control is a search known to find resources. Each batch repeats the control search to validate the response. If the
// repeated search finds a different number of resources, the entire batch response is discarded.
type Control struct {
	Query plan.Query `json:"query"`
	Hits  int        `json:"hits"`
}

// AddExperience adds what a run observed about concurrent requests to the learned settings.
func (l *Learned) AddExperience(met known.Experience) {
	l.Load.Handled, l.Load.Trouble = max(l.Load.Handled, met.Handled), l.Load.Trouble || met.Trouble
	if met.Limit > 0 {
		l.Load.Limit = met.Limit
	}
}

// InitialInFlight returns the next run's initial number of concurrent requests, or 0 for the default.
func (l *Learned) InitialInFlight() int {
	if l.Load.Trouble {
		return 0
	}
	return l.Load.Handled
}

const (
	// severalTypes is the number of types that must show a behaviour before the export attributes that behaviour to the
	// entire server.
	severalTypes = 2
	// quickPage and smallPage limit the growth of the page size. The export requests larger pages only if the last page
	// took at most quickPage and the larger page is expected to have at most smallPage bytes.
	quickPage = 3 * time.Second
	smallPage = 1 << 20
)

// Sized returns q with the page size that works best for the server. The query must not have started. The profiled
// argument is the profile's initial page size, or 0 if the profile sets none.
func (l *Learned) Sized(q plan.Query, profiled int) plan.Query {
	switch {
	case l.PageSize != 0:
		return q.Sized(l.PageSize)
	case profiled != 0:
		return q.Sized(profiled)
	}
	return q
}

// Paged adjusts the page size after a query's first page, based on the page's duration and size in bytes.
func (l *Learned) Paged(q plan.Query, page fhir.Bundle, bytes int, took time.Duration) {
	if page.Next == "" || page.Len == 0 || q.Count == 0 || l.PageSize == plan.AnySize {
		return
	}
	larger := plan.Larger(q.Count)
	if l.MaxSize > 0 {
		larger = min(larger, l.MaxSize)
	}
	switch {
	case page.Len < q.Count: // server's maximum page size is smaller than q.Count
		l.MaxSize = max(page.Len, plan.UsualSize())
		l.PageSize = min(l.PageSize, l.MaxSize)
	case larger > q.Count && took <= quickPage && bytes/page.Len*larger <= smallPage:
		l.PageSize = larger
	}
}

// Refused adjusts the page-size settings after a failed query.
func (l *Learned) Refused(q plan.Query, failed *fhir.RequestError) {
	switch {
	case failed.Refusal == fhir.NoCount && q.Count > 0:
		if note(&l.NoCount, q.Type) >= severalTypes {
			l.PageSize = plan.AnySize
		}
	case l.PageSize == plan.AnySize:
	case q.IsTooMuch(failed):
		l.PageSize, l.MaxSize = plan.UsualSize(), plan.UsualSize()
	case failed.Class == fhir.TooLarge && q.Count == plan.UsualSize():
		if note(&l.TooLarge, q.Type) >= severalTypes {
			l.PageSize = plan.Smaller()
			l.MaxSize = l.PageSize
		}
	}
}

func note(noted *[]string, resourceType string) int {
	if !slices.Contains(*noted, resourceType) {
		*noted = append(*noted, resourceType)
	}
	return len(*noted)
}

// IgnoresIDs records that, for a resource type, the server accepts a single id in _id but ignores lists. An empty type
// name means all types.
func (l *Learned) IgnoresIDs(resourceType string) {
	l.ByID = slices.DeleteFunc(l.ByID, func(one string) bool { return resourceType == "" || one == resourceType })
}
