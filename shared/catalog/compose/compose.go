// Package compose owns how a catalogue is made of lists (docs/adr/0023-the-catalogue.md,
// docs/adr/0027-names-and-duplicates.md): which listings are one institution, which of its sources is believed, which
// ids records keep, and what becomes of those that are in no list any more. It is pure: the same input makes the same
// catalogue, byte for byte, in whichever order lists and listings come.
package compose

import (
	"slices"
	"strings"
	"time"

	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/names"
	"recordbridge/shared/catalog/record"
)

// List is what a source says of institutions of one mode.
type List struct {
	Source   string // its id
	Priority int    // of two sources that differ, the greater is believed
	Platform string // of servers of which the list does not say it itself; empty where it cannot be told
	// UnconfirmedSince is since when the source could not be read; zero for one that could. Listings are the
	// last that were accepted.
	UnconfirmedSince time.Time
	Listings         []listing.Listing
	// Trusted marks the institutions that operators have made themselves: what it says is an operator's word.
	Trusted bool
}

// Override is an operator's decision about a brand or a host. It takes precedence over every list.
type Override struct {
	Kind OverrideKind
	ID   string // of the brand, or one that was merged into it; of Serves and Refuse: the host (catalog.Host)
	// of Merge: the id of the brand that takes its place; of Alias and Name: the text; of Portal: the
	// host; of Serves: the platform
	Value string
}

// OverrideKind is what is decided.
type OverrideKind string

// The kinds of overrides.
const (
	Hide  OverrideKind = "hide"
	Show  OverrideKind = "show"
	Merge OverrideKind = "merge"
	Alias OverrideKind = "alias"
	Named OverrideKind = "name"
	// Portal lets a brand have servers at a host; for EveryBrand all brands.
	Portal OverrideKind = "portal"
	// Serves says of which platform a host's servers are.
	Serves OverrideKind = "platform"
	// Refuse keeps a host out of the catalogue.
	Refuse OverrideKind = "refuse"
)

// EveryBrand is the ID of a Portal override of a host that has many institutions, as a vendor's.
const EveryBrand = "*"

// Input is all that a catalogue is made of.
type Input struct {
	Mode      string         // "test" or "live": of all lists
	Before    record.Catalog // as it was published last; zero before the first
	Lists     []List
	Overrides []Override
	// returns the platform whose profile knows the host of a FHIR base; empty, or nil, if none does
	Platform func(base string) string
	Now      time.Time
}

// Generic is the platform type of servers of which nobody knows it (platform.Generic).
const Generic = "smart"

// Compose makes the catalogue. What is in Before and in no list any more is kept with RemovedAt; what is in lists that
// could not be read is kept with UnconfirmedSince. Composing the result again with the same lists gives the same
// bytes, whenever it is done.
func Compose(in Input) (record.Catalog, Report) {
	made, report := compose(in)
	if !in.isByHand() && !report.hasSetAside() {
		return made, report
	}
	return in.settled(made, report)
}

// state is a catalogue on its way to rest.
type state struct {
	made   record.Catalog
	report Report
	key    string // of all that it says but for when
}

// settled composes a catalogue of itself until it is one that it was before: then it is at rest, or goes round in a
// circle, of which it is always the same one that counts.
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

// isByHand reports whether ids are chosen or merged by hand.
func (in Input) isByHand() bool {
	return slices.ContainsFunc(in.Overrides, func(o Override) bool { return o.Kind == Merge }) ||
		slices.ContainsFunc(in.Lists, func(of List) bool {
			return slices.ContainsFunc(of.Listings, func(l listing.Listing) bool { return l.ID != "" || len(l.Merged) > 0 })
		})
}

// round is one attempt to make a catalogue of rows. Each step has a type of its own, with the state that no other step
// needs.
type round struct {
	in     Input
	now    time.Time
	said   said // by operators, of hosts
	aside  *aside
	report *reporter
	names  *names.Reader
	rows   []*row
	brands map[string]string // ids that were merged in this catalogue, by id: into which
}

func compose(in Input) (record.Catalog, Report) {
	read := &reading{
		in: in, said: saidOf(in.Overrides), report: newReporter(), names: names.NewReader(), servers: map[string]*server{},
	}
	rows := read.readRows(in.Lists)
	read.inherit(rows)
	for apart := newAside(len(rows)); ; {
		c := &round{
			in: in, now: in.Now.UTC().Round(0), said: read.said, aside: apart, report: read.report.copied(),
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
