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
	candidates []string // possible IDs, in order of preference
	id         string
	own        []string // IDs of published brands that the group represents, including id
}

type identifier struct {
	*round
	words

	heirs map[string]*group // the only group that may claim each reserved ID, by ID
}

// groups returns the brands in order of their first rows.
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

// identify assigns each brand the first of these IDs that is available:
//
//   - an ID that a manually maintained list chose
//   - the ID of the published brand with the same attributes
//   - a removed brand's ID, if no other brand can be its successor
//   - an ID derived from the brand's attributes
func (c *identifier) identify(groups []*group, servers map[string]*facts) {
	c.name(groups, servers)
	taken := map[string]*group{}
	for id := range c.withheld.reservedIDs {
		if taken[id] = c.heirs[id]; taken[id] == nil {
			taken[id] = &group{} // reserved for the published brand
		}
	}
	c.chosen(groups, taken)
	c.published(groups, taken)
	c.renamed(groups, taken)
	for _, g := range groups {
		for i := 0; g.id == ""; i++ {
			// Fall back to an ID derived from the row if the lists have chosen every other candidate.
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

// name determines each brand's possible IDs. An ID that could belong to either of two brands is assigned to neither.
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
		if first := g.rows[0]; len(g.candidates) == 0 { // every candidate is reserved or shared with another brand
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

// candidates returns a brand's possible IDs. Each ID is derived from a business identifier, or from the name and one
// of: a ZIP code, a server, or the brand's key in a list.
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

// chosen assigns IDs chosen by manually maintained lists.
func (c *identifier) chosen(groups []*group, taken map[string]*group) {
	derived := map[string]*group{} // derived IDs, which a list can't choose for a different brand
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
				c.report.conflict(conflictID, r.list.Source+" "+r.listing.Key) // a higher-ranked source owns the brand
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

// claim records that a group may represent a published brand.
type claim struct {
	group *group
	order int  // group's position in the catalogue's order
	is    bool // whether the published brand's own ID matches, as opposed to a merged ID
	class int  // index of the matching candidate
}

// published assigns groups the IDs under which their brands were already published. When published brands merge, the
// resulting brand keeps the ID of the brand that the highest-ranked source lists at a previous host. If several brands
// qualify, the merged brand keeps the ID of the one that has been unchanged the longest. All other IDs of the merged
// brand point to the ID that is kept. When a merged brand splits again, the brand with the kept ID's attributes retains
// that ID, and the other brand regains its earlier ID.
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
				g.id = id // the brand with this ID had been merged into another brand
				taken[id] = g
			}
		}
	}
}

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

// chosenByLesser returns the IDs that lower-priority rows chose for a brand owned by a higher-ranked list. If such an
// ID was published, the caller merges its brand into the group's brand.
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

// take assigns a group one of the published IDs that it has won and merges the other IDs into it.
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

// isBackedByBestSource reports whether the group's highest-ranked source lists one of the brand's previous hosts.
func (c *round) isBackedByBestSource(g *group, b record.Brand) bool {
	hosts := c.hostsOf(b)
	best, _ := (&unit{rows: g.rows}).best()
	return slices.ContainsFunc(g.rows, func(r *row) bool {
		return r.list.Priority >= best && slices.ContainsFunc(r.servers, func(s *server) bool { return hosts[s.origin] })
	})
}

// compareFirst orders true before false.
func compareFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// compareAge orders current brands before removed ones, then by time since the last change, longest first.
func compareAge(a, b record.Brand) int {
	return cmp.Or(compareFirst(!a.Gone(), !b.Gone()), a.LastUpdated.Compare(b.LastUpdated), cmp.Compare(a.ID, b.ID))
}
