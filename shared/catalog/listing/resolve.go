package listing

import "context"

// give creates listings from the bundle, which must have been read completely.
func (b *bundle) give(ctx context.Context, alone bool) error {
	b.join()
	for _, i := range b.inOrder {
		if err := ctx.Err(); err != nil {
			return err //nolint:wrapcheck // whose end it is, its owner knows
		}
		i.Portals = b.offered(i)
	}
	for _, i := range b.inOrder {
		if above := b.above(i); above != nil {
			i.PartOf = above.Key
		}
		if len(i.Portals) == 0 {
			i.Portals = b.inherited(i)
		}
		if len(i.Portals) == 0 && !i.declined {
			b.out.report.omitted(NoEndpoint, i.Key)
			continue
		}
		if err := b.out.give(i.Listing); err != nil {
			return err
		}
	}
	for _, n := range b.servers {
		if n.isUsed {
			continue
		}
		if err := b.giveAlone(n, alone); err != nil {
			return err
		}
	}
	return nil
}

// join assigns endpoints to the Organizations that they reference as their managing organization.
func (b *bundle) join() {
	for _, n := range b.servers {
		if manager, ok := find(b.organizations, n.manager, n.scope, "Organization"); ok {
			manager.manages = append(manager.manages, n)
		}
	}
}

// offered returns an institution's own portals. Endpoints that do not belong to any of these portals form an additional
// portal.
func (b *bundle) offered(i *institution) []Portal {
	var portals []Portal
	inPortal := make(map[*node]bool)
	everything := append(b.follow(i, i.offers), i.manages...)
	for _, p := range i.portals {
		servers := b.follow(i, p.offers)
		if len(p.offers) == 0 && !i.declined {
			servers = everything
		}
		for _, n := range servers {
			inPortal[n] = true
		}
		if p.Endpoints = endpointsOf(servers); len(p.Endpoints) > 0 || i.declined {
			portals = append(portals, p.Portal)
		}
	}
	var rest []*node
	for _, n := range everything {
		if n.isUsed = true; !inPortal[n] {
			rest = append(rest, n)
		}
	}
	if own := endpointsOf(rest); len(own) > 0 {
		portals = append(portals, Portal{Endpoints: own})
	}
	return portals
}

// follow returns the endpoints that an institution references, and marks them as used.
func (b *bundle) follow(i *institution, references []reference) []*node {
	var found []*node
	for _, to := range references {
		if isAbsent(to.Extension) {
			i.declined = true
			continue
		}
		n, ok := find(b.endpoints, to, i.scope, "Endpoint")
		if !ok {
			b.out.report.problem(NoSuch, i.Key)
			continue
		}
		n.isUsed = true
		found = append(found, n)
	}
	return found
}

func endpointsOf(nodes []*node) []Endpoint {
	var endpoints []Endpoint
	for _, n := range nodes {
		endpoints = appendNew(endpoints, n.Endpoint)
	}
	return endpoints
}

// above returns an institution's parent, or nil if the institution has no parent or would be its own ancestor.
func (b *bundle) above(i *institution) *institution {
	if i.above.Reference == "" {
		return nil
	}
	above, ok := find(b.organizations, i.above, i.scope, "Organization")
	if !ok {
		b.out.report.problem(NoSuch, i.Key)
		return nil
	}
	for up, levels := above, 0; up != nil && levels < maxAbove; levels++ {
		if up == i {
			b.out.report.problem(Circle, i.Key)
			return nil
		}
		up, _ = find(b.organizations, up.above, up.scope, "Organization")
	}
	return above
}

// inherited returns the portals of the nearest ancestor with portals. An institution without portals provides access
// through its parent.
func (b *bundle) inherited(i *institution) []Portal {
	for range maxAbove {
		above, ok := find(b.organizations, i.above, i.scope, "Organization")
		if !ok {
			return nil
		}
		if len(above.Portals) > 0 {
			return above.Portals
		}
		i = above
	}
	return nil
}

// giveAlone creates a listing for an endpoint that no entry in the bundle references. In a bundle of brands, such an
// endpoint has no institution that a patient could search for.
func (b *bundle) giveAlone(n *node, alone bool) error {
	l := Listing{Key: n.key, Name: b.out.report.text(n.key, n.manager.Display, maxName)}
	// The managing Organization may be contained in the endpoint.
	if manager, ok := find(b.organizations, n.manager, n.scope, "Organization"); ok {
		l = manager.Listing
		l.Key = n.key
	}
	if l.Name == "" {
		l.Name = n.Name
	}
	if l.Name == "" || !alone {
		b.out.report.omitted(NoName, n.key)
		return nil
	}
	l.Portals = []Portal{{Endpoints: []Endpoint{n.Endpoint}}}
	return b.out.give(l)
}
