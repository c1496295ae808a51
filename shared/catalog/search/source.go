package search

import (
	"slices"
	"time"

	"recordbridge/shared/catalog/record"
)

// Entry is a brand with the records needed to index it.
type Entry struct {
	Brand     record.Brand
	Portals   []record.Portal // portals listed in Brand.PortalIDs
	Platforms []string        // platform types of the portals' endpoints, besides the brand's own
}

// Entries returns a catalogue's searchable brands. Hidden and removed brands are not searchable.
func Entries(c record.Catalog) []Entry {
	entries := make([]Entry, 0, len(c.Brands))
	for _, b := range c.Brands {
		if b.Hidden || b.RemovedAt != nil {
			continue
		}
		e := Entry{Brand: b, Portals: nil, Platforms: nil}
		for _, id := range b.PortalIDs {
			p, ok := c.Portals[id]
			if !ok || p.RemovedAt != nil {
				continue
			}
			e.Portals = append(e.Portals, p)
			for _, endpoint := range p.EndpointIDs {
				if platform := c.Endpoints[endpoint].PlatformType; platform != "" && !slices.Contains(e.Platforms, platform) {
					e.Platforms = append(e.Platforms, platform)
				}
			}
		}
		slices.Sort(e.Platforms)
		entries = append(entries, e)
	}
	return entries
}

// Source is the JSON form of a brand in a search response (docs/openapi.yaml). The server adds the brand's health to
// each Source.
type Source struct {
	ID               string            `json:"id"`
	LastUpdated      time.Time         `json:"last_updated"`
	Name             string            `json:"name"`
	BrandWebsite     string            `json:"brand_website"`
	LogoURI          string            `json:"logo_uri"`
	Aliases          []string          `json:"aliases"`
	Description      string            `json:"description"`
	Locations        []record.Location `json:"locations"`
	PortalIDs        []string          `json:"portal_ids"`
	Portals          []record.Portal   `json:"portals"`
	BrandIDs         []string          `json:"brand_ids"`
	SortName         string            `json:"sort_name"`
	Hidden           bool              `json:"hidden"`
	PlatformType     string            `json:"platform_type"`
	UnconfirmedSince *time.Time        `json:"unconfirmed_since,omitempty"`
}

func sourceOf(e Entry) Source {
	b := e.Brand
	return Source{
		ID: b.ID, LastUpdated: b.LastUpdated, Name: b.Name, BrandWebsite: b.BrandWebsite, LogoURI: b.LogoURI,
		Aliases: list(b.Aliases), Description: b.Description, Locations: list(b.Locations), PortalIDs: list(b.PortalIDs),
		Portals: list(e.Portals), BrandIDs: list(b.BrandIDs), SortName: b.SortName, Hidden: b.Hidden,
		PlatformType:     b.PlatformType,
		UnconfirmedSince: b.UnconfirmedSince,
	}
}

// list makes JSON encode an empty list as [], never null.
func list[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}
