package compose

import (
	"cmp"
	"slices"
)

type merger struct{ *round }

// mergeByHand merges brands that an operator or a manually maintained list declares identical. The first declaration
// for each brand applies, and operators' declarations precede those in lists.
func (c *merger) mergeByHand(groups []*group) []*group {
	byID := make(map[string]*group, len(groups))
	for _, g := range groups {
		byID[g.id] = g
	}
	done := map[string]bool{}
	for _, m := range c.merges(groups) {
		into, from := c.current(m.Value, byID), byID[m.ID]
		switch {
		case m.ID == into || done[m.ID] && c.brands[m.ID] != into || byID[into] == nil || from == nil && !c.wasKnown(m.ID):
			c.report.conflict(conflictOverride, "merge "+m.ID)
			continue
		case from != nil:
			target := byID[into]
			target.rows = append(target.rows, from.rows...)
			slices.SortFunc(target.rows, func(a, b *row) int { return cmp.Compare(a.order, b.order) })
			delete(byID, m.ID)
		}
		done[m.ID] = true
		c.brands[m.ID] = into
	}
	return slices.DeleteFunc(groups, func(g *group) bool { return byID[g.id] != g })
}

// wasKnown reports whether an ID was published earlier or has just been merged.
func (c *merger) wasKnown(id string) bool {
	_, isBrand := c.in.Before.Brands[id]
	_, isMerged := c.in.Before.Successors[id]
	return isBrand || isMerged || c.brands[id] != ""
}

// merges returns the requested merges in an order that doesn't depend on the order of the input.
func (c *merger) merges(groups []*group) []Override {
	var all []Override
	for _, o := range c.in.Overrides {
		if o.Kind == Merge {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b Override) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Value, b.Value)) })
	all = slices.Compact(all)
	ofRow, byID := map[*row]*group{}, make(map[string]*group, len(groups))
	for _, g := range groups {
		byID[g.id] = g
		for _, r := range g.rows {
			ofRow[r] = g
		}
	}
	for _, r := range c.rows {
		for _, id := range r.listing.Merged {
			if c.mayMerge(r, id, byID[id]) {
				all = append(all, Override{Merge, id, ofRow[r].id})
			} else {
				c.report.conflict(conflictOverride, "merge "+id)
			}
		}
	}
	return all
}

// mayMerge reports whether a row in a list may merge a brand. A trusted list's row may merge any brand. A row in an
// untrusted list may merge a brand only if all the brand's listings in other lists have lower priorities. If the brand
// is no longer in any list, the row must list all of the brand's previous hosts.
func (c *round) mayMerge(r *row, id string, from *group) bool {
	if from != nil {
		return r.list.Trusted || !slices.ContainsFunc(from.rows, func(other *row) bool {
			return other.list.Source != r.list.Source && other.list.Priority >= r.list.Priority
		})
	}
	for host := range c.hostsOf(c.in.Before.Brands[id]) {
		if !slices.ContainsFunc(r.servers, func(s *server) bool { return s.origin == host }) {
			return r.list.Trusted
		}
	}
	return true
}

// current returns a brand's ID in this catalogue: id itself or the ID of the brand into which it was merged.
func (c *merger) current(id string, byID map[string]*group) string {
	for byID[id] == nil {
		next, merged := c.brands[id]
		if !merged {
			next, merged = c.in.Before.Successors[id]
		}
		if !merged || next == id {
			break
		}
		id = next
	}
	return id
}

// override applies every operator decision except merges and decisions about hosts.
func (c *builder) override(made *draft) {
	overrides := slices.Clone(c.in.Overrides)
	slices.SortFunc(overrides, func(a, b Override) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Value, b.Value))
	})
	for _, o := range overrides {
		if o.Kind == Portal || o.Kind == Serves || o.Kind == Refuse {
			continue // decisions about hosts have already been applied
		}
		id := made.Resolve(o.ID)
		b, known := made.Brands[id]
		if !known {
			if o.Kind != Merge {
				if _, isGone := c.in.Before.Brands[id]; !isGone {
					c.report.conflict(conflictOverride, string(o.Kind)+" "+o.ID)
				}
			}
			continue
		}
		switch o.Kind {
		case Hide:
			b.Hidden = true
		case Show:
			b.Hidden = false
		case Alias:
			b.Aliases = aliasesOf(b.Name, append(b.Aliases, o.Value))
		case Named:
			b.Aliases = aliasesOf(o.Value, append(b.Aliases, b.Name))
			b.Name, b.SortName = o.Value, sortName(o.Value)
		case Merge, Portal, Serves, Refuse: // already applied
		}
		made.Brands[id] = b
	}
}
