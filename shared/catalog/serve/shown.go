package serve

import (
	"encoding/json"
	"fmt"
	"math"

	"recordbridge/shared/catalog/geo"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/words/weburl"
)

// shown is a hit's source as it is sent to a client. The embedded Source comes from the index.
type shown struct {
	search.Source

	DistanceKM *float64 `json:"distance_km,omitempty"`
	MostUsed   bool     `json:"most_used,omitempty"`
	Health     struct {
		State string `json:"state"`
	} `json:"health"`
}

// Shown returns a hit's source as it appears in a response. It adds the health of the brand's healthiest endpoint,
// because one working endpoint is enough to connect. If any of the person's ZIP codes is known, Shown also adds the
// distance and lists the nearest location first. Websites and logos that point to this service are removed.
func (s Searchable) Shown(own weburl.Own, hit search.Hit, zips []string) (json.RawMessage, error) {
	var said shown
	if err := json.Unmarshal(hit.Source, &said.Source); err != nil {
		return nil, fmt.Errorf("read the source of a hit: %w", err)
	}
	show(own, &said.BrandWebsite, &said.LogoURI)
	var endpoints []string
	for i := range said.Portals {
		p := &said.Portals[i]
		endpoints = append(endpoints, p.EndpointIDs...)
		show(own, &p.PortalWebsite, &p.LogoURI)
	}
	said.Health.State = string(s.Health.Best(endpoints))
	said.DistanceKM = nearestFirst(said.Locations, zips)
	said.MostUsed = hit.IsFirst
	source, err := json.Marshal(said)
	if err != nil {
		return nil, fmt.Errorf("write the source of a hit: %w", err)
	}
	return source, nil
}

// nearestFirst moves the location nearest to any of the ZIP codes to the front. It returns the distance, or nil if it
// is unknown.
func nearestFirst(locations []record.Location, zips []string) *float64 {
	nearest, least := -1, 0.0
	for i, l := range locations {
		if km, ok := geo.Nearest(zips, l.PostalCode); ok && (nearest < 0 || km < least) {
			nearest, least = i, km
		}
	}
	if nearest < 0 {
		return nil
	}
	first := locations[nearest]
	copy(locations[1:nearest+1], locations[:nearest])
	locations[0] = first
	least = rounded(least)
	return &least
}

// rounded rounds a distance according to its accuracy: to a multiple of 5 km from 10 km, and of 10 km from 100 km.
// Shorter distances are assumptions (geo.Distance), rounded only to whole kilometres.
func rounded(km float64) float64 {
	step := 10.0
	switch {
	case km < 10:
		step = 1
	case km < 100:
		step = 5
	}
	return math.Round(km/step) * step
}
