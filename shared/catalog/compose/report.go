package compose

import (
	"cmp"
	"maps"
	"slices"

	"recordbridge/shared/catalog/record"
)

// Report summarises a catalogue's composition for an operator.
type Report struct {
	Listings  int   `json:"listings"` // number of listings read
	Brands    Count `json:"brands"`
	Portals   Count `json:"portals"`
	Endpoints Count `json:"endpoints"`
	Suspended int   `json:"suspended"` // number of endpoints where patients can't connect

	// Duplicates is the number of brands with more than one listing. Extra is the number of those brands' listings, not
	// counting the first of each. Joined counts the joins by rule.
	Duplicates int          `json:"duplicates"`
	Extra      int          `json:"extra"`
	Joined     map[Rule]int `json:"joined"`
	Biggest    []Cluster    `json:"biggest"` // the 20 brands with the most listings

	Conflicts map[Conflict]Seen `json:"conflicts"`
	Dropped   map[Drop]Seen     `json:"dropped"`

	Waiting []Wait `json:"-"` // servers awaiting an operator's approval, possibly thousands of them
}

// Count counts records by state.
type Count struct {
	Live        int `json:"live"` // includes Unconfirmed
	Unconfirmed int `json:"unconfirmed"`
	Removed     int `json:"removed"`
}

// Cluster is a brand and the number of its listings.
type Cluster struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Listings int      `json:"listings"`
	Sources  []string `json:"sources"`
}

// Seen contains the number of occurrences and the first few occurrences.
type Seen struct {
	Count int      `json:"count"`
	First []string `json:"first"`
}

// Conflict is a kind of contradiction between lists or overrides.
type Conflict string

// Drop is a reason for omitting a list entry from the catalogue.
type Drop string

const (
	// different listings in one list have the same key; both are used
	conflictKey    Conflict = "key"
	conflictPartOf Conflict = "part_of" // a brand is its own ancestor, or its parent is missing
	conflictID     Conflict = "id"      // an ID is invalid, or chosen twice (the first brand gets it)
	// lists state different platforms for a server; the highest-ranked source takes precedence
	conflictPlatform Conflict = "platform"
	conflictRelease  Conflict = "release"  // FHIR releases differ between lists; the highest-ranked source applies
	conflictOverride Conflict = "override" // an override refers to a missing brand or is part of a cycle

	droppedCopy    Drop = "copy"    // a listing is identical to another with the same key in its list
	droppedAddress Drop = "address" // a server URL is invalid (fhir.ParseBase)
	droppedOld     Drop = "old"     // a server is unusable (for example, DSTU2), but its brand has a usable one
	droppedRefused Drop = "refused" // an operator has refused the server's host
)

// Limits on the entries in a report.
const (
	firstFew = 20
	biggest  = 20
)

// reporter counts conflicts and omissions during the composition of a catalogue.
type reporter struct{ Report }

func newReporter() *reporter {
	return &reporter{Report{
		Joined: make(map[Rule]int), Biggest: []Cluster{}, Conflicts: make(map[Conflict]Seen),
		Dropped: make(map[Drop]Seen),
	}}
}

func (r *reporter) joined(rule Rule) { r.Joined[rule]++ }

func (r *reporter) conflict(of Conflict, where string) { r.Conflicts[of] = r.Conflicts[of].with(where) }

func (r *reporter) dropped(of Drop, where string) { r.Dropped[of] = r.Dropped[of].with(where) }

func (s Seen) with(where string) Seen {
	s.Count++
	if len(s.First) < firstFew {
		s.First = append(s.First, where)
	}
	return s
}

// copied returns an independent copy of r.
func (r *reporter) copied() *reporter {
	next := &reporter{r.Report}
	next.Joined, next.Conflicts, next.Dropped = maps.Clone(r.Joined), maps.Clone(r.Conflicts), maps.Clone(r.Dropped)
	return next
}

// count adds a brand's duplicate listings to the report.
func (r *reporter) count(g *group, b record.Brand) {
	if len(g.rows) < 2 {
		return
	}
	r.Duplicates++
	r.Extra += len(g.rows) - 1
	var sources []string
	for _, of := range g.rows {
		sources = append(sources, of.list.Source)
	}
	r.Biggest = append(r.Biggest, Cluster{b.ID, b.Name, len(g.rows), sorted(sources)})
}

func (c *round) summed(made record.Catalog, doubted []Wait) Report {
	r := c.report.Report
	r.Listings, r.Waiting = c.withheld.listings, c.withheld.waiting(doubted)
	for _, b := range made.Brands {
		r.Brands.add(b.State)
	}
	for _, p := range made.Portals {
		r.Portals.add(p.State)
	}
	for _, e := range made.Endpoints {
		r.Endpoints.add(e.State)
		if e.RemovedAt == nil && e.Status == record.Suspended {
			r.Suspended++
		}
	}
	slices.SortFunc(r.Biggest,
		func(a, b Cluster) int { return cmp.Or(cmp.Compare(b.Listings, a.Listings), cmp.Compare(a.ID, b.ID)) })
	r.Biggest = r.Biggest[:min(biggest, len(r.Biggest))]
	return r
}

func (c *Count) add(s record.State) {
	switch {
	case s.RemovedAt != nil:
		c.Removed++
	case s.UnconfirmedSince != nil:
		c.Unconfirmed++
		c.Live++
	default:
		c.Live++
	}
}
