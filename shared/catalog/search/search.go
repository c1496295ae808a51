// Package search finds institutions by the text that a person types. An index of one mode's brands is built once for
// each snapshot, is read in milliseconds, and never changes (docs/adr/0025-a-search-index-of-our-own.md). An Index is
// safe for concurrent use.
package search

import (
	"encoding/json"
	"math"

	"recordbridge/shared/words/fault"
)

// MaxSize is the maximum number of hits on a page.
const MaxSize = 100

// Query describes a search.
type Query struct {
	// Text is the typed text: words in any order, the last of which may be incomplete. Text beyond 300 runes or 12 words
	// is ignored. A text without words lists all brands by name.
	Text       string
	Platforms  []string // platform types to include; empty for all
	States     []string // two-letter codes; at least one location must be in one of them; empty for all
	ZIPs       []string // ZIP codes of the person's location, for ByLocation
	ByLocation bool     // sorts by distance, then by score
	Size       int      // hits per page: 1 to MaxSize
	After      *Position
	Demote     func(brandID string) Demotion // nil means no demotions
}

// Demotion lowers a brand's rank below others that match equally well.
type Demotion int

// The demotions, by the health of a brand's endpoints.
const (
	NotDemoted Demotion = iota
	Degraded
	Down
)

// Position is the position of a hit in the total order of a search: by score, the highest first, then by SortName and
// ID as bytes.
type Position struct {
	Score    float64
	SortName string
	ID       string
}

// Page is one page of a search's hits.
type Page struct {
	Total    int     // number of hits on all pages
	MaxScore float64 // maximum score on all pages; 0 without hits
	Hits     []Hit
}

// Hit is a brand that was found.
type Hit struct {
	ID       string
	Position Position
	Source   json.RawMessage // the hit's JSON for a response (Source in source.go)
}

// Search returns a page of brands. The same query returns the same hits in the same order, so that consecutive pages
// contain each hit once. An invalid size or position is fault.Invalid.
func (x *Index) Search(q Query) (Page, error) {
	if q.Size < 1 || q.Size > MaxSize {
		return Page{}, fault.BadRequest("size has to be between 1 and 100.").About("size")
	}
	if q.After != nil && math.IsNaN(q.After.Score) {
		return Page{}, fault.BadRequest("searchAfter is not the sort of a hit.").About("searchAfter")
	}
	ranked := x.rank(q)
	page := Page{Total: len(ranked), MaxScore: 0, Hits: nil}
	for _, r := range ranked {
		page.MaxScore = max(page.MaxScore, r.score)
	}
	for _, r := range x.best(ranked, q.Size, q.After) {
		source, err := x.source(r.brand)
		if err != nil {
			return Page{}, err
		}
		position := Position{Score: r.score, SortName: x.sortNames.at(r.brand), ID: x.ids.at(r.brand)}
		page.Hits = append(page.Hits, Hit{ID: position.ID, Position: position, Source: source})
	}
	return page, nil
}
