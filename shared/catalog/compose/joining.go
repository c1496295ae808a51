package compose

import (
	"maps"
	"slices"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/record"
)

// unit is a brand or portal and the servers that lists assign to it.
type unit struct {
	group     *group // the brand; for a portal, the brand of its highest-ranked row with a server
	isBrand   bool   // whether the unit is a brand rather than a portal
	isSettled bool   // whether the highest-ranked rows match the published unit
	rows      []*row
	claims    []serverClaim
	isNew     bool            // whether the unit has no published hosts
	before    map[string]bool // hosts with which the unit was published
}

// serverClaim records that a list's row assigns a server to a unit (a brand or a portal).
type serverClaim struct {
	row    *row
	own    *group // row's group
	server *server
}

// doubt is a claim that needs an operator's decision.
type doubt struct {
	serverClaim

	unit  *unit
	why   Why
	isNew bool // whether the server is not yet published for patients
}

type assessor struct{ *round }

// doubts returns the brands' and portals' claims that require an operator's decision. A portal may have rows from
// several brands.
func (c *assessor) doubts(groups []*group, servers map[string]*facts) []doubt {
	var all []doubt
	reached := c.reachedBefore()
	portals := map[string]*unit{}
	for _, g := range groups {
		all = append(all, c.judge(c.unitOf(g, servers, portals), reached)...)
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

// unitOf returns the unit of a brand, including the claims of its rows. It also adds these claims to the units of the
// portals that the rows refer to.
func (c *assessor) unitOf(g *group, servers map[string]*facts, portals map[string]*unit) *unit {
	was, isUsable := c.in.Before.Brands[g.id], g.isUsable(servers)
	brand := &unit{group: g, isBrand: true, isSettled: was.Name == g.name(), rows: g.rows}
	brand.before, brand.isNew = c.hostsBefore(g)
	for _, r := range g.rows {
		for _, p := range r.portals {
			claims := claimsOf(g, r, p, servers, isUsable)
			brand.claims = append(brand.claims, claims...)
			bases := make([]string, 0, len(claims))
			for _, claim := range claims {
				bases = append(bases, claim.server.base)
			}
			id := c.portalID(p, sorted(bases), servers)
			if id == "" || len(claims) == 0 && !c.mayAdd(g, r, id) {
				continue // the row can't add a portal that has no servers
			}
			of := portals[id]
			if of == nil {
				of = &unit{before: c.hostsOfPortal(id)}
				of.isNew = len(of.before) == 0
				portals[id] = of
			}
			if best, isBest := of.best(); !isBest || r.list.Priority > best {
				of.isSettled = slices.Contains(was.PortalIDs, id)
			}
			of.rows, of.claims = append(of.rows, r), append(of.claims, claims...)
		}
	}
	return brand
}

// claimsOf returns one claim for each of the portal's servers that becomes an endpoint.
func claimsOf(g *group, r *row, p *portal, servers map[string]*facts, isUsable bool) []serverClaim {
	var claims []serverClaim
	for _, e := range p.endpoints {
		if servers[e.server.base].isKept(isUsable) {
			claims = append(claims, serverClaim{r, g, e.server})
		}
	}
	return claims
}

// judge returns the unit's claims that require an operator's decision. A host requires no new decision in any of these
// cases:
//
//   - an operator, or a list with an operator's authority, has already assigned the host to the unit;
//   - a platform's profile contains the host, and either the unit was published with the host or a highest-ranked
//     source
//     lists it;
//   - the unit was published with the host, and the highest-ranked sources still list the unit at a published host;
//   - the unit has no published hosts, and all of its highest-ranked sources list the host.
func (c *assessor) judge(u *unit, reached map[string]bool) []doubt {
	best, isBest := u.best()
	if !isBest {
		return nil // the unit is listed only by operators
	}
	byHost := map[string][]serverClaim{}
	leading := map[string]bool{} // highest-ranked sources that list any server
	settled := false
	for _, claim := range u.claims {
		host := claim.server.origin
		byHost[host] = append(byHost[host], claim)
		if claim.row.list.Priority == best && !claim.row.list.Trusted {
			leading[claim.row.list.Source] = true
			settled = settled || u.before[host]
		}
	}
	settled = settled || len(leading) == 0 && u.isSettled
	var all []doubt
	for _, host := range sortedKeys(byHost) {
		claims := byHost[host]
		why, isDoubted := c.doubtful(u, host, claims, leading, settled, reached)
		for _, claim := range claims {
			if isDoubted {
				all = append(all, doubt{claim, u, why, !reached[claim.server.base]})
			}
		}
	}
	return all
}

// doubtful reports whether an operator must decide if a host belongs to a unit, and why.
func (c *assessor) doubtful(u *unit, host string, claims []serverClaim, leading map[string]bool, settled bool,
	reached map[string]bool,
) (Why, bool) {
	best, _ := u.best()
	has := func(is func(serverClaim) bool) bool { return slices.ContainsFunc(claims, is) }
	isKnown := !has(func(s serverClaim) bool { return s.server.known == "" })
	by := map[string]bool{} // highest-ranked sources that list the host
	for _, claim := range claims {
		if leading[claim.row.list.Source] && claim.row.list.Priority == best {
			by[claim.row.list.Source] = true
		}
	}
	isNew, isPublished := u.isNew, u.before[host]
	switch {
	case c.isAllowed(u.group, host), has(func(s serverClaim) bool { return s.row.list.Trusted }):
		return "", false
	case len(by) > 0 && isKnown, isPublished && (settled || isKnown), isNew && len(by) > 0 && len(by) == len(leading):
		return "", false
	case isPublished, !has(func(s serverClaim) bool { return !reached[s.server.base] }):
		return Apart, true
	case len(by) == 0:
		return LowerPriority, true
	case isNew:
		return Rivals, true
	}
	return NewHost, true
}

// best returns the highest priority among a unit's sources, ignoring operators' lists. ok is false if the unit has no
// other sources.
func (u *unit) best() (priority int, ok bool) {
	for _, r := range u.rows {
		if !r.list.Trusted {
			priority, ok = max(priority, r.list.Priority), true
		}
	}
	return priority, ok
}

// wait withholds the server in a claim until an operator decides. Published brands that the claim's rows could describe
// remain unchanged. Brands that already have the server keep their IDs.
func (c *assessor) wait(d doubt) {
	read := d.row
	if read.read != nil {
		read = read.read
	}
	if c.withheld.rows[read] == nil {
		c.withheld.rows[read] = map[string]bool{}
	}
	if c.withheld.rows[read][d.server.base] {
		return // already reported for the claim's brand or portal
	}
	c.withheld.rows[read][d.server.base] = true
	for _, g := range []*group{d.unit.group, d.own} {
		for _, id := range append([]string{g.id}, g.candidates...) {
			id = c.in.Before.Resolve(id)
			if b, isKnown := c.in.Before.Brands[id]; isKnown && !b.Gone() {
				c.withheld.brands[id] = true
				if d.unit.isBrand && !d.isNew && c.hostsOf(b)[d.server.origin] {
					c.withheld.reservedIDs[id] = true
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
	c.withheld.waits = append(c.withheld.waits, Wait{
		Host: d.server.origin, Why: d.why, Source: d.row.list.Source, Listing: d.row.name.Display, BrandID: d.unit.group.id,
		Brand:   d.unit.group.name(),
		Present: slices.Sorted(maps.Keys(present)), IsKnown: d.server.known != "",
	})
}

// mayAdd reports whether a row may add a portal that has no servers to a brand.
func (c *round) mayAdd(g *group, r *row, portal string) bool {
	best, isBest := (&unit{rows: g.rows}).best()
	return !isBest || r.list.Trusted || r.list.Priority == best ||
		slices.Contains(c.in.Before.Brands[g.id].PortalIDs, portal)
}

// hostsBefore returns the hosts on which a brand was published, including those of brands that an operator merged into
// it. If several published brands have become one, a host that not all of them had is included only if a highest-ranked
// source lists it (ADR 41). Without this rule, a list could publish a brand both at its own host and at a hospital's,
// and then join that brand with the hospital.
func (c *assessor) hostsBefore(g *group) (before map[string]bool, isNew bool) {
	hosts := c.hostsOf(c.in.Before.Brands[g.id])
	for _, o := range c.in.Overrides {
		if o.Kind == Merge && c.is(g, o.Value) {
			maps.Copy(hosts, c.hostsOf(c.in.Before.Brands[o.ID]))
		}
	}
	isNew = len(hosts) == 0
	best, _ := (&unit{rows: g.rows}).best()
	for _, id := range g.own {
		b := c.in.Before.Brands[id]
		if id == g.id || b.Gone() || !c.isBackedByBestSource(g, b) || c.isMergedByHand(g, id) {
			continue
		}
		had := c.hostsOf(b)
		maps.DeleteFunc(hosts, func(host string, _ bool) bool { return !had[host] && !g.isAt(host, best) })
	}
	return hosts, isNew
}

func (c *assessor) isMergedByHand(g *group, id string) bool {
	return slices.ContainsFunc(c.in.Overrides,
		func(o Override) bool { return o.Kind == Merge && o.ID == id && c.is(g, o.Value) })
}

// isAt reports whether a source with at least the given priority lists the brand on a host.
func (g *group) isAt(host string, priority int) bool {
	return slices.ContainsFunc(g.rows, func(r *row) bool {
		return r.list.Priority >= priority && slices.ContainsFunc(r.servers, func(s *server) bool { return s.origin == host })
	})
}

// hostsOf returns the hosts of a published brand's servers. It includes a removed brand's hosts, because the brand's ID
// may be reused only on these hosts.
func (c *round) hostsOf(b record.Brand) map[string]bool {
	hosts := map[string]bool{}
	for _, portal := range b.PortalIDs {
		maps.Copy(hosts, c.hostsOfPortal(portal))
	}
	return hosts
}

func (c *round) hostsOfPortal(id string) map[string]bool {
	hosts := map[string]bool{}
	for _, endpoint := range c.in.Before.Portals[id].EndpointIDs {
		hosts[catalog.Host(c.in.Before.Endpoints[endpoint].FHIRBase)] = true
	}
	return hosts
}

// reachedBefore returns the base URLs of the FHIR servers that patients can reach through published brands.
func (c *assessor) reachedBefore() map[string]bool {
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

// showHosts adds hosts to a portal if its brand has several portals or the same name as another brand. Patients can
// then distinguish portals by the server's host, which a list can't forge.
func (m *draft) showHosts() {
	shown, named := map[string]bool{}, map[string]int{}
	for _, b := range m.Brands {
		if !b.Gone() && !b.Hidden {
			named[b.SortName]++
		}
	}
	for _, b := range m.Brands {
		live := slices.DeleteFunc(slices.Clone(b.PortalIDs), func(id string) bool { return m.Portals[id].Gone() })
		for _, id := range live {
			shown[id] = shown[id] || (len(live) > 1 || named[b.SortName] > 1) && !b.Gone()
		}
	}
	for id, p := range m.Portals {
		p.Hosts = nil
		for _, endpoint := range p.EndpointIDs {
			if shown[id] {
				p.Hosts = append(p.Hosts, catalog.Host(m.Endpoints[endpoint].FHIRBase))
			}
		}
		slices.Sort(p.Hosts)
		p.Hosts = slices.Compact(p.Hosts)
		m.Portals[id] = p
	}
}
