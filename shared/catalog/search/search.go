// Package search finds institutions by the text that a person types. Each snapshot has an immutable search index of a
// mode's brands, which loads in milliseconds (docs/adr/0025-a-search-index-of-our-own.md). An Index is safe for
// concurrent use.
package search

import (
	"encoding/json"
	"math"

	"recordbridge/shared/words/fault"
)

// MaxSize is the maximum number of hits per page.
const MaxSize = 100

// Query describes a search.
type Query struct {
	// Text is the typed text: words in any order, the last of which may be incomplete. Anything beyond 300 runes or 12
	// words is ignored. A text without words matches all brands, which are listed by name. Unless ByLocation is set,
	// ZIP codes in the text replace ZIPs and set ByLocation. A typed ZIP code still matches brands whose names contain
	// it.
	Text       string
	Platforms  []string // platform types to include; if empty, all
	States     []string // two-letter state codes, of which a location must match one; if empty, all
	ZIPs       []string // ZIP codes of the person's location, used by ByLocation
	ByLocation bool     // whether to sort by distance, then by score
	Size       int      // hits per page, from 1 to MaxSize
	After      *Position
	Demote     func(brandID string) Demotion // returns a brand's demotion; nil if there are no demotions
	// First lists the brands (Index.Numbers) that precede all others, in this order, if Text is empty.
	First []uint32

	typed []string // ZIP codes extracted from Text
	said  string   // original Text, including its ZIP codes
}

// Demotion lowers a brand's rank below brands that match equally well.
type Demotion int

// Demotions based on the health of a brand's endpoints.
const (
	NotDemoted Demotion = iota
	Degraded
	Down
)

// Position is a hit's position in a search's total order: by descending score, then by SortName and ID in byte order.
type Position struct {
	Score    float64
	SortName string
	ID       string
}

// Page is a page of search results.
type Page struct {
	Total    int      // total number of hits on all pages
	MaxScore float64  // highest score across all pages; 0 if there are no hits
	ZIPs     []string // ZIP codes of the person's location, either from the text or from Query.ZIPs
	Hits     []Hit
}

// Hit is a brand that matches a query.
type Hit struct {
	ID       string
	Position Position
	Source   json.RawMessage // the hit's JSON for a response (Source in source.go)
	IsFirst  bool            // whether the brand is in Query.First
}

// Search returns a page of brands. A query's hits always have the same order, so consecutive pages contain each hit
// exactly once. Search returns fault.Invalid if the size or position is invalid.
func (x *Index) Search(q Query) (Page, error) {
	if q.Size < 1 || q.Size > MaxSize {
		return Page{}, fault.BadRequest("size must be from 1 to 100.").About("size")
	}
	if q.After != nil && math.IsNaN(q.After.Score) {
		return Page{}, fault.BadRequest("searchAfter is not the sort value of a hit.").About("searchAfter")
	}
	q = q.withTypedZIPs()
	ranked := x.rank(q)
	page := Page{Total: len(ranked), MaxScore: 0, ZIPs: q.ZIPs, Hits: nil}
	for _, r := range ranked {
		page.MaxScore = max(page.MaxScore, r.score)
	}
	for _, r := range x.best(ranked, q.Size, q.After) {
		source, err := x.source(r.brand)
		if err != nil {
			return Page{}, err
		}
		position := Position{Score: r.score, SortName: x.sortNames.at(r.brand), ID: x.ids.at(r.brand)}
		page.Hits = append(page.Hits, Hit{
			ID: position.ID, Position: position, Source: source, IsFirst: r.score >= firstScore,
		})
	}
	return page, nil
}
