package search

import (
	"math"

	"recordbridge/shared/catalog/geo"
)

// Scores if hits are ordered by distance: the integer part is derived from the distance in kilometres, and the fraction
// from the original score.
const (
	farthest  = 20_000 // in kilometres; exceeds all distances
	nextScore = 1.0 / 256
)

// nearest replaces scores so that the nearest brand ranks first. Brands without a known place rank last.
func (x *Index) nearest(found []ranked, zips []string) {
	away := make([]float64, x.zips.len())
	for i := range x.zips.len() {
		away[i] = math.Inf(1)
		for _, from := range zips {
			if km, ok := geo.Distance(from, x.zips.at(i)); ok {
				away[i] = min(away[i], km)
			}
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
