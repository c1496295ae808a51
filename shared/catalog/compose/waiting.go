package compose

import (
	"cmp"
	"maps"
	"slices"

	"recordbridge/shared/words/ids"
)

// Wait is a server that lists have and the catalogue has not, or whose platform is not believed, until an operator lets
// it (docs/adr/0041-joining-a-hospital.md).
type Wait struct {
	Host     string
	Why      Why
	Source   string   // of the listing
	Listing  string   // its name
	BrandID  string   // that it would be reached under; empty for OfPlatform
	Brand    string   // its name
	Present  []string // hosts that the brand has
	Platform string   // that the source says, for OfPlatform
	IsKnown  bool     // a platform's profile knows the host
}

// Why is the reason for which a server waits.
type Why string

// The reasons.
const (
	NewHost       Why = "new_host"       // the brand was published without it, and no platform's profile knows it
	LowerPriority Why = "lower_priority" // the brand is a better source's
	// sources of one priority have the brand at different hosts, and it was not published yet
	Rivals     Why = "rivals"
	Apart      Why = "apart"    // it was published of a brand that would become one with a better source's
	OfPlatform Why = "platform" // the source says its platform, whose profile does not know the host
)

// aside collects the listings that stay out of the catalogue until an operator allows their hosts.
type aside struct {
	listings int                      // that were read
	rows     map[*row]map[string]bool // FHIR bases, by rows as they were read
	brands   map[string]bool          // published ones that stay as they were if nothing else is made of them
	apart    map[string]bool          // published ones whose ids no other brand takes
	waits    []Wait
}

func newAside(listings int) *aside {
	return &aside{
		listings: listings, rows: map[*row]map[string]bool{}, brands: map[string]bool{}, apart: map[string]bool{},
	}
}

// remaining returns the rows without what is set aside.
func (a *aside) remaining(rows []*row) []*row {
	left := make([]*row, 0, len(rows))
	for _, r := range rows {
		if r = a.left(r); r != nil {
			left = append(left, r)
		}
	}
	return left
}

// left returns a row without the servers that are set aside; nil if it has no others.
func (a *aside) left(r *row) *row {
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

// inheritApart finds, for published brands that are apart, the group that has all portals that the brand was published
// with, without what is set aside: for its patients nothing changes if it keeps its id. Otherwise each composition
// would leave the brand as it was, and publish another one beside it.
func (c *identifier) inheritApart(groups []*group, servers map[string]*facts) {
	c.heirs = map[string]*group{}
	if len(c.aside.apart) == 0 {
		return
	}
	several := map[string]bool{}
	for _, g := range groups {
		var has map[string]bool
		for _, id := range c.couldBe(g) {
			if !c.aside.apart[id] || c.heirs[id] == g {
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

// portalsOf are the ids of the portals that a group would be published with.
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

// couldBe are the published brands that a group can be by what is known of it, or by what its rows choose.
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

// setAside removes servers that need an operator's decision from the rows. It reports whether there were any,
// in which case the caller composes again without them. First go those that were never published; only if there
// are none, published ones whose brand would become another's, the worst sources first. So a published brand is
// not blamed for a newcomer.
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

// waiting lists what waits, in an order that does not depend on that of the lists.
func (a *aside) waiting(doubted []Wait) []Wait {
	all := slices.Concat(a.waits, doubted)
	slices.SortFunc(all, func(a, b Wait) int {
		return cmp.Or(
			cmp.Compare(a.Host, b.Host), cmp.Compare(a.BrandID, b.BrandID), cmp.Compare(a.Why, b.Why),
			cmp.Compare(a.Source, b.Source), cmp.Compare(a.Listing, b.Listing),
		)
	})
	return all
}

// doubt notes that the platform of a server is not believed.
func (c *builder) doubt(f *facts) {
	if f.isDoubted {
		c.doubted = append(c.doubted, Wait{
			Host: f.server.origin, Why: OfPlatform, Source: f.saidBy.list.Source, Listing: f.saidBy.name.Display,
			Platform: f.said, Present: []string{},
		})
	}
}

// hasSetAside reports whether servers that lists have are not in the catalogue.
func (r Report) hasSetAside() bool {
	return slices.ContainsFunc(r.Waiting, func(w Wait) bool { return w.Why != OfPlatform })
}
