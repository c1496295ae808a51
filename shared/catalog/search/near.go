package search

import (
	"math"

	"recordbridge/shared/catalog/geo"
)

// What a score is when hits are in order of their distance: whole numbers for the distance in km, and the score within
// it for what follows the point.
const (
	farthest  = 20_000 // km: no two places are farther from each other
	nextScore = 1.0 / 256
)

// nearest makes scores that put the nearest brand first. A brand of no known place is behind all others.
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
