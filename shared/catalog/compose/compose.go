// Package compose creates a catalogue from lists (docs/adr/0023-the-catalogue.md,
// docs/adr/0027-names-and-duplicates.md). It decides which listings describe one institution, which of its sources
// takes precedence, which ids records keep, and what happens to records that are in no list any more. It is pure: the
// same input produces the same catalogue, byte for byte, regardless of the order of lists and listings.
package compose

import (
	"slices"
	"strings"
	"time"

	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/names"
	"recordbridge/shared/catalog/record"
)

// List holds a source's institutions of one mode.
type List struct {
	Source   string // the source's id
	Priority int    // if two sources differ, the higher priority takes precedence
	Platform string // platform of servers for which the list names none; empty if unknown
	// UnconfirmedSince is the time since which the source could not be read, or zero if it was read. Listings are the last
	// accepted ones.
	UnconfirmedSince time.Time
	Listings         []listing.Listing
	// Trusted marks a list of institutions that operators have created themselves; it has an operator's authority.
	Trusted bool
}

// Override is an operator's decision about a brand or a host. It takes precedence over every list.
type Override struct {
	Kind OverrideKind
	ID   string // of the brand, or one merged into it; for Serves and Refuse: the host (catalog.Host)
	// for Merge: the id of the brand that replaces it; for Alias and Name: the text; for Portal: the host; for Serves: the
	// platform
	Value string
}

// OverrideKind is the kind of a decision.
type OverrideKind string

// The kinds of overrides.
const (
	Hide  OverrideKind = "hide"
	Show  OverrideKind = "show"
	Merge OverrideKind = "merge"
	Alias OverrideKind = "alias"
	Named OverrideKind = "name"
	// Portal allows a brand to have servers at a host; with EveryBrand, all brands.
	Portal OverrideKind = "portal"
	// Serves sets the platform of a host's servers.
	Serves OverrideKind = "platform"
	// Refuse excludes a host from the catalogue.
	Refuse OverrideKind = "refuse"
)

// EveryBrand is the ID of a Portal override for a host shared by many institutions, such as a vendor's.
const EveryBrand = "*"

// Input holds everything from which a catalogue is composed.
type Input struct {
	Mode      string         // "test" or "live"; applies to all lists
	Before    record.Catalog // as last published; zero before the first publication
	Lists     []List
	Overrides []Override
	// returns the platform whose profile knows the host of a FHIR base; empty, or nil, if none does
	Platform func(base string) string
	Now      time.Time
}

// Generic is the platform type of servers whose platform is unknown (platform.Generic).
const Generic = "smart"

// Compose composes the catalogue. Records of Before that are in no list any more are kept with RemovedAt; records of
// lists that could not be read are kept with UnconfirmedSince. Composing the result again with the same lists yields
// the same bytes at any later time.
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
	key    string // encodes the catalogue without its times
}

// settled composes the catalogue from its own result until a result repeats. Then the result is either stable or part
// of a cycle, from which settled always chooses the same member.
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

// settling limits the rounds of composing until the result no longer changes. Ids chosen or merged by hand can
// contradict what was published, and what waits depends on what was published, so that one round may not be enough.
const settling = 32

// isByHand reports whether any ids are chosen or merged by hand.
func (in Input) isByHand() bool {
	return slices.ContainsFunc(in.Overrides, func(o Override) bool { return o.Kind == Merge }) ||
		slices.ContainsFunc(in.Lists, func(of List) bool {
			return slices.ContainsFunc(of.Listings, func(l listing.Listing) bool { return l.ID != "" || len(l.Merged) > 0 })
		})
}

// round is one attempt to compose a catalogue from rows. Each step has its own type, with the state that only this step
// needs.
type round struct {
	in        Input
	now       time.Time
	decisions hostDecisions // operators' decisions about hosts
	withheld  *withheld
	report    *reporter
	names     *names.Reader
	rows      []*row
	brands    map[string]string // maps ids merged in this catalogue to their successors
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
		carry.date(made)
		return made.Catalog, c.summed(made.Catalog, build.doubted)
	}
}
