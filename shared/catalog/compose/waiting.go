package compose

import (
	"cmp"
	"maps"
	"slices"

	"recordbridge/shared/words/ids"
)

// Wait is a listed server that awaits an operator's approval (docs/adr/0041-joining-a-hospital.md). Until an operator
// approves the server, either the catalogue omits it or its platform is not trusted.
type Wait struct {
	Host     string
	Why      Why
	Source   string // ID of the listing's source
	Listing  string // name of the listing
	BrandID  string // brand that would contain the server; empty for OfPlatform
	Brand    string
	Present  []string // brand's current hosts
	Platform string   // platform stated by the source, if Why is OfPlatform
	IsKnown  bool     // whether a platform's profile contains the host
}

// Why is a reason for which a server awaits approval.
type Why string

// Reasons why a server awaits approval.
const (
	NewHost       Why = "new_host"       // the brand was published without the host, which no platform profile contains
	LowerPriority Why = "lower_priority" // none of the brand's highest-ranked sources lists the host
	// sources of equal priority list the unpublished brand on different hosts
	Rivals     Why = "rivals"
	Apart      Why = "apart"    // the server's published brand would be merged into a higher-ranked source's brand
	OfPlatform Why = "platform" // the source states a platform whose profile doesn't contain the host
)

// withheld contains the servers excluded from the catalogue until an operator allows their hosts.
type withheld struct {
	listings    int                      // number of listings read
	rows        map[*row]map[string]bool // base URLs of withheld servers, by original row
	brands      map[string]bool          // IDs of published brands to carry over unchanged unless a group gets the ID
	reservedIDs map[string]bool          // IDs of published brands that can't be given to another brand
	waits       []Wait
}

func newWithheld(listings int) *withheld {
	return &withheld{
		listings: listings, rows: map[*row]map[string]bool{}, brands: map[string]bool{}, reservedIDs: map[string]bool{},
	}
}

// remaining returns rows without their withheld servers. It omits rows whose servers are all withheld.
func (a *withheld) remaining(rows []*row) []*row {
	left := make([]*row, 0, len(rows))
	for _, r := range rows {
		if r = a.withoutWithheld(r); r != nil {
			left = append(left, r)
		}
	}
	return left
}

// withoutWithheld returns a row without its withheld servers, or nil if no servers remain.
func (a *withheld) withoutWithheld(r *row) *row {
	out := a.rows[r]
	if len(out) == 0 {
		return r
	}
	left := *r
	left.read, left.portals, left.servers = r, nil, nil
	for _, p := range r.portals {
		kept := *p
		kept.endpoints = slices.DeleteFunc(slices.Clone(p.endpoints), func(e endpoint) bool { return out[e.server.base] })
		for _, e := range kept.endpoints {
			left.servers = append(left.servers, e.server)
		}
		if len(kept.endpoints) > 0 || len(p.endpoints) == 0 {
			left.portals = append(left.portals, &kept)
		}
	}
	if len(left.servers) == 0 {
		return nil
	}
	return &left
}

// inheritApart finds the only group that has all published portals of a brand whose ID is reserved, even without the
// group's withheld servers. If this group keeps the brand's ID, nothing changes for patients. If the group got a new
// ID, each composition would retain the old brand and also publish a new one.
func (c *identifier) inheritApart(groups []*group, servers map[string]*facts) {
	c.heirs = map[string]*group{}
	if len(c.withheld.reservedIDs) == 0 {
		return
	}
	several := map[string]bool{}
	for _, g := range groups {
		var has map[string]bool
		for _, id := range c.couldBe(g) {
			if !c.withheld.reservedIDs[id] || c.heirs[id] == g {
				continue
			}
			if has == nil {
				has = c.portalsOf(g, servers)
			}
			portals := c.in.Before.Brands[id].PortalIDs
			if len(portals) == 0 || slices.ContainsFunc(portals, func(portal string) bool { return !has[portal] }) {
				continue
			}
			several[id] = several[id] || c.heirs[id] != nil
			c.heirs[id] = g
		}
	}
	maps.DeleteFunc(c.heirs, func(id string, _ *group) bool { return several[id] })
}

// portalsOf returns the IDs of the portals that a group would publish.
func (c *identifier) portalsOf(g *group, servers map[string]*facts) map[string]bool {
	all, isUsable := map[string]bool{}, g.isUsable(servers)
	for _, r := range g.rows {
		for _, p := range r.portals {
			claims := claimsOf(g, r, p, servers, isUsable)
			bases := make([]string, 0, len(claims))
			for _, claim := range claims {
				bases = append(bases, claim.server.base)
			}
			if id := c.portalID(p, sorted(bases), servers); id != "" && (len(bases) > 0 || c.mayAdd(g, r, id)) {
				all[id] = true
			}
		}
	}
	return all
}

// couldBe returns the IDs of brands that a group may represent, based on its attributes or on the IDs chosen by its
// rows.
func (c *identifier) couldBe(g *group) []string {
	all := make([]string, 0, len(g.candidates)+len(g.rows))
	for _, id := range g.candidates {
		all = append(all, c.in.Before.Resolve(id))
	}
	for _, r := range g.rows {
		if id, ok := ids.ParseUUID(r.listing.ID); ok {
			all = append(all, id)
		}
	}
	return sorted(all)
}

// setAside withholds servers that require an operator's decision. It reports whether there were any; if so, the caller
// composes the catalogue again without them. Servers that were never published are withheld first. If published servers
// belong to a brand that would be merged into another, they are withheld only if there are no other servers to
// withhold, starting with the lowest priority. A new row therefore never affects a published brand.
func (c *assessor) setAside(groups []*group, servers map[string]*facts) bool {
	doubts := c.doubts(groups, servers)
	if len(doubts) == 0 {
		return false
	}
	isNew := slices.ContainsFunc(doubts, func(d doubt) bool { return d.isNew })
	least := slices.MinFunc(doubts,
		func(a, b doubt) int { return cmp.Compare(a.row.list.Priority, b.row.list.Priority) }).row.list.Priority
	for _, d := range doubts {
		if d.isNew || !isNew && d.row.list.Priority == least {
			c.wait(d)
		}
	}
	return true
}

// waiting lists the servers that await approval. The order of its result doesn't depend on the order of the lists.
func (a *withheld) waiting(doubted []Wait) []Wait {
	all := slices.Concat(a.waits, doubted)
	slices.SortFunc(all, func(a, b Wait) int {
		return cmp.Or(
			cmp.Compare(a.Host, b.Host), cmp.Compare(a.BrandID, b.BrandID), cmp.Compare(a.Why, b.Why),
			cmp.Compare(a.Source, b.Source), cmp.Compare(a.Listing, b.Listing),
		)
	})
	return all
}

// doubt records a server whose platform is not trusted.
func (c *builder) doubt(f *facts) {
	if f.isDoubted {
		c.doubted = append(c.doubted, Wait{
			Host: f.server.origin, Why: OfPlatform, Source: f.saidBy.list.Source, Listing: f.saidBy.name.Display,
			Platform: f.listedPlatform, Present: []string{},
		})
	}
}

// hasSetAside reports whether any listed servers were set aside.
func (r Report) hasSetAside() bool {
	return slices.ContainsFunc(r.Waiting, func(w Wait) bool { return w.Why != OfPlatform })
}
