package compose

import (
	"net"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/words/ids"
)

// choiceSize is the length of a Choice, which has to distinguish only the portals of one brand.
const choiceSize = 8

// markChoices marks a brand's portals that patients can't tell apart. Such portals keep their IDs because connections
// refer to those IDs.
func (m *draft) markChoices(in Input) {
	of := in.domainOf
	marked := map[string]bool{}
	for _, b := range m.Brands {
		alike := map[string][]string{}
		for _, id := range b.PortalIDs {
			if p := m.Portals[id]; !b.Gone() && !p.Gone() && len(p.EndpointIDs) > 0 {
				choice := m.choice(p, of)
				alike[choice] = append(alike[choice], id)
			}
		}
		for _, portals := range alike {
			for _, id := range portals {
				marked[id] = marked[id] || len(portals) > 1
			}
		}
	}
	for id, p := range m.Portals {
		p.Choice = ""
		if marked[id] {
			p.Choice = m.choice(p, of)
		}
		m.Portals[id] = p
	}
}

// choice returns the same string for all portals that have the same name, website and FHIR server domains.
func (m *draft) choice(p record.Portal, of func(host string) string) string {
	domains := make([]string, 0, len(p.EndpointIDs))
	for _, id := range p.EndpointIDs {
		domains = append(domains, of(catalog.Host(m.Endpoints[id].FHIRBase)))
	}
	return ids.Derive("choice", sortName(p.Name), p.PortalWebsite, strings.Join(sorted(domains), " "))[:choiceSize]
}

// domainOf returns the registrable domain of a host in the form that catalog.Host returns.
func (in Input) domainOf(host string) string {
	host = strings.TrimPrefix(host, "http://")
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if in.Domain == nil || net.ParseIP(host) != nil {
		return host
	}
	return in.Domain(host)
}
