package compose

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"recordbridge/shared/catalog/geo"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/names"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/words/ids"
)

// reading parses lists into rows.
type reading struct {
	in        Input
	decisions hostDecisions
	report    *reporter
	names     *names.Reader
	servers   map[string]*server // by URL as written in lists; nil for an invalid URL
}

type row struct {
	order     int // position among all rows, in order of their sources' rank
	list      *List
	listing   *listing.Listing
	name      names.Name
	key       string
	zips      []string
	states    []string
	locations []record.Location
	npis      []string
	portals   []*portal // includes portals inherited from the parent brand
	servers   []*server
	isRefused bool // whether an operator has refused every host of the row's servers
	read      *row // original row, if some of its servers are withheld
}

type portal struct {
	said      *listing.Portal
	list      *List
	endpoints []endpoint
}

type endpoint struct {
	said   *listing.Endpoint
	server *server
}

// readRows reads all lists. The order of its result doesn't depend on the order of the lists.
func (c *reading) readRows(lists []List) []*row {
	lists = slices.Clone(lists)
	var rows []*row
	for i := range lists {
		for j := range lists[i].Listings {
			rows = append(rows, &row{list: &lists[i], listing: &lists[i].Listings[j]})
		}
	}
	slices.SortStableFunc(rows, func(a, b *row) int {
		if order := cmp.Or(-cmp.Compare(a.list.Priority, b.list.Priority), cmp.Compare(a.list.Source, b.list.Source),
			cmp.Compare(a.listing.Key, b.listing.Key)); order != 0 {
			return order
		}
		return cmp.Compare(bytesOf(a.listing), bytesOf(b.listing))
	})
	rows = c.withoutCopies(rows)
	for _, r := range rows {
		c.read(r)
	}
	rows = slices.DeleteFunc(rows, func(r *row) bool { return r.isRefused })
	for i, r := range rows {
		r.order = i
	}
	return rows
}

// withoutCopies drops listings that are identical to another listing with the same key. withoutCopies keeps listings
// with the same key but different content.
func (c *reading) withoutCopies(rows []*row) []*row {
	var kept []*row
	for _, r := range rows {
		if len(kept) > 0 {
			last := kept[len(kept)-1]
			if last.list.Source == r.list.Source && last.listing.Key == r.listing.Key {
				if bytesOf(last.listing) == bytesOf(r.listing) {
					c.report.dropped(droppedCopy, r.list.Source+" "+r.listing.Key)
					continue
				}
				c.report.conflict(conflictKey, r.list.Source+" "+r.listing.Key)
			}
		}
		kept = append(kept, r)
	}
	return kept
}

func bytesOf(l *listing.Listing) string {
	written, err := json.Marshal(l)
	if err != nil { // can't happen, because every value can be encoded as JSON
		return ""
	}
	return string(written)
}

func (c *reading) read(r *row) {
	for _, said := range r.listing.Locations {
		r.locations = append(r.locations, readLocation(said))
	}
	known := ""
	if len(r.locations) == 1 {
		known = r.locations[0].State
	}
	r.name = c.names.Read(r.listing.Name, known)
	r.key = c.names.Key(r.name.Display)
	r.locate()
	for _, npi := range r.listing.NPIs {
		if len(npi) == 10 && strings.Trim(npi, "0123456789") == "" {
			r.npis = append(r.npis, npi)
		}
	}
	for i := range r.listing.Portals {
		r.portals = append(r.portals, c.portal(r.list, &r.listing.Portals[i]))
	}
	r.isRefused = !r.list.Trusted && c.isRefused(r)
	if r.listing.ID != "" {
		if _, ok := ids.ParseUUID(r.listing.ID); !ok {
			c.report.conflict(conflictID, r.listing.ID+" is no UUID")
		}
	}
}

// readLocation normalises a location and derives a missing state from its ZIP code.
func readLocation(said record.Location) record.Location {
	l := record.Location{
		City: strings.Join(strings.Fields(said.City), " "), State: strings.ToUpper(strings.TrimSpace(said.State)),
		Country:    strings.ToUpper(strings.TrimSpace(said.Country)),
		PostalCode: strings.TrimSpace(said.PostalCode),
	}
	if l.Country != "" && l.Country != "US" && l.Country != "USA" {
		return l
	}
	if zip, ok := geo.ZIP(l.PostalCode); ok {
		l.PostalCode = zip
		l.State = cmp.Or(l.State, geo.State(zip))
	}
	if geo.StateName(l.State) != "" {
		l.Country = "US"
	}
	return l
}

// locate collects the row's places, including any place mentioned in its name.
func (r *row) locate() {
	if r.name.State != "" && !slices.ContainsFunc(r.locations,
		func(l record.Location) bool { return l.State == r.name.State }) {
		r.locations = append(r.locations, record.Location{State: r.name.State, Country: "US"})
	}
	for i, l := range r.locations {
		if l.City == "" && l.State == r.name.State {
			r.locations[i].City = r.name.City
		}
		if zip, ok := geo.ZIP(l.PostalCode); ok {
			r.zips = append(r.zips, zip)
		}
		if l.State != "" {
			r.states = append(r.states, l.State)
		}
	}
	r.zips, r.states = sorted(r.zips), sorted(r.states)
}

func (c *reading) portal(of *List, said *listing.Portal) *portal {
	p := &portal{said: said, list: of}
	for i := range said.Endpoints {
		switch s := c.server(said.Endpoints[i].Address); {
		case s == nil:
			c.report.dropped(droppedAddress, of.Source+" "+said.Endpoints[i].Name)
		case c.decisions.refused[s.origin] && !of.Trusted:
			c.report.dropped(droppedRefused, of.Source+" "+said.Endpoints[i].Name)
		default:
			p.endpoints = append(p.endpoints, endpoint{&said.Endpoints[i], s})
		}
	}
	return p
}

func (c *reading) server(address string) *server {
	s, seen := c.servers[address]
	if !seen {
		if read, ok := readServer(c.in.Mode, address); ok {
			s = &read
			if c.in.Platform != nil {
				s.known = c.in.Platform(s.base)
			}
		}
		c.servers[address] = s
	}
	return s
}

// sorted returns texts in ascending order without duplicates. The result is never nil.
func sorted(texts []string) []string {
	texts = slices.Clone(texts)
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if texts == nil {
		texts = []string{}
	}
	return texts
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
