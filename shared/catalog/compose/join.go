package compose

import (
	"maps"
	"slices"
	"strings"

	"recordbridge/shared/catalog/geo"
	"recordbridge/shared/catalog/names"
)

// Rule is a reason to treat two listings as the same institution.
type Rule string

// Rules for joining listings, from most to least reliable.
const (
	RuleIdentifier Rule = "identifier" // same business identifier
	RuleNPI        Rule = "npi"        // same NPI, which no list assigns to more than one name
	RuleNameZIP    Rule = "name_zip"   // same name and ZIP code
	// same name, no different places, and either the same customer number at a vendor or the same single-institution
	// server
	RuleNameTenant Rule = "name_tenant"
	RuleNameServer Rule = "name_server" // same name on a server shared by many institutions, and no conflicting places
	// same state and same distinctive name, if at least one listing has no place more precise than its state
	RuleNameState Rule = "name_state"
)

const (
	// fewNames is the maximum number of names on a server that belongs to one institution. The limit is greater than
	// one because hospitals also list departments and former names.
	fewNames = 8
	// minCode is the minimum length of a vendor's customer number. codeNames is the maximum number of names that may
	// share one customer number.
	minCode   = 6
	codeNames = 2
	// rareWord is the maximum number of names that can contain a rare word.
	rareWord   = 10
	minRare    = 4 // minimum number of letters in a rare word
	wholeNames = 2 // minimum number of words in a distinctive name
)

type joiner struct {
	words

	rows   []*row
	report *reporter
	joined forest // sets of rows that describe the same institution
	byName map[string][]int
}

func newJoiner(rows []*row, report *reporter, reader *names.Reader) *joiner {
	return &joiner{
		words: words{map[string]int{}, reader}, rows: rows, report: report, joined: newForest(len(rows)),
		byName: map[string][]int{},
	}
}

// join determines which rows describe the same institution. Rows with the same name in different places are joined only
// if they share an identifier or a vendor's customer number.
func (c *joiner) join() {
	c.joinIdentified()
	byNameZIP := map[string]int{}
	for i, r := range c.rows {
		for _, zip := range r.zips {
			c.joinBy(byNameZIP, r.key+"|"+zip, i, RuleNameZIP)
		}
	}
	for i, r := range c.rows {
		c.byName[r.key] = append(c.byName[r.key], i)
	}
	c.count(c.byName)
	c.joinServed()
	c.joinRare()
}

func (c *joiner) joinServed() {
	own := ownServers(c.rows)
	// rows with the same name, keyed by name and server or customer number
	byNumber, coded, owned, many := map[string]int{}, map[string][]int{}, map[string][]int{}, map[string][]int{}
	for i, r := range c.rows {
		for _, s := range r.servers {
			switch mark := r.key + "|#" + s.code; {
			case own.codes[s.code] && s.hasNumber():
				c.joinBy(byNumber, mark, i, RuleNameTenant)
			case own.codes[s.code] && s.isGiven:
				coded[mark] = append(coded[mark], i)
				fallthrough
			case own.codes[s.code]:
				owned[mark] = append(owned[mark], i)
			}
			switch mark := r.key + "|" + s.tenant; {
			case own.hosts[s.host]:
				owned[r.key+"|"+s.host] = append(owned[r.key+"|"+s.host], i)
			case own.tenants[s.tenant]:
				owned[mark] = append(owned[mark], i)
			default:
				many[mark] = append(many[mark], i)
			}
		}
	}
	for _, mark := range sortedKeys(coded) {
		c.joinNear(coded[mark])
	}
	for _, mark := range sortedKeys(owned) {
		c.joinPlaced(c.roots(owned[mark]), RuleNameTenant, true)
	}
	for _, mark := range sortedKeys(many) {
		name, _, _ := strings.Cut(mark, "|")
		c.joinPlaced(c.roots(many[mark]), RuleNameServer, c.isRare(name))
	}
}

// joinBy joins row i with the first row that was registered in first under mark.
func (c *joiner) joinBy(first map[string]int, mark string, i int, rule Rule) {
	j, seen := first[mark]
	if !seen {
		first[mark] = i
		return
	}
	c.joinRows(i, j, rule)
}

func (c *joiner) joinRows(i, j int, rule Rule) {
	if c.joined.join(i, j) {
		c.report.joined(rule)
	}
}

func (c *joiner) joinIdentified() {
	first := map[string]int{}
	mixed := mixedNPIs(c.rows)
	for i, r := range c.rows {
		for _, id := range r.listing.Identifiers {
			if id.System != "" && id.Value != "" {
				c.joinBy(first, "identifier|"+id.System+"|"+id.Value, i, RuleIdentifier)
			}
		}
		for _, npi := range r.npis {
			mark := "npi|" + npi
			if mixed[npi] {
				mark += "|" + r.key
			}
			c.joinBy(first, mark, i, RuleNPI)
		}
	}
}

// mixedNPIs returns the NPIs that a single list assigns to several names. An NPI with several names belongs to a parent
// organisation and doesn't identify any of its parts.
func mixedNPIs(rows []*row) map[string]bool {
	type place struct{ source, npi string }
	seen, mixed := map[place]string{}, map[string]bool{}
	for _, r := range rows {
		for _, npi := range r.npis {
			at := place{r.list.Source, npi}
			if name, isSeen := seen[at]; isSeen && name != r.key {
				mixed[npi] = true
			}
			seen[at] = r.key
		}
	}
	return mixed
}

// owned holds the hosts, servers and customer numbers that belong to only a few names.
type owned struct{ hosts, tenants, codes map[string]bool }

func ownServers(rows []*row) owned {
	hosts, tenants, codes := counts{}, counts{}, counts{}
	for _, r := range rows {
		for _, s := range r.servers {
			hosts.add(s.host, r.key)
			tenants.add(s.tenant, r.key)
			if len(s.code) >= minCode {
				codes.add(s.code, r.key)
			}
		}
	}
	return owned{hosts.upTo(fewNames), tenants.upTo(fewNames), codes.upTo(codeNames)}
}

// counts maps each key to a set of names.
type counts map[string]map[string]bool

func (c counts) add(of, name string) {
	if c[of] == nil {
		c[of] = map[string]bool{}
	}
	c[of][name] = true
}

func (c counts) upTo(most int) map[string]bool {
	few := map[string]bool{}
	for of, names := range c {
		if len(names) <= most {
			few[of] = true
		}
	}
	return few
}

type set struct {
	row    int
	zips   []string
	states []string
}

// roots returns the sets that contain the given rows, in order. All rows must have the same name. Each returned set
// contains the ZIP codes and states of all of its rows with that name.
func (c *joiner) roots(rows []int) []set {
	byRoot := map[int]*set{}
	for _, i := range rows {
		root := c.joined.root(i)
		byRoot[root] = &set{row: root}
	}
	for _, i := range c.byName[c.rows[rows[0]].key] {
		if s := byRoot[c.joined.root(i)]; s != nil {
			s.zips = append(s.zips, c.rows[i].zips...)
			s.states = append(s.states, c.rows[i].states...)
		}
	}
	sets := make([]set, 0, len(byRoot))
	for _, root := range slices.Sorted(maps.Keys(byRoot)) {
		s := byRoot[root]
		sets = append(sets, set{root, sorted(s.zips), sorted(s.states)})
	}
	return sets
}

// joinPlaced joins sets that have the same name and no conflicting places. Sets whose only known place is a state are
// joined with each other, and with the only more precisely located set in that state. Sets without any place are joined
// with each other. If isTold is true and all other sets form a single set, sets without a place are also joined with
// that set.
func (c *joiner) joinPlaced(sets []set, rule Rule, isTold bool) {
	c.joinInStates(sets, rule)
	var nowhere, somewhere []int
	for _, s := range sets {
		if len(s.states) == 0 && len(s.zips) == 0 {
			nowhere = append(nowhere, s.row)
		} else {
			somewhere = append(somewhere, c.joined.root(s.row))
		}
	}
	for _, i := range nowhere {
		c.joinRows(i, nowhere[0], rule)
	}
	slices.Sort(somewhere)
	if somewhere = slices.Compact(somewhere); isTold && len(nowhere) > 0 && len(somewhere) == 1 {
		c.joinRows(nowhere[0], somewhere[0], rule)
	}
}

// joinNear joins rows that have the same name, the same customer number and nearby places. The rows may be different
// sites of one institution.
func (c *joiner) joinNear(rows []int) {
	for k, i := range rows {
		for _, j := range rows[:k] {
			if slices.ContainsFunc(c.rows[i].zips, func(zip string) bool { return isNear(zip, c.rows[j].zips) }) {
				c.joinRows(i, j, RuleNameTenant)
			}
		}
	}
}

// near is the maximum distance in kilometres between two sites of one institution, as calculated by package geo.
const near = 100

func isNear(zip string, others []string) bool {
	return slices.ContainsFunc(others, func(other string) bool {
		km, known := geo.Distance(zip, other)
		return known && km <= near && geo.State(zip) == geo.State(other)
	})
}

// joinInStates joins sets whose only known place is a state with each other, and with the only more precisely located
// set in that state.
func (c *joiner) joinInStates(sets []set, rule Rule) {
	vague, exact := map[string][]int{}, map[string]map[int]bool{}
	for _, s := range sets {
		if len(s.zips) == 0 && len(s.states) == 1 {
			vague[s.states[0]] = append(vague[s.states[0]], s.row)
			continue
		}
		for _, state := range s.states {
			if exact[state] == nil {
				exact[state] = map[int]bool{}
			}
			exact[state][c.joined.root(s.row)] = true
		}
	}
	for _, state := range sortedKeys(vague) {
		rows := vague[state]
		for _, i := range rows {
			c.joinRows(i, rows[0], rule)
		}
		if len(exact[state]) == 1 {
			for only := range exact[state] {
				c.joinRows(only, rows[0], rule)
			}
		}
	}
}

// joinRare joins listings on different servers by name and state if their name contains a word that is rare in other
// names.
func (c *joiner) joinRare() {
	for _, name := range sortedKeys(c.byName) {
		if rows := c.byName[name]; len(rows) > 1 && c.isRare(name) {
			c.joinInStates(c.roots(rows), RuleNameState)
		}
	}
}

// words maps each word to the number of names that contain it.
type words struct {
	seen   map[string]int
	common *names.Reader
}

func (w words) count(byName map[string][]int) {
	for name := range byName {
		for _, word := range sorted(strings.Fields(name)) {
			w.seen[word]++
		}
	}
}

func (w words) isRare(name string) bool {
	all := strings.Fields(name)
	return len(all) >= wholeNames && slices.ContainsFunc(all, func(word string) bool {
		return len(word) >= minRare && w.seen[word] <= rareWord && !w.common.IsCommon(word)
	})
}
