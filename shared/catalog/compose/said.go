package compose

import (
	"slices"
	"strings"

	"recordbridge/shared/catalog"
)

// hostDecisions contains operators' decisions about hosts. Hosts are in the form that catalog.Host returns.
type hostDecisions struct {
	brands    map[string][]string // IDs of the brands that may have servers on a host, keyed by host
	everyone  map[string]bool     // hosts where every brand may have servers
	platforms map[string]string   // by host
	refused   map[string]bool
}

func hostDecisionsOf(overrides []Override) hostDecisions {
	all := hostDecisions{map[string][]string{}, map[string]bool{}, map[string]string{}, map[string]bool{}}
	for _, o := range overrides {
		switch o.Kind {
		case Portal:
			if o.ID == EveryBrand {
				all.everyone[o.Value] = true
			} else {
				all.brands[o.Value] = append(all.brands[o.Value], o.ID)
			}
		case Serves:
			// choosing the maximum makes the result independent of the overrides' order
			all.platforms[o.ID] = max(all.platforms[o.ID], strings.ToLower(o.Value))
		case Refuse:
			all.refused[o.ID] = true
		case Hide, Show, Merge, Alias, Named: // decisions about brands
		}
	}
	return all
}

// isAllowed reports whether an operator has allowed a brand to have servers at a host.
func (c *assessor) isAllowed(g *group, host string) bool {
	return c.decisions.everyone[host] ||
		slices.ContainsFunc(c.decisions.brands[host], func(id string) bool { return c.is(g, id) })
}

// is reports whether an ID refers to a brand. The ID may be the brand's current ID, a possible ID, or the ID of a brand
// merged into it.
func (c *round) is(g *group, id string) bool {
	return id == g.id || c.in.Before.Resolve(id) == g.id || c.brands[id] == g.id || slices.Contains(g.candidates, id)
}

// platformOf returns the platform to use for a server. A platform stated by an untrusted list is used only if its
// profile contains the host, if the server was already published with it, or if an operator has confirmed it. The
// restriction on untrusted lists is necessary because a registration with a platform applies to all of the platform's
// servers.
func (c *surveyor) platformOf(f *facts) string {
	known, before := f.server.known, c.in.Before.Endpoints[f.id]
	wasSo := !before.Gone() && before.FHIRBase == f.server.base && before.PlatformType == f.listedPlatform
	operators, hasSaid := c.decisions.platforms[f.server.origin]
	switch {
	case f.listedPlatform != "" && f.saidBy.list.Trusted, f.listedPlatform == Generic && !hasSaid:
		return f.listedPlatform
	case hasSaid:
		return operators
	case f.listedPlatform != "" && (f.listedPlatform == known || wasSo):
		return f.listedPlatform
	case known != "":
		return known
	}
	f.isDoubted = f.listedPlatform != ""
	return Generic
}

// isOfAnother reports whether an endpoint ID that a list chose for one server belongs to a different server. An ID
// belongs to a different server if it is derived from that server's URL, or was published with a different host.
func (c *surveyor) isOfAnother(id string, s *server) bool {
	if base, isDerived := c.derived[id]; isDerived && base != s.base {
		return true
	}
	before := c.in.Before.Endpoints[id]
	return before.FHIRBase != "" && catalog.Host(before.FHIRBase) != s.origin
}

// isRefused reports whether the row lists any servers and an operator has refused all of their hosts.
func (c *reading) isRefused(r *row) bool {
	hasAny := false
	for _, said := range r.listing.Portals {
		for _, e := range said.Endpoints {
			s := c.server(e.Address)
			if s == nil || !c.decisions.refused[s.origin] {
				return false
			}
			hasAny = true
		}
	}
	return hasAny
}
