package compose

import (
	"cmp"
	"slices"
	"strconv"

	"recordbridge/shared/catalog/record"
	"recordbridge/shared/words/ids"
)

// group holds a brand's rows.
type group struct {
	rows       []*row
	candidates []string // possible IDs, best ID first
	id         string
	own        []string // published brands that the group contains, including the group's own
}

// identifier assigns IDs to brands.
type identifier struct {
	*round
	words

	heirs map[string]*group // by ID of a published brand set apart: only group that may still be that brand
}

// groups returns the brands in the order of their first rows.
func (c *joiner) groups() []*group {
	byRoot := map[int]*group{}
	var groups []*group
	for i, r := range c.rows {
		root := c.joined.root(i)
		g := byRoot[root]
		if g == nil {
			g = &group{}
			byRoot[root] = g
			groups = append(groups, g)
		}
		g.rows = append(g.rows, r)
	}
	return groups
}

// identify assigns each brand the ID from the first source that provides one:
//
//   - an ID that a manually maintained list has chosen
//   - the published ID of the brand with the current attributes
//   - a removed brand's ID, if only this brand can be the removed brand's successor
//   - an ID derived from the brand's attributes
func (c *identifier) identify(groups []*group, servers map[string]*facts) {
	c.name(groups, servers)
	taken := map[string]*group{}
	for id := range c.withheld.reservedIDs {
		if taken[id] = c.heirs[id]; taken[id] == nil {
			taken[id] = &group{} // the published institution keeps its ID
		}
	}
	c.chosen(groups, taken)
	c.published(groups, taken)
	c.renamed(groups, taken)
	for _, g := range groups {
		for i := 0; g.id == ""; i++ {
			// This ID is used if lists have chosen all other candidates.
			id := c.derive("row", g.rows[0].list.Source, bytesOf(g.rows[0].listing), strconv.Itoa(i))
			if i < len(g.candidates) {
				id = g.candidates[i]
			}
			if taken[id] == nil || taken[id] == g {
				g.id = id
				taken[id] = g
			}
		}
	}
}

// name determines each brand's possible IDs. If an ID is possible for two brands, neither brand gets that ID.
func (c *identifier) name(groups []*group, servers map[string]*facts) {
	mixed := mixedNPIs(c.rows)
	owners := map[string]*group{}
	shared := map[string]bool{}
	for _, g := range groups {
		g.candidates = c.candidates(g, mixed)
		for _, id := range g.candidates {
			if owner := owners[id]; owner != nil && owner != g {
				shared[id] = true
			}
			owners[id] = g
		}
	}
	c.inheritApart(groups, servers)
	for i, g := range groups {
		g.candidates = slices.DeleteFunc(g.candidates,
			func(id string) bool { return shared[id] || c.withheld.reservedIDs[id] && c.heirs[id] != g })
		if first := g.rows[0]; len(g.candidates) == 0 { // the lists contain only a name, shared by two brands
			g.candidates = []string{c.derive("listing", first.list.Source, first.listing.Key, bytesOf(first.listing))}
			if owner := owners[g.candidates[0]]; owner != nil {
				g.candidates = []string{c.derive("row", groups[i].rows[0].list.Source, bytesOf(first.listing))}
			}
			owners[g.candidates[0]] = g
		}
	}
}

func (c *round) derive(parts ...string) string {
	return ids.Derive(append([]string{"brand", c.in.Mode}, parts...)...)
}

// candidates returns a brand's possible IDs. Each ID is derived from a business identifier, or from the name and either
// a ZIP code, a server, or the brand's key in a list.
func (c *identifier) candidates(g *group, mixed map[string]bool) []string {
	var classes [5][]string
	for _, r := range g.rows {
		for _, id := range r.listing.Identifiers {
			if id.System != "" && id.Value != "" {
				classes[0] = append(classes[0], c.derive("identifier", id.System, id.Value))
			}
		}
		for _, npi := range r.npis {
			if !mixed[npi] {
				classes[1] = append(classes[1], c.derive("npi", npi))
			}
		}
		for _, zip := range r.zips {
			classes[2] = append(classes[2], c.derive("zip", r.key, zip))
		}
		state := ""
		if len(r.states) > 0 {
			state = r.states[0]
		}
		for _, s := range r.servers {
			classes[3] = append(classes[3], c.derive("server", r.key, state, s.tenant))
		}
		classes[4] = append(classes[4], c.derive("key", r.list.Source, r.listing.Key, r.key))
	}
	all := make([]string, 0, 2*len(g.rows)+2)
	for _, class := range classes {
		all = append(all, sorted(class)...)
	}
	return all
}

// chosen assigns the IDs that manually maintained lists have chosen.
func (c *identifier) chosen(groups []*group, taken map[string]*group) {
	derived := map[string]*group{} // IDs derived from other brands' attributes, which a list can't choose
	for _, g := range groups {
		for _, id := range g.candidates {
			derived[id] = g
		}
	}
	for _, g := range groups {
		best, _ := (&unit{rows: g.rows}).best()
		for _, r := range g.rows {
			id, ok := ids.ParseUUID(r.listing.ID)
			switch {
			case ok && !r.list.Trusted && r.list.Priority < best:
				c.report.conflict(conflictID, r.list.Source+" "+r.listing.Key) // the brand belongs to a better source
			case !ok || g.id == id:
			case taken[id] != nil && taken[id] != g || g.id != "" || derived[id] != nil && derived[id] != g && !r.list.Trusted:
				c.report.conflict(conflictID, r.list.Source+" "+r.listing.Key)
			default:
				g.id = id
				taken[id] = g
			}
		}
	}
}

// claim records that a group may be a published brand.
type claim struct {
	group *group
	order int  // position of the group
	is    bool // whether the brand's own ID matches, not a merged brand's ID
	class int  // index of the matching candidate
}

// published restores the IDs under which brands were published. If two published brands have merged, published keeps
// the ID of the one that the most trusted sources list at one of its previous hosts. If several brands qualify,
// published keeps the ID of the brand that has been unchanged for the longest time. The remaining IDs point to the kept
// ID. If one brand has become two, the brand with the ID's original attributes keeps the ID, and the other brand
// regains the merged ID.
func (c *identifier) published(groups []*group, taken map[string]*group) {
	claims := c.claims(groups)
	won := map[*group][]string{}
	for _, target := range sortedKeys(claims) {
		g := claims[target].group
		if owner := taken[target]; owner == nil || owner == g {
			won[g] = append(won[g], target)
		}
	}
	for _, g := range groups {
		c.take(g, won[g], taken)
	}
	for _, g := range groups {
		for _, id := range g.candidates {
			target, merged := c.in.Before.Successors[id]
			if g.id == "" && merged && taken[id] == nil && taken[target] != nil {
				g.id = id // the ID's brand had been merged with another brand
				taken[id] = g
			}
		}
	}
}

// claims returns the best claim to each published brand.
func (c *identifier) claims(groups []*group) map[string]claim {
	claims := map[string]claim{}
	for order, g := range groups {
		for class, id := range append(slices.Clone(g.candidates), c.chosenByLesser(g)...) {
			target := c.in.Before.Resolve(id)
			if _, known := c.in.Before.Brands[target]; !known || c.withheld.reservedIDs[target] && c.heirs[target] != g {
				continue
			}
			mine := claim{g, order, target == id, class}
			if best, claimed := claims[target]; !claimed || mine.before(best) {
				claims[target] = mine
			}
		}
	}
	return claims
}

// chosenByLesser returns the published brands whose IDs were chosen by lower-priority rows in a group that belongs to a
// better list. The caller merges these brands into that group.
func (c *identifier) chosenByLesser(g *group) []string {
	best, _ := (&unit{rows: g.rows}).best()
	var all []string
	for _, r := range g.rows {
		if id, ok := ids.ParseUUID(r.listing.ID); ok && !r.list.Trusted && r.list.Priority < best && c.mayMerge(r, id, nil) {
			all = append(all, id)
		}
	}
	return sorted(all)
}

func (a claim) before(b claim) bool {
	if a.is != b.is {
		return a.is
	}
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.order, b.order)) < 0
}

// take assigns a brand one of its own published IDs and merges the brand's other published IDs into that ID.
func (c *identifier) take(g *group, own []string, taken map[string]*group) {
	if len(own) == 0 {
		return
	}
	slices.SortFunc(own, func(a, b string) int {
		x, y := c.in.Before.Brands[a], c.in.Before.Brands[b]
		return cmp.Or(compareFirst(c.isBackedByBestSource(g, x), c.isBackedByBestSource(g, y)), compareAge(x, y))
	})
	if g.id == "" {
		g.id = own[0]
	}
	for _, id := range own {
		taken[id] = g
		if id != g.id {
			c.brands[id] = g.id
		}
	}
	taken[g.id] = g
	g.own = own
}

// isBackedByBestSource reports whether the best sources list a brand at a host with which the brand was published.
func (c *round) isBackedByBestSource(g *group, b record.Brand) bool {
	hosts := c.hostsOf(b)
	best, _ := (&unit{rows: g.rows}).best()
	return slices.ContainsFunc(g.rows, func(r *row) bool {
		return r.list.Priority >= best && slices.ContainsFunc(r.servers, func(s *server) bool { return hosts[s.origin] })
	})
}

// compareFirst sorts true before false.
func compareFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// compareAge orders brands by how long they have been unchanged, longest first.
func compareAge(a, b record.Brand) int {
	return cmp.Or(compareFirst(!a.Gone(), !b.Gone()), a.LastUpdated.Compare(b.LastUpdated), cmp.Compare(a.ID, b.ID))
}
