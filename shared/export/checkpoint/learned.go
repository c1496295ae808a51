package checkpoint

import (
	"slices"
	"time"

	"recordbridge/shared/export/known"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// Learned holds the request settings that work best for the server, as learned from its responses. The zero value means
// that nothing is known.
type Learned struct {
	InFlight int `json:"in_flight,omitempty"` // concurrent requests the server handles; 0 if it has shown no limit
	// first page size of a query, plan.AnySize for none; 0 if nothing is learned
	PageSize int      `json:"page_size,omitempty"`
	MaxSize  int      `json:"max_size,omitempty"`  // largest page size that has any effect; 0 if unknown
	TooLarge []string `json:"too_large,omitempty"` // types whose pages of the default size were too large
	NoCount  []string `json:"no_count,omitempty"`  // types that refuse a page size
	ByID     []string `json:"by_id,omitempty"`     // types that can be searched by a list in _id
	ListSize int      `json:"list_size,omitempty"` // maximum ids in such a list; 0 for no limit by the server

	Release string           `json:"release,omitempty"` // see known.ReleaseOf
	Load    known.Experience `json:"load,omitzero"`     // of the runs that have ended
	Last    []string         `json:"last,omitempty"`    // types requested last, since patients rarely have any
	Batches bool             `json:"batches,omitempty"` // those types may be requested together
	Batched *bool            `json:"batched,omitempty"` // whether batches worked; nil if not tried
	Control *Control         `json:"control,omitempty"`
	// types missing from the statement, by whether the server has responded
	Trials map[string]bool `json:"trials,omitempty"`

	MayAttach bool  `json:"may_attach,omitempty"` // _revinclude of Provenance is yet to be tried
	Attached  *bool `json:"attached,omitempty"`   // whether it worked; nil if not tried
}

// Tried records whether the server has responded to a search for a type that its statement does not list.
func (l *Learned) Tried(resourceType string, answered bool) {
	if l.Trials == nil {
		l.Trials = map[string]bool{}
	}
	l.Trials[resourceType] = answered
}

// Control is a search that found resources. Each batch repeats it: if the repetition finds a different number, the
// entire batch is discarded.
type Control struct {
	Query plan.Query `json:"query"`
	Hits  int        `json:"hits"`
}

// AddExperience adds a run's experience with concurrent requests.
func (l *Learned) AddExperience(met known.Experience) {
	l.Load.Handled, l.Load.Trouble = max(l.Load.Handled, met.Handled), l.Load.Trouble || met.Trouble
	if met.Limit > 0 {
		l.Load.Limit = met.Limit
	}
}

// InitialInFlight returns the number of concurrent requests to begin the next run with; 0 for the default.
func (l *Learned) InitialInFlight() int {
	if l.Load.Trouble {
		return 0
	}
	return l.Load.Handled
}

const (
	// severalTypes is the number of types after which a behaviour is assumed to apply to the whole server.
	severalTypes = 2
	// quickPage and smallPage decide when larger pages are requested: the page took at most quickPage, and a larger one
	// would have at most smallPage bytes.
	quickPage = 3 * time.Second
	smallPage = 1 << 20
)

// Sized returns a query that has not begun, with the page size that works. profiled is the profile's initial size, 0
// for none.
func (l *Learned) Sized(q plan.Query, profiled int) plan.Query {
	switch {
	case l.PageSize != 0:
		return q.Sized(l.PageSize)
	case profiled != 0:
		return q.Sized(profiled)
	}
	return q
}

// Paged learns from the first page of a query: its size in bytes and the time it took.
func (l *Learned) Paged(q plan.Query, page fhir.Bundle, bytes int, took time.Duration) {
	if page.Next == "" || page.Len == 0 || q.Count == 0 || l.PageSize == plan.AnySize {
		return
	}
	larger := plan.Larger(q.Count)
	if l.MaxSize > 0 {
		larger = min(larger, l.MaxSize)
	}
	switch {
	case page.Len < q.Count: // the server returns no more than that
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

// note adds a type to a list and returns the list's length.
func note(noted *[]string, resourceType string) int {
	if !slices.Contains(*noted, resourceType) {
		*noted = append(*noted, resourceType)
	}
	return len(*noted)
}

// IgnoresIDs records that the server finds resources of a type by one id only, not by a list. An empty type stands for
// all types.
func (l *Learned) IgnoresIDs(resourceType string) {
	l.ByID = slices.DeleteFunc(l.ByID, func(one string) bool { return resourceType == "" || one == resourceType })
}
