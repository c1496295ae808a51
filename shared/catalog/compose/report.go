package compose

import (
	"cmp"
	"maps"
	"slices"

	"recordbridge/shared/catalog/record"
)

// Report is the result of composing a catalogue, for an operator.
type Report struct {
	Listings  int   `json:"listings"` // number of listings read
	Brands    Count `json:"brands"`
	Portals   Count `json:"portals"`
	Endpoints Count `json:"endpoints"`
	Suspended int   `json:"suspended"` // endpoints to which patients can't be sent

	// Duplicates is the number of brands with more than one listing; Extra is the number of listings beyond the first of
	// each, and Joined the number of these found by each rule.
	Duplicates int          `json:"duplicates"`
	Extra      int          `json:"extra"`
	Joined     map[Rule]int `json:"joined"`
	Biggest    []Cluster    `json:"biggest"` // the 20 brands with the most listings

	Conflicts map[Conflict]Seen `json:"conflicts"`
	Dropped   map[Drop]Seen     `json:"dropped"`

	Waiting []Wait `json:"-"` // servers that wait for an operator's approval; there may be thousands
}

// Count is the number of records by state.
type Count struct {
	Live        int `json:"live"` // includes Unconfirmed
	Unconfirmed int `json:"unconfirmed"`
	Removed     int `json:"removed"`
}

// Cluster is a brand with its listings.
type Cluster struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Listings int      `json:"listings"`
	Sources  []string `json:"sources"`
}

// Seen is the number of occurrences, with the first few of them.
type Seen struct {
	Count int      `json:"count"`
	First []string `json:"first"`
}

// Conflict names a contradiction between lists or overrides.
type Conflict string

// Drop names the reason why something in a list is not in the catalogue.
type Drop string

const (
	// two listings of one list have the same key and differ: both are kept
	conflictKey    Conflict = "key"
	conflictPartOf Conflict = "part_of" // a brand is part of itself or of a missing brand
	conflictID     Conflict = "id"      // an id is invalid, or chosen twice: the first keeps it
	// two lists name different platforms of a server: the better source takes precedence
	conflictPlatform Conflict = "platform"
	conflictRelease  Conflict = "release"  // the same for its FHIR release
	conflictOverride Conflict = "override" // it names no brand, or forms a cycle

	droppedCopy    Drop = "copy"    // a listing equal to another one with the same key in its list
	droppedAddress Drop = "address" // an invalid server URL (fhir.ParseBase)
	droppedOld     Drop = "old"     // the DSTU2 or STU3 side of a server that also has R4
	droppedRefused Drop = "refused" // a server at a host that an operator has refused
)

// firstFew and biggest limit the entries that the report names.
const (
	firstFew = 20
	biggest  = 20
)

// reporter counts while a catalogue is composed.
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

// copied returns a reporter that continues from the counts of r.
func (r *reporter) copied() *reporter {
	next := &reporter{r.Report}
	next.Joined, next.Conflicts, next.Dropped = maps.Clone(r.Joined), maps.Clone(r.Conflicts), maps.Clone(r.Dropped)
	return next
}

// count adds a brand's listings.
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

// summed returns the report of a composed catalogue.
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
