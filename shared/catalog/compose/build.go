package compose

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/catalog/names"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/words/ids"
)

// maxAliases limits the alternative names of a brand.
const maxAliases = 50

// draft is a catalogue under construction.
type draft struct{ record.Catalog }

// facts holds facts about a server, each from the highest-ranked source that states it.
type facts struct {
	server         *server
	id             string
	release        string
	platform       string
	listedPlatform string // platform stated by the highest-ranked source, in lower case
	saidBy         *row
	names          []string // at most two distinct endpoint names
	isDoubted      bool     // whether an operator must confirm listedPlatform
	isOff          bool
	isUsed         bool   // whether any brand uses the server
	portal         string // name of a portal on the server
	unconfirmed    since
}

// isUsable reports whether patients can connect through the server.
func (f *facts) isUsable() bool { return f.server.isOpen && !isOld(f.release) && !f.isOff }

// since tracks how long a record has been unconfirmed. A record is confirmed if at least one of its sources is
// readable.
type since struct {
	isConfirmed bool
	latest      time.Time
}

func (s *since) add(unconfirmed time.Time) {
	switch {
	case unconfirmed.IsZero():
		s.isConfirmed = true
	case unconfirmed.After(s.latest):
		s.latest = unconfirmed
	}
}

func (s *since) state() record.State {
	if s.isConfirmed || s.latest.IsZero() {
		return record.State{}
	}
	at := s.latest.UTC().Round(0)
	return record.State{UnconfirmedSince: &at}
}

// builder creates the records of brands that already have IDs.
type builder struct {
	*round

	doubted []Wait // untrusted platforms stated by lists
}

func (c *builder) build(groups []*group, servers map[string]*facts) *draft {
	made := &draft{record.Catalog{
		Brands: make(map[string]record.Brand, len(groups)), Portals: map[string]record.Portal{},
		Endpoints: map[string]record.Endpoint{}, Successors: map[string]string{},
	}}
	portals := map[string]*madePortal{}
	for _, g := range groups {
		b := g.brand()
		b.PortalIDs, b.PlatformType = c.portals(g, b, servers, portals)
		made.Brands[b.ID] = b
		c.report.count(g, b)
	}
	for _, id := range sortedKeys(portals) {
		made.Portals[id] = portals[id].record(id, servers)
	}
	for _, base := range sortedKeys(servers) {
		if f := servers[base]; f.isUsed {
			made.Endpoints[f.id] = f.record()
			c.doubt(f)
		}
	}
	return made
}

type surveyor struct {
	*round

	derived map[string]string // server URLs by their derived endpoint ID
}

func (c *surveyor) factsOfServers() map[string]*facts {
	all := map[string]*facts{}
	chosen := map[string]string{}
	for _, r := range c.rows {
		for _, s := range r.servers {
			c.derived[s.id] = s.base
		}
	}
	for _, r := range c.rows {
		for _, p := range r.portals {
			for _, e := range p.endpoints {
				f := all[e.server.base]
				if f == nil {
					f = &facts{server: e.server, isOff: e.said.Off}
					all[e.server.base] = f
				}
				c.learn(f, e, r, chosen)
			}
		}
	}
	for _, f := range all {
		f.release = cmp.Or(f.release, f.server.release)
		f.id = cmp.Or(f.id, f.server.id)
		f.platform = c.platformOf(f)
	}
	return all
}

// learn adds the facts that a row states about a server. Callers must process rows from higher-ranked sources first.
func (c *surveyor) learn(f *facts, e endpoint, r *row, chosen map[string]string) {
	f.unconfirmed.add(r.list.UnconfirmedSince)
	if said := e.said.FHIRVersion; said != "" {
		if f.release != "" && isOld(f.release) != isOld(said) {
			c.report.conflict(conflictRelease, r.list.Source+" "+r.listing.Key)
		}
		f.release = cmp.Or(f.release, said)
	}
	if said := strings.ToLower(cmp.Or(e.said.Platform, r.list.Platform)); said != "" {
		if f.listedPlatform != "" && f.listedPlatform != said {
			c.report.conflict(conflictPlatform, r.list.Source+" "+r.listing.Key)
		}
		if f.listedPlatform == "" {
			f.listedPlatform, f.saidBy = said, r
		}
	}
	if name := strings.Join(strings.Fields(e.said.Name), " "); name != "" && len(f.names) < 2 &&
		!slices.Contains(f.names, name) {
		f.names = append(f.names, name)
	}
	id, ok := ids.ParseUUID(e.said.ID)
	if !ok || f.id == id {
		return
	}
	if other, taken := chosen[id]; f.id != "" || taken && other != e.server.base || !r.list.Trusted &&
		c.isOfAnother(id, e.server) {
		c.report.conflict(conflictID, r.list.Source+" "+r.listing.Key)
		return
	}
	f.id, chosen[id] = id, e.server.base
}

func (f *facts) record() record.Endpoint {
	e := record.Endpoint{
		ID: f.id, Status: record.Suspended, ConnectionType: record.ConnectionType, PlatformType: f.platform,
		FHIRVersion: f.release, Name: f.portal, FHIRBase: f.server.base,
		State: f.unconfirmed.state(),
	}
	if f.isUsable() {
		e.Status = record.Active
	}
	if len(f.names) == 1 {
		e.Name = f.names[0]
	}
	return e
}

// brand creates a brand's record without its portals. A brand's names, places and NPIs come from all sources. Every
// other field of the brand comes from the highest-ranked source that states it.
func (g *group) brand() record.Brand {
	b := record.Brand{ID: g.id, Hidden: g.rows[0].listing.Hidden, Name: g.name()}
	var aliases []string
	var places []record.Location
	var state since
	for _, r := range g.rows {
		l := r.listing
		b.BrandWebsite, b.Description, b.Category = cmp.Or(b.BrandWebsite, l.Website), cmp.Or(b.Description, l.Description),
			cmp.Or(b.Category, l.Category)
		if b.LogoURI == "" && l.LogoURI != "" {
			b.LogoURI, b.LogoLicense = l.LogoURI, l.LogoLicense
		}
		aliases = append(aliases, l.Aliases...)
		aliases = append(aliases, r.name.Display)
		aliases = append(aliases, r.name.Aliases...)
		places = append(places, r.locations...)
		b.NPIs = append(b.NPIs, r.npis...)
		state.add(r.list.UnconfirmedSince)
	}
	b.NPIs, b.Aliases, b.Locations, b.BrandIDs = sorted(b.NPIs), aliasesOf(b.Name, aliases), placesOf(places), []string{}
	b.SortName, b.State = sortName(b.Name), state.state()
	return b
}

// name returns the brand's most frequent name in its highest-ranked source.
func (g *group) name() string {
	said := map[string]int{}
	for _, r := range g.rows {
		if r.list.Priority == g.rows[0].list.Priority {
			said[r.name.Display]++
		}
	}
	return slices.MaxFunc(sortedKeys(said), func(a, b string) int { return cmp.Compare(said[a], said[b]) })
}

func sortName(name string) string { return names.SortName(name) }

// aliasesOf returns the brand's alternative names, omitting duplicates and names with the same words as the brand's own
// name.
func aliasesOf(name string, all []string) []string {
	seen := map[string]bool{sortName(name): true, "": true}
	kept := []string{}
	for _, alias := range sorted(all) {
		alias = strings.Join(strings.Fields(alias), " ")
		if key := sortName(alias); !seen[key] && len(kept) < maxAliases {
			seen[key] = true
			kept = append(kept, alias)
		}
	}
	return kept
}

// placesOf returns a brand's places without duplicates. It omits a place with only a state if another place in that
// state has a town or ZIP code.
func placesOf(all []record.Location) []record.Location {
	slices.SortFunc(all, func(a, b record.Location) int {
		return cmp.Or(cmp.Compare(a.Country, b.Country), cmp.Compare(a.State, b.State),
			-cmp.Compare(a.PostalCode, b.PostalCode), -cmp.Compare(a.City, b.City))
	})
	kept := []record.Location{}
	for _, l := range all {
		isSaid := slices.ContainsFunc(kept, func(k record.Location) bool {
			return k.Country == l.Country && k.State == l.State && (l.PostalCode == "" || k.PostalCode == l.PostalCode) &&
				(l.City == "" || strings.EqualFold(k.City, l.City))
		})
		if !isSaid && l != (record.Location{}) {
			kept = append(kept, l)
		}
	}
	slices.SortFunc(kept, func(a, b record.Location) int {
		return cmp.Or(cmp.Compare(a.Country, b.Country), cmp.Compare(a.State, b.State), cmp.Compare(a.City, b.City),
			cmp.Compare(a.PostalCode, b.PostalCode))
	})
	return kept
}
