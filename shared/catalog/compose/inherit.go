package compose

// inherit gives each brand without portals the portals of its nearest ancestor (an affiliated brand in SMART App Launch
// 2.2, section 8). It also collects each row's servers.
func (c *reading) inherit(rows []*row) {
	above := make(map[inList]*row, len(rows))
	for _, r := range rows {
		if at := (inList{r.list.Source, r.listing.Key}); above[at] == nil { // the first row with a key takes precedence
			above[at] = r
		}
	}
	own := make([][]*portal, len(rows))
	for i, r := range rows {
		own[i] = r.portals
	}
	for _, r := range rows {
		if of := c.portalOwner(r, own, above); of != nil {
			r.portals = own[of.order]
		}
		for _, p := range r.portals {
			for _, e := range p.endpoints {
				r.servers = append(r.servers, e.server)
			}
		}
	}
}

type inList struct{ source, key string }

// portalOwner returns the row whose portals r uses: r itself or its nearest ancestor with portals. If no ancestor has
// portals, it returns the topmost ancestor. It returns nil if an ancestor is missing or the rows form a cycle.
func (c *reading) portalOwner(r *row, own [][]*portal, above map[inList]*row) *row {
	seen := map[*row]bool{}
	of := r
	for len(own[of.order]) == 0 && of.listing.PartOf != "" {
		seen[of] = true
		of = above[inList{r.list.Source, of.listing.PartOf}]
		switch {
		case of == nil:
			c.report.conflict(conflictPartOf, r.list.Source+" "+r.listing.Key+" is part of what is not there")
			return nil
		case seen[of]:
			c.report.conflict(conflictPartOf, r.list.Source+" "+r.listing.Key+" is part of itself")
			return nil
		}
	}
	return of
}
