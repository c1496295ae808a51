package serve

import (
	"encoding/json"
	"fmt"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/catalog/served"
)

// demotions are by how much brands are put behind others.
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

// Tell adds to the source of a hit how its endpoints fare: the best of them, since one that works is enough to connect at.
func (s Searchable) Tell(source json.RawMessage) (json.RawMessage, error) {
	var said struct {
		Portals []struct {
			EndpointIDs []string `json:"endpoint_ids"`
		} `json:"portals"`
	}
	if err := json.Unmarshal(source, &said); err != nil {
		return nil, fmt.Errorf("read the source of a hit: %w", err)
	}
	var endpoints []string
	for _, p := range said.Portals {
		endpoints = append(endpoints, p.EndpointIDs...)
	}
	told := fmt.Sprintf(`,"health":{"state":%q}}`, s.Health.Best(endpoints))
	return append(source[:len(source)-1:len(source)-1], told...), nil
}
