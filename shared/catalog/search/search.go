// Package search owns finding institutions by what a person types: an index of one mode's brands that is built once for
// each snapshot, is read in milliseconds, and never changes (docs/adr/0025-a-search-index-of-our-own.md). An Index may
// be used by any number of goroutines at once.
package search

import (
	"encoding/json"
	"math"

	"recordbridge/shared/words/fault"
)

// MaxSize is how many hits a page has at most.
const MaxSize = 100

// Query is what somebody looks for.
type Query struct {
	// Text is what was typed: words in any order, the last one perhaps not finished. What is beyond 300 runes or 12 words
	// is not looked at. A text without a word lists everything by name.
	Text       string
	Platforms  []string // platform types; of any of them, unless empty
	States     []string // codes of two letters; with a location in any of them, unless empty
	ZIPs       []string // where the person is, for ByLocation
	ByLocation bool     // the nearest first, then the best
	Size       int      // hits of a page: 1 to MaxSize
	After      *Position
	Demote     func(brandID string) Demotion // nil: nothing is demoted
}

// Demotion is by how much a brand is put behind what matches equally well.
type Demotion int

// The demotions, by the health of what a brand's portals lead to.
const (
	NotDemoted Demotion = iota
	Degraded
	Down
)

// Position is the place of a hit in the total order of a search: by score, the highest first, then by
// SortName and ID as bytes.
type Position struct {
	Score    float64
	SortName string
	ID       string
}

// Page is a part of what was found.
type Page struct {
	Total    int     // of all pages
	MaxScore float64 // of all pages; 0 where there are no hits
	Hits     []Hit
}

// Hit is a brand that was found.
type Hit struct {
	ID       string
	Position Position
	Source   json.RawMessage // what an answer says of it (Source in source.go)
}

// Search finds a page of brands. The same query finds the same in the same order, so that pages after one another have
// each hit once. The error is fault.Invalid for a size or a position that cannot be.
func (x *Index) Search(q Query) (Page, error) {
	if q.Size < 1 || q.Size > MaxSize {
		return Page{}, fault.BadRequest("size must be from 1 to 100.").About("size")
	}
	if q.After != nil && math.IsNaN(q.After.Score) {
		return Page{}, fault.BadRequest("searchAfter is not the sort value of a hit.").About("searchAfter")
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
