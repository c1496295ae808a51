package compose

import (
	"slices"
	"strings"

	"recordbridge/shared/catalog"
)

// said holds what operators have decided of hosts, as catalog.Host writes them.
type said struct {
	brands    map[string][]string // ids of the brands that may have servers at a host
	everyone  map[string]bool     // hosts that every brand may have servers at
	platforms map[string]string   // of servers by host
	refused   map[string]bool
}

func saidOf(overrides []Override) said {
	all := said{map[string][]string{}, map[string]bool{}, map[string]string{}, map[string]bool{}}
	for _, o := range overrides {
		switch o.Kind {
		case Portal:
			if o.ID == EveryBrand {
				all.everyone[o.Value] = true
			} else {
				all.brands[o.Value] = append(all.brands[o.Value], o.ID)
			}
		case Serves:
			all.platforms[o.ID] = max(all.platforms[o.ID], strings.ToLower(o.Value)) // whichever comes first
		case Refuse:
			all.refused[o.ID] = true
		case Hide, Show, Merge, Alias, Named: // of brands
		}
	}
	return all
}

// lets reports whether an operator has let a brand have servers at a host.
func (c *assessor) lets(g *group, host string) bool {
	return c.said.everyone[host] || slices.ContainsFunc(c.said.brands[host], func(id string) bool { return c.is(g, id) })
}

// is reports whether an id is that of a brand, or one that it could have or has taken in.
func (c *round) is(g *group, id string) bool {
	return id == g.id || c.in.Before.Resolve(id) == g.id || c.brands[id] == g.id || slices.Contains(g.candidates, id)
}

// platformOf returns the platform of a server. What lists say of it counts if the platform's profile knows
// the host, if it was published so, or if an operator has said the same: a registration that covers a
// platform covers all its servers.
func (c *surveyor) platformOf(f *facts) string {
	known, before := f.server.known, c.in.Before.Endpoints[f.id]
	wasSo := !before.Gone() && before.FHIRBase == f.server.base && before.PlatformType == f.said
	operators, hasSaid := c.said.platforms[f.server.origin]
	switch {
	case f.said != "" && f.saidBy.list.Trusted, f.said == Generic && !hasSaid:
		return f.said
	case hasSaid:
		return operators
	case f.said != "" && (f.said == known || wasSo):
		return f.said
	case known != "":
		return known
	}
	f.isDoubted = f.said != ""
	return Generic
}

// isOfAnother reports whether an id that a list chooses for a server's endpoint is another server's: by its address, or
// because it was published with another host.
func (c *surveyor) isOfAnother(id string, s *server) bool {
	if base, isDerived := c.derived[id]; isDerived && base != s.base {
		return true
	}
	before := c.in.Before.Endpoints[id]
	return before.FHIRBase != "" && catalog.Host(before.FHIRBase) != s.origin
}

// isRefused reports whether a row has servers, all of them at hosts that an operator has refused.
func (c *reading) isRefused(r *row) bool {
	hasAny := false
	for _, said := range r.listing.Portals {
		for _, e := range said.Endpoints {
			s := c.server(e.Address)
			if s == nil || !c.said.refused[s.origin] {
				return false
			}
			hasAny = true
		}
	}
	return hasAny
}
