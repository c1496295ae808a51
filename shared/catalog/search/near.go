package search

import (
	"math"
)

// What a score is when hits are in order of their distance: whole numbers for the distance in km, and the score within it for what follows the point.
const (
	farthest  = 20_000 // km: no two places are farther from each other
	nextScore = 1.0 / 256
)

// nearest makes scores that put the nearest brand first. A brand of no known place is behind all others.
func (x *Index) nearest(found []ranked, zips []string) {
	away := make([]float64, x.zips.len())
	for i := range away {
		away[i] = math.Inf(1)
		for _, from := range zips {
			if km, ok := distance(zipOf(from), x.zips.at(uint32(i))); ok { //nolint:gosec // an index
				away[i] = min(away[i], km)
			}
		}
	}
	for i, r := range found {
		least := math.Inf(1)
		places := x.atZIP.at(r.brand)
		for n := range uint32(places.len()) { //nolint:gosec // an index
			least = min(least, away[places.at(n)])
		}
		found[i].score = min(r.score*nextScore, 1-1e-4)
		if !math.IsInf(least, 1) {
			found[i].score += 1 + farthest - math.Round(min(least, farthest))
		}
	}
}
