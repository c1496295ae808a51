package checkpoint

import (
	"slices"
	"time"

	"recordbridge/shared/export/known"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// Learned is how the server has shown that it is asked best. The zero value is that of one that nothing is known of.
type Learned struct {
	InFlight int `json:"in_flight,omitempty"` // requests at once that it bears; 0 where it has shown no limit
	// to begin a query with, plan.AnySize for none; 0 where nothing is learned
	PageSize int      `json:"page_size,omitempty"`
	MaxSize  int      `json:"max_size,omitempty"`  // of a page, beyond which nothing is gained; 0 where that is not known
	TooLarge []string `json:"too_large,omitempty"` // types whose pages of the usual size were too large
	NoCount  []string `json:"no_count,omitempty"`  // types that refuse a page size
	ByID     []string `json:"by_id,omitempty"`     // types that are found by a list in _id
	ListSize int      `json:"list_size,omitempty"` // ids that such a list may have; 0 for as many as the export likes

	Release string           `json:"release,omitempty"` // see known.ReleaseOf
	Load    known.Experience `json:"load,omitzero"`     // of the runs that have ended
	Last    []string         `json:"last,omitempty"`    // types that are asked for last, since patients have none of them
	Batches bool             `json:"batches,omitempty"` // those types may be asked for together
	Batched *bool            `json:"batched,omitempty"` // whether that has worked; nil if it was not tried
	Control *Control         `json:"control,omitempty"`
	// types that the statement does not list, by whether the server has answered
	Trials map[string]bool `json:"trials,omitempty"`

	MayAttach bool  `json:"may_attach,omitempty"` // _revinclude of Provenance is still to be tried
	Attached  *bool `json:"attached,omitempty"`   // whether it has worked; nil if it was not tried
}

// Tried records whether the server has answered a search for a type that its statement does not list.
func (l *Learned) Tried(resourceType string, answered bool) {
	if l.Trials == nil {
		l.Trials = map[string]bool{}
	}
	l.Trials[resourceType] = answered
}

// Control is a search that found resources. Each batch repeats it: if the repetition finds a different number, the
// whole batch is discarded.
type Control struct {
	Query plan.Query `json:"query"`
	Hits  int        `json:"hits"`
}

// Bore adds a run's experience with concurrent requests.
func (l *Learned) Bore(met known.Experience) {
	l.Load.Bears, l.Load.Trouble = max(l.Load.Bears, met.Bears), l.Load.Trouble || met.Trouble
	if met.Limit > 0 {
		l.Load.Limit = met.Limit
	}
}

// Begins returns the number of concurrent requests with which the next run begins; 0 for the default.
func (l *Learned) Begins() int {
	if l.Load.Trouble {
		return 0
	}
	return l.Load.Bears
}

const (
	// severalTypes is of how many types something is taken to be the server's way.
	severalTypes = 2
	// quickPage is how long the page takes at most, and smallPage how many bytes a larger one would have at most, after
	// which larger pages are asked for.
	quickPage = 3 * time.Second
	smallPage = 1 << 20
)

// Sized is a query that has not begun, with the page size that works. The profile's is what to begin with, 0 for none.
func (l *Learned) Sized(q plan.Query, profiled int) plan.Query {
	switch {
	case l.PageSize != 0:
		return q.Sized(l.PageSize)
	case profiled != 0:
		return q.Sized(profiled)
	}
	return q
}

// Paged learns from the first page of a query, which has bytes and took some time.
func (l *Learned) Paged(q plan.Query, page fhir.Bundle, bytes int, took time.Duration) {
	if page.Next == "" || page.Len == 0 || q.Count == 0 || l.PageSize == plan.AnySize {
		return
	}
	larger := plan.Larger(q.Count)
	if l.MaxSize > 0 {
		larger = min(larger, l.MaxSize)
	}
	switch {
	case page.Len < q.Count: // it gives no more
		l.MaxSize = max(page.Len, plan.UsualSize())
		l.PageSize = min(l.PageSize, l.MaxSize)
	case larger > q.Count && took <= quickPage && bytes/page.Len*larger <= smallPage:
		l.PageSize = larger
	}
}

// Refused learns from the failure of a query.
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

// note adds a type to those that are noted, and returns how many there are.
func note(noted *[]string, resourceType string) int {
	if !slices.Contains(*noted, resourceType) {
		*noted = append(*noted, resourceType)
	}
	return len(*noted)
}

// IgnoresIDs notes that the server finds resources of a type, or any at all where that is empty, only by one id.
func (l *Learned) IgnoresIDs(resourceType string) {
	l.ByID = slices.DeleteFunc(l.ByID, func(one string) bool { return resourceType == "" || one == resourceType })
}
