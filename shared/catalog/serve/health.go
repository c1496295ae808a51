package serve

import (
	"encoding/json"
	"fmt"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/catalog/served"
	"recordbridge/shared/words/weburl"
)

// demotions returns a function that returns a brand's demotion.
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

// AddHealth adds a brand's health to a hit's source. It is that of the brand's healthiest endpoint, since one working
// endpoint is enough to connect. Websites and logos that point to this service are removed.
func (s Searchable) AddHealth(own weburl.Own, source json.RawMessage) (json.RawMessage, error) {
	var said search.Source
	if err := json.Unmarshal(source, &said); err != nil {
		return nil, fmt.Errorf("read the source of a hit: %w", err)
	}
	var endpoints []string
	isChanged := show(own, &said.BrandWebsite, &said.LogoURI)
	for i := range said.Portals {
		p := &said.Portals[i]
		endpoints = append(endpoints, p.EndpointIDs...)
		isChanged = show(own, &p.PortalWebsite, &p.LogoURI) || isChanged
	}
	if isChanged {
		var err error
		if source, err = json.Marshal(said); err != nil {
			return nil, fmt.Errorf("write the source of a hit: %w", err)
		}
	}
	told := fmt.Sprintf(`,"health":{"state":%q}}`, s.Health.Best(endpoints))
	return append(source[:len(source)-1:len(source)-1], told...), nil
}

// show replaces URLs with their display form and reports whether any changed.
func show(own weburl.Own, urls ...*string) (isChanged bool) {
	for _, text := range urls {
		shown := own.Shown(*text)
		isChanged = isChanged || shown != *text
		*text = shown
	}
	return isChanged
}
