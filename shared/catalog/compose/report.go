package compose

import (
	"cmp"
	"maps"
	"slices"

	"recordbridge/shared/catalog/record"
)

// Report is what came of composing a catalogue, for an operator.
type Report struct {
	Listings  int   `json:"listings"` // that were read
	Brands    Count `json:"brands"`
	Portals   Count `json:"portals"`
	Endpoints Count `json:"endpoints"`
	Suspended int   `json:"suspended"` // endpoints that nobody can be sent to

	// Duplicates are brands of which there is more than one listing; Extra are the listings beyond the first of each, and
	// Joined how many of these each rule has found.
	Duplicates int          `json:"duplicates"`
	Extra      int          `json:"extra"`
	Joined     map[Rule]int `json:"joined"`
	Biggest    []Cluster    `json:"biggest"` // the 20 with the most listings

	Conflicts map[Conflict]Seen `json:"conflicts"`
	Dropped   map[Drop]Seen     `json:"dropped"`

	Waiting []Wait `json:"-"` // what is not in the catalogue until an operator lets it; there can be thousands
}

// Count are records by how they stand.
type Count struct {
	Live        int `json:"live"` // Unconfirmed among them
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

// Seen is how often something was, and where the first few times.
type Seen struct {
	Count int      `json:"count"`
	First []string `json:"first"`
}

// Conflict is something that lists, or overrides, say in two ways.
type Conflict string

// Drop is why something that lists say is not in the catalogue.
type Drop string

const (
	// two listings of one list have one key, and say different things: both are kept
	conflictKey    Conflict = "key"
	conflictPartOf Conflict = "part_of" // a brand is part of itself, or of what is not there
	conflictID     Conflict = "id"      // two have chosen one id, or an id is none: the first keeps it
	// two lists say different platforms of one server: the better source is believed
	conflictPlatform Conflict = "platform"
	conflictRelease  Conflict = "release"  // likewise of its release of FHIR
	conflictOverride Conflict = "override" // it names no brand, or leads in a circle

	droppedCopy    Drop = "copy"    // a listing that says what another of its list with the same key says
	droppedAddress Drop = "address" // of a server, which is none (fhir.ParseBase)
	droppedOld     Drop = "old"     // the DSTU2 or STU3 side of a server that has an R4 one
	droppedRefused Drop = "refused" // at a host that an operator has refused
)

// firstFew and biggest are how many the report names.
const (
	firstFew = 20
	biggest  = 20
)

// reporter counts while a catalogue is made.
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

// count takes a brand's listings in.
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

// summed is the report of a catalogue that is made.
func (c *round) summed(made record.Catalog, doubted []Wait) Report {
	r := c.report.Report
	r.Listings, r.Waiting = c.aside.listings, c.aside.waiting(doubted)
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
