package compose

// inherit gives each brand without portals its parent brand's portals (an affiliated brand in SMART App Launch 2.2,
// section 8). inherit also lists each row's servers.
func (c *reading) inherit(rows []*row) {
	above := make(map[inList]*row, len(rows))
	for _, r := range rows {
		if at := (inList{r.list.Source, r.listing.Key}); above[at] == nil { // the first row with this key
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

// inList identifies a listing by its source and its key.
type inList struct{ source, key string }

// portalOwner returns the row whose portals r uses. The result is r itself or the nearest ancestor of r that has
// portals. portalOwner returns nil if neither r nor any ancestor has portals.
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
