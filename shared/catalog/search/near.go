package search

import (
	"math"
	"strings"

	"recordbridge/shared/catalog/geo"
)

// Scores for hits ordered by distance. The integer part of a score is derived from the distance in kilometres, and the
// fraction from the original score. A matching brand whose name contains a typed ZIP code scores higher than any
// distance can.
const (
	farthest  = 20_000 // exceeds any distance in kilometres
	nextScore = 1.0 / 256
	aboveAll  = farthest + 2
)

// maxTyped is the maximum number of ZIP codes read from a text, which limits a search's time.
const maxTyped = 3

// withTypedZIPs returns the query with the ZIP codes in its text as the person's location. Numbers that aren't known
// ZIP codes remain in the text, as do all numbers if the query already sorts by distance.
func (q Query) withTypedZIPs() Query {
	if q.ByLocation {
		return q
	}
	q.said = limited(q.Text)
	var rest []string
	for _, field := range strings.FieldsFunc(q.said, func(c rune) bool { return c <= ' ' || c == ',' || c == ';' }) {
		word := strings.Trim(field, ".()")
		zip, ok := geo.ZIP(word)
		if ok && len(word) != 9 && len(q.typed) < maxTyped && geo.State(zip) != "" {
			q.typed = append(q.typed, zip)
		} else {
			rest = append(rest, field)
		}
	}
	if len(q.typed) > 0 {
		q.Text, q.ZIPs, q.ByLocation = strings.Join(rest, " "), q.typed, true
	}
	return q
}

// near orders the matching brands by distance. If the text without its ZIP codes matches no brand, near returns the
// complete text's matches, ordered by score. Brands that match the complete text and whose names contain a typed ZIP
// code remain hits.
func (x *Index) near(q Query, found []ranked, allowed func(uint32) bool) []ranked {
	said := q
	said.Text = q.said
	if len(found) == 0 && len(q.typed) > 0 {
		return x.matches(said, allowed)
	}
	named := x.named(q.typed)
	if len(named) == 0 {
		x.nearest(found, q.ZIPs)
		return found
	}
	isFound := map[uint32]bool{}
	for _, r := range found {
		isFound[r.brand] = true
	}
	for _, r := range x.matches(said, allowed) {
		if named[r.brand] && !isFound[r.brand] {
			found = append(found, r)
		}
	}
	x.nearest(found, q.ZIPs)
	for i, r := range found {
		if named[r.brand] && isFound[r.brand] {
			found[i].score += aboveAll
		}
	}
	return found
}

// named returns the brands whose names contain any of the ZIP codes.
func (x *Index) named(zips []string) map[uint32]bool {
	named := map[uint32]bool{}
	for _, zip := range zips {
		if w, ok := x.number(zip); ok {
			for v := range x.places.at(w).all {
				if p := place(v); p.position() <= maxPosition {
					named[p.brand()] = true
				}
			}
		}
	}
	return named
}

// nearest scores brands by distance, nearest first. Brands without a known place rank last.
func (x *Index) nearest(found []ranked, zips []string) {
	away := make([]float64, x.zips.len())
	for i := range x.zips.len() {
		away[i] = math.Inf(1)
		if km, ok := geo.Nearest(zips, x.zips.at(i)); ok {
			away[i] = km
		}
	}
	for i, r := range found {
		least := math.Inf(1)
		for zip := range x.atZIP.at(r.brand).all {
			least = min(least, away[zip])
		}
		found[i].score = min(r.score*nextScore, 1-1e-4)
		if !math.IsInf(least, 1) {
			found[i].score += 1 + farthest - math.Round(min(least, farthest))
		}
	}
}
