package compose

import (
	"cmp"
	"slices"
	"strings"

	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/words/ids"
)

type madePortal struct {
	said        []saidPortal
	bases       []string
	brands      []string // names of at most two brands that use the portal
	unconfirmed since
}

// portals creates a brand's portals and returns the brand's platform. If the first server's platform is Generic, the
// platform of a later usable server replaces it. If the brand has a usable server, portals omits unusable servers,
// except those that a list marks as not in use.
func (c *builder) portals(g *group, b record.Brand, servers map[string]*facts,
	made map[string]*madePortal,
) (portalIDs []string, platform string) {
	isUsable := g.isUsable(servers)
	for _, r := range g.rows {
		for _, p := range r.portals {
			bases := c.kept(p, r, isUsable, servers)
			id := c.portalID(p, bases, servers)
			if id == "" || len(bases) == 0 && !c.mayAdd(g, r, id) {
				continue
			}
			c.merge(made, id, p, r, bases, b.Name)
			portalIDs = append(portalIDs, id)
			for _, base := range bases {
				f := servers[base]
				f.isUsed = true
				if platform == "" || platform == Generic && f.isUsable() {
					platform = f.platform
				}
			}
		}
	}
	return sorted(portalIDs), cmp.Or(platform, Generic)
}

// isUsable reports whether patients can connect through any of the brand's servers.
func (g *group) isUsable(servers map[string]*facts) bool {
	return slices.ContainsFunc(g.rows, func(r *row) bool {
		return slices.ContainsFunc(r.servers, func(s *server) bool { return servers[s.base].isUsable() })
	})
}

// kept returns the base URLs of the portal's servers that become endpoints.
func (c *builder) kept(p *portal, r *row, isUsable bool, servers map[string]*facts) []string {
	var bases []string
	for _, e := range p.endpoints {
		if servers[e.server.base].isKept(isUsable) {
			bases = append(bases, e.server.base)
		} else {
			c.report.dropped(droppedOld, r.list.Source+" "+r.listing.Key)
		}
	}
	return sorted(bases)
}

// isKept reports whether the server becomes one of a brand's endpoints. isUsable reports whether patients can connect
// at any of the brand's servers.
func (f *facts) isKept(isUsable bool) bool { return !isUsable || f.isUsable() || f.isOff }

// portalID returns the portal's ID, which is either chosen by a list or derived from the portal's key, endpoints or
// website. portalID returns "" if none of these can be used.
func (c *round) portalID(p *portal, bases []string, servers map[string]*facts) string {
	derive := func(parts ...string) string { return ids.Derive(append([]string{"portal", c.in.Mode}, parts...)...) }
	if id, ok := ids.ParseUUID(p.said.ID); ok {
		return id
	}
	switch {
	case p.said.Key != "":
		return derive("key", p.said.Key)
	case len(bases) > 0:
		parts := []string{"endpoints"}
		for _, base := range bases {
			parts = append(parts, servers[base].id)
		}
		return derive(parts...)
	case len(p.said.Endpoints) == 0 && p.said.Website != "":
		return derive("website", p.said.Website)
	}
	return ""
}

type saidPortal struct {
	order int
	said  *listing.Portal
}

func (c *builder) merge(made map[string]*madePortal, id string, p *portal, r *row, bases []string, brand string) {
	m := made[id]
	if m == nil {
		m = &madePortal{}
		made[id] = m
	}
	m.said = append(m.said, saidPortal{r.order, p.said})
	m.unconfirmed.add(p.list.UnconfirmedSince)
	m.bases = append(m.bases, bases...)
	if !slices.Contains(m.brands, brand) && len(m.brands) < 2 {
		m.brands = append(m.brands, brand)
	}
}

// record builds the portal's record. Each field of the record comes from the highest-ranked source that states it. A
// portal without a name gets the name of its only brand or, if it has several, a generic name, because URLs are not
// published.
func (m *madePortal) record(id string, servers map[string]*facts) record.Portal {
	p := record.Portal{ID: id}
	slices.SortFunc(m.said, func(a, b saidPortal) int { return cmp.Compare(a.order, b.order) })
	for _, of := range m.said {
		p.Name = cmp.Or(p.Name, strings.Join(strings.Fields(of.said.Name), " "))
		p.PortalWebsite, p.LogoURI = cmp.Or(p.PortalWebsite, of.said.Website), cmp.Or(p.LogoURI, of.said.LogoURI)
		p.Description = cmp.Or(p.Description, of.said.Description)
	}
	p.EndpointIDs = []string{}
	platform := ""
	for _, base := range sorted(m.bases) {
		p.EndpointIDs = append(p.EndpointIDs, servers[base].id)
		platform = servers[base].platform
	}
	p.EndpointIDs = sorted(p.EndpointIDs)
	switch {
	case p.Name == "" && len(m.brands) > 1:
		p.Name = "Patient portal"
		if platform != "" && platform != Generic {
			p.Name += " (" + platform + ")"
		}
	case p.Name == "":
		p.Name = m.brands[0]
	}
	for _, base := range sorted(m.bases) {
		servers[base].portal = cmp.Or(servers[base].portal, p.Name)
	}
	p.State = m.unconfirmed.state()
	return p
}
