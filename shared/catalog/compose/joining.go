package compose

import (
	"maps"
	"slices"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/record"
)

// unit is a brand or a portal with the servers that lists give it.
type unit struct {
	group  *group          // the brand; of a portal that of its best row
	rows   []*row          // that it is made of, the best first
	claims []serverClaim   // what they say
	before map[string]bool // hosts that it was published with; none of a new one
}

// serverClaim is a row's statement that a server is of a unit.
type serverClaim struct {
	row    *row
	own    *group // of the row
	server *server
}

// doubt is a claim that needs an operator's word.
type doubt struct {
	serverClaim

	unit  *unit
	why   Why
	isNew bool // patients do not reach the server yet
}

// doubts lists the claims that need an operator's word: of brands, and of portals, which rows of several brands can name.
func (c *composer) doubts(groups []*group, servers map[string]*facts) []doubt {
	var all []doubt
	reached := c.reachedBefore()
	portals := map[string]*unit{}
	for _, g := range groups {
		brand := &unit{group: g, rows: g.rows, before: c.hostsBefore(g)}
		isUsable := g.isUsable(servers)
		for _, r := range g.rows {
			for _, p := range r.portals {
				var bases []string
				var claims []serverClaim
				for _, e := range p.endpoints {
					if servers[e.server.base].isKept(isUsable) {
						bases, claims = append(bases, e.server.base), append(claims, serverClaim{r, g, e.server})
					}
				}
				brand.claims = append(brand.claims, claims...)
				if id := c.portalID(p, sorted(bases), servers); id != "" {
					if portals[id] == nil {
						portals[id] = &unit{before: c.hostsOfPortal(id)}
					}
					portals[id].rows, portals[id].claims = append(portals[id].rows, r), append(portals[id].claims, claims...)
				}
			}
		}
		all = append(all, c.judge(brand, reached)...)
	}
	for _, id := range sortedKeys(portals) {
		p := portals[id]
		slices.SortFunc(p.claims, func(a, b serverClaim) int { return a.row.order - b.row.order })
		if len(p.claims) > 0 {
			p.group = p.claims[0].own
			all = append(all, c.judge(p, reached)...)
		}
	}
	return all
}

// judge finds the claims of a unit that need an operator's word. A host may be of it
//
//   - if an operator has said so;
//   - if a platform's profile knows it and a row of the best sources names it;
//   - if it was published with it, and the best sources still have it at a host that was;
//   - if it was not published yet, and all of the best sources name it.
func (c *composer) judge(u *unit, reached map[string]bool) []doubt {
	best, isBest := u.best()
	if !isBest {
		return nil // made by operators alone
	}
	byHost := map[string][]serverClaim{}
	sources, settled, hasBest := map[string]bool{}, false, false
	for _, claim := range u.claims {
		host := claim.server.origin
		byHost[host] = append(byHost[host], claim)
		if claim.row.list.Priority == best && !claim.row.list.Trusted {
			sources[claim.row.list.Source], hasBest = true, true
			settled = settled || u.before[host]
		}
	}
	settled = settled || !hasBest
	var all []doubt
	for _, host := range sortedKeys(byHost) {
		claims := byHost[host]
		isKnown := !slices.ContainsFunc(claims, func(s serverClaim) bool { return !c.isKnown(s.server) })
		by := map[string]bool{} // best sources that name it
		for _, claim := range claims {
			if sources[claim.row.list.Source] && claim.row.list.Priority == best {
				by[claim.row.list.Source] = true
			}
		}
		why := NewHost
		switch isPublished := u.before[host]; {
		case c.lets(u.group, host), slices.ContainsFunc(claims, func(s serverClaim) bool { return s.row.list.Trusted }), len(by) > 0 && isKnown, isPublished && (settled || isKnown):
			continue
		case len(u.before) == 0 && len(by) > 0 && len(by) == len(sources):
			continue
		case isPublished, !slices.ContainsFunc(claims, func(s serverClaim) bool { return !reached[s.server.base] }):
			why = Apart
		case len(by) == 0:
			why = LowerPriority
		case len(u.before) == 0:
			why = Rivals
		}
		for _, claim := range claims {
			all = append(all, doubt{claim, u, why, !reached[claim.server.base]})
		}
	}
	return all
}

// best returns the greatest priority of the sources of a unit; ok is false if it is made by operators alone.
func (u *unit) best() (priority int, ok bool) {
	for _, r := range u.rows {
		if !r.list.Trusted {
			priority, ok = max(priority, r.list.Priority), true
		}
	}
	return priority, ok
}

func (c *composer) isKnown(s *server) bool {
	return c.in.Platform != nil && c.in.Platform(s.base) != ""
}

// wait sets a claim aside. Published brands of its rows stay as they were, and such as have the server stay themselves.
func (c *composer) wait(d doubt) {
	read := d.row
	if read.read != nil {
		read = read.read
	}
	if c.aside.rows[read] == nil {
		c.aside.rows[read] = map[string]bool{}
	}
	if c.aside.rows[read][d.server.base] {
		return // of a brand and of its portal
	}
	c.aside.rows[read][d.server.base] = true
	for _, g := range []*group{d.unit.group, d.own} {
		for _, id := range append([]string{g.id}, g.candidates...) {
			id = c.in.Before.Resolve(id)
			if b, isKnown := c.in.Before.Brands[id]; isKnown && !b.Gone() {
				c.aside.brands[id] = true
				if !d.isNew && c.hostsOf(b)[d.server.origin] {
					c.aside.apart[id] = true
				}
			}
		}
	}
	present := d.unit.before
	if len(present) == 0 {
		present = map[string]bool{}
		for _, claim := range d.unit.claims {
			present[claim.server.origin] = true
		}
		delete(present, d.server.origin)
	}
	c.aside.waits = append(c.aside.waits, Wait{
		Host: d.server.origin, Why: d.why, Source: d.row.list.Source, Listing: d.row.name.Display, BrandID: d.unit.group.id, Brand: d.unit.group.name(),
		Present: slices.Sorted(maps.Keys(present)), IsKnown: c.isKnown(d.server),
	})
}

// mayAdd reports whether a row may add a portal without servers to a brand.
func (c *composer) mayAdd(g *group, r *row, portal string) bool {
	best, isBest := (&unit{rows: g.rows}).best()
	return !isBest || r.list.Trusted || r.list.Priority == best || slices.Contains(c.in.Before.Brands[g.id].PortalIDs, portal)
}

// hostsBefore are those that a brand was published with, and those of brands that an operator has merged into it.
func (c *composer) hostsBefore(g *group) map[string]bool {
	hosts := c.hostsOf(c.in.Before.Brands[g.id])
	for _, o := range c.in.Overrides {
		if o.Kind == Merge && c.is(g, o.Value) {
			maps.Copy(hosts, c.hostsOf(c.in.Before.Brands[o.ID]))
		}
	}
	return hosts
}

// hostsOf are the hosts of the servers that a published brand leads to, or has led to if it is gone: its id comes back with no others.
func (c *composer) hostsOf(b record.Brand) map[string]bool {
	hosts := map[string]bool{}
	for _, portal := range b.PortalIDs {
		maps.Copy(hosts, c.hostsOfPortal(portal))
	}
	return hosts
}

func (c *composer) hostsOfPortal(id string) map[string]bool {
	hosts := map[string]bool{}
	for _, endpoint := range c.in.Before.Portals[id].EndpointIDs {
		hosts[catalog.Host(c.in.Before.Endpoints[endpoint].FHIRBase)] = true
	}
	return hosts
}

// reachedBefore are the FHIR bases that patients of published brands reach.
func (c *composer) reachedBefore() map[string]bool {
	bases := map[string]bool{}
	for _, b := range c.in.Before.Brands {
		for _, portal := range b.PortalIDs {
			for _, endpoint := range c.in.Before.Portals[portal].EndpointIDs {
				if e := c.in.Before.Endpoints[endpoint]; !b.Gone() && !c.in.Before.Portals[portal].Gone() && !e.Gone() {
					bases[e.FHIRBase] = true
				}
			}
		}
	}
	return bases
}

// showHosts notes the hosts of the portals of brands that have several, so that patients can tell them apart by what no list can make up: where a
// server is.
func (c *composer) showHosts(made *making) {
	shown := map[string]bool{}
	for _, b := range made.Brands {
		live := slices.DeleteFunc(slices.Clone(b.PortalIDs), func(id string) bool { return made.Portals[id].Gone() })
		for _, id := range live {
			shown[id] = shown[id] || len(live) > 1 && !b.Gone()
		}
	}
	for id, p := range made.Portals {
		p.Hosts = nil
		for _, endpoint := range p.EndpointIDs {
			if shown[id] {
				p.Hosts = append(p.Hosts, catalog.Host(made.Endpoints[endpoint].FHIRBase))
			}
		}
		slices.Sort(p.Hosts)
		p.Hosts = slices.Compact(p.Hosts)
		made.Portals[id] = p
	}
}
