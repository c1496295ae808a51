package serve

import (
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/catalog/served"
	"recordbridge/shared/words/weburl"
)

func demotions(brands served.Map, summary health.Summary) func(brandID string) search.Demotion {
	demoted := map[string]search.Demotion{}
	for brand, endpoints := range brands.All() {
		switch summary.Best(endpoints) {
		case health.Down:
			demoted[brand] = search.Down
		case health.Degraded:
			demoted[brand] = search.Degraded
		case health.OK, health.Unknown:
		}
	}
	return func(brandID string) search.Demotion { return demoted[brandID] }
}

// show applies weburl.Own.Shown to each URL.
func show(own weburl.Own, urls ...*string) {
	for _, text := range urls {
		*text = own.Shown(*text)
	}
}
