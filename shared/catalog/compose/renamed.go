package compose

import (
	"slices"

	"recordbridge/shared/catalog/record"
)

// renamed looks for published brands whose attributes have changed. If a server had a single brand before and has a
// single brand now, the two match even if their names differ. A brand with a unique, rare name also matches if it is
// now on a different server. Each brand that matches keeps its ID. The ID derived from the new attributes becomes an
// alias of the kept ID, so that the next composition can look up the brand directly.
func (c *identifier) renamed(groups []*group, taken map[string]*group) {
	gone := map[string]record.Brand{}
	for id, b := range c.in.Before.Brands {
		if taken[id] == nil && b.RemovedAt == nil {
			gone[id] = b
		}
	}
	if len(gone) == 0 {
		return
	}
	c.keepBy(groups, taken, gone, c.endpointsBefore(), func(g *group) []string {
		var at []string
		for _, r := range g.rows {
			for _, s := range r.servers {
				at = append(at, s.id)
			}
		}
		return sorted(at)
	})
	c.keepBy(groups, taken, gone, c.namesBefore(), func(g *group) []string {
		if !c.isRare(g.rows[0].key) {
			return nil
		}
		return []string{g.rows[0].key}
	})
}

// keepBy assigns published IDs to brands without an ID. keepBy matches brands by attributes that were unique before and
// are unique now.
func (c *identifier) keepBy(groups []*group, taken map[string]*group, gone map[string]record.Brand,
	before map[string][]string, marks func(*group) []string,
) {
	now := map[string][]*group{}
	for _, g := range groups {
		for _, mark := range marks(g) {
			now[mark] = append(now[mark], g)
		}
	}
	for _, mark := range sortedKeys(now) {
		g, had := now[mark][0], before[mark]
		if len(now[mark]) != 1 || g.id != "" || len(had) != 1 || taken[had[0]] != nil {
			continue
		}
		if b, isGone := gone[had[0]]; isGone && g.canBe(b) {
			g.id = b.ID
			taken[b.ID] = g
			c.brands[g.candidates[0]] = b.ID
		}
	}
}

// canBe reports whether a group's places are compatible with those of a published brand.
func (g *group) canBe(b record.Brand) bool {
	if len(b.Locations) == 0 {
		return true
	}
	states := []string{}
	for _, r := range g.rows {
		states = append(states, r.states...)
	}
	return len(states) == 0 || slices.ContainsFunc(b.Locations,
		func(l record.Location) bool { return l.State == "" || slices.Contains(states, l.State) })
}

// endpointsBefore returns the IDs of published brands, keyed by endpoint ID.
func (c *identifier) endpointsBefore() map[string][]string {
	before := map[string][]string{}
	for _, id := range sortedKeys(c.in.Before.Brands) {
		b := c.in.Before.Brands[id]
		if b.RemovedAt != nil {
			continue
		}
		var at []string
		for _, p := range b.PortalIDs {
			at = append(at, c.in.Before.Portals[p].EndpointIDs...)
		}
		for _, e := range sorted(at) {
			before[e] = append(before[e], id)
		}
	}
	return before
}

// namesBefore returns the IDs of published brands, keyed by name.
func (c *identifier) namesBefore() map[string][]string {
	before := map[string][]string{}
	for _, id := range sortedKeys(c.in.Before.Brands) {
		if b := c.in.Before.Brands[id]; b.RemovedAt == nil {
			key := c.names.Key(b.Name)
			before[key] = append(before[key], id)
		}
	}
	return before
}
