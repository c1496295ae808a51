// Package compose builds a catalogue from lists (docs/adr/0023-the-catalogue.md,
// docs/adr/0027-names-and-duplicates.md). The package decides which listings describe the same institution and which
// source takes precedence. The package also assigns IDs to records and decides what happens to records that are no
// longer in any list. The package is pure: the same input produces the same catalogue, byte for byte, regardless of the
// order of lists and listings.
package compose

import (
	"slices"
	"strings"
	"time"

	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/names"
	"recordbridge/shared/catalog/record"
)

// List contains a source's institutions in one mode.
type List struct {
	Source   string // ID of the source
	Priority int    // if sources conflict, the one with the highest priority wins
	Platform string // platform of servers whose listings don't state one; may be empty
	// UnconfirmedSince is the time at which the source became unreadable, or zero if the last read succeeded. While the
	// source is unreadable, Listings contains the last accepted listings.
	UnconfirmedSince time.Time
	Listings         []listing.Listing
	// Trusted reports whether operators created the list's institutions. A trusted list has an operator's authority.
	Trusted bool
}

// Override is an operator's decision about a brand or a host. An override takes precedence over every list.
type Override struct {
	Kind OverrideKind
	ID   string // ID of the brand, or of a brand merged into it; for Serves and Refuse, the host (catalog.Host)
	// depends on Kind. Merge: the successor's ID; Alias and Named: the name; Portal: the host; Serves: the platform
	Value string
}

// OverrideKind is the kind of an Override.
type OverrideKind string

// Kinds of override.
const (
	Hide  OverrideKind = "hide"
	Show  OverrideKind = "show"
	Merge OverrideKind = "merge"
	Alias OverrideKind = "alias"
	Named OverrideKind = "name"
	// Portal allows a brand to have servers at a host. If the ID is EveryBrand, every brand may have servers at the
	// host.
	Portal OverrideKind = "portal"
	// Serves sets the platform of the servers at a host.
	Serves OverrideKind = "platform"
	// Refuse excludes a host from the catalogue.
	Refuse OverrideKind = "refuse"
)

// EveryBrand is the ID in a Portal override for a host that many institutions share, such as a vendor's host.
const EveryBrand = "*"

// Input is the input from which Compose builds a catalogue.
type Input struct {
	Mode      string         // mode of all lists: "test" or "live"
	Before    record.Catalog // last published catalogue; zero before the first publication
	Lists     []List
	Overrides []Override
	// Platform returns the platform whose profile contains the host of a FHIR base URL, or "" if there is none.
	// Platform may be nil.
	Platform func(base string) string
	// Domain returns the registrable domain of a host name (suffix.Domain). If Domain is nil, each host counts as its
	// own domain.
	Domain func(host string) string
	Now    time.Time
}

// Generic is the platform type of servers whose platform is unknown (platform.Generic).
const Generic = "smart"

// Compose builds the catalogue from in. Records in Before that are no longer in any list are retained with RemovedAt
// set. Records from unreadable lists are retained with UnconfirmedSince set. If the result is passed as Before with
// unchanged lists, Compose returns the same bytes, whatever the time.
func Compose(in Input) (record.Catalog, Report) {
	made, report := compose(in)
	if !in.isByHand() && !report.hasSetAside() {
		return made, report
	}
	return in.settled(made, report)
}

// state is an intermediate result of settled.
type state struct {
	made   record.Catalog
	report Report
	key    string // encoded catalogue without its records' times
}

// settled composes the catalogue repeatedly, each time from the previous result, until a result recurs. The final
// result is either stable or part of a cycle, from which settled always chooses the same member.
func (in Input) settled(made record.Catalog, report Report) (record.Catalog, Report) {
	first := in.Before
	seen := []state{{made: made, report: report, key: undated(made)}}
	for range settling {
		in.Before = seen[len(seen)-1].made
		made, report = compose(in)
		redate(made, first)
		next := state{made, report, undated(made)}
		if at := slices.IndexFunc(seen, func(s state) bool { return s.key == next.key }); at >= 0 {
			seen = append(seen[at+1:], next)
			least := slices.MinFunc(seen, func(a, b state) int { return strings.Compare(a.key, b.key) })
			return least.made, least.report
		}
		seen = append(seen, next)
	}
	return made, report
}

// settling is the maximum number of times that settled composes the catalogue again. One pass may not be enough,
// because IDs that were chosen or merged manually can contradict the published IDs. The published catalogue also
// affects which servers must wait for approval.
const settling = 32

// isByHand reports whether any ID was merged by an operator, or was chosen or merged by a manually maintained list.
func (in Input) isByHand() bool {
	return slices.ContainsFunc(in.Overrides, func(o Override) bool { return o.Kind == Merge }) ||
		slices.ContainsFunc(in.Lists, func(of List) bool {
			return slices.ContainsFunc(of.Listings, func(l listing.Listing) bool { return l.ID != "" || len(l.Merged) > 0 })
		})
}

// round is a single attempt to compose a catalogue from rows. Each step has its own type, which holds the state that
// only that step needs.
type round struct {
	in        Input
	now       time.Time
	decisions hostDecisions
	withheld  *withheld
	report    *reporter
	names     *names.Reader
	rows      []*row
	brands    map[string]string // successors of brands merged in this catalogue
}

func compose(in Input) (record.Catalog, Report) {
	read := &reading{
		in: in, decisions: hostDecisionsOf(in.Overrides), report: newReporter(), names: names.NewReader(),
		servers: map[string]*server{},
	}
	rows := read.readRows(in.Lists)
	read.inherit(rows)
	for apart := newWithheld(len(rows)); ; {
		c := &round{
			in: in, now: in.Now.UTC().Round(0), decisions: read.decisions, withheld: apart, report: read.report.copied(),
			names: read.names, rows: apart.remaining(rows), brands: map[string]string{},
		}
		joined := newJoiner(c.rows, c.report, c.names)
		joined.join()
		groups := joined.groups()
		servers := (&surveyor{c, map[string]string{}}).factsOfServers()
		(&identifier{c, joined.words, map[string]*group{}}).identify(groups, servers)
		groups = (&merger{c}).mergeByHand(groups)
		if (&assessor{c}).setAside(groups, servers) {
			continue
		}
		build := &builder{round: c}
		made := build.build(groups, servers)
		build.override(made)
		carry := &carrier{c}
		carry.carryOver(made)
		made.showHosts()
		made.markChoices(in)
		carry.date(made)
		return made.Catalog, c.summed(made.Catalog, build.doubted)
	}
}
