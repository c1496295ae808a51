package search_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"os"
	"regexp"
	"sync"
	"testing"

	"recordbridge/shared/catalog/geo"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/words/ids"
)

// realList is the path, outside the repository, of a list of endpoints that vendors publish.
const realList = "../../../../shared/data/catalog/us-endpoints.ndjson.gz"

// row describes an institution in the list.
type row struct {
	List, Name, URL, ZIP string
}

type published struct {
	entries []search.Entry
	form    []byte
	index   *search.Index
}

// readReal reads the list when a test or benchmark first needs it.
var readReal = sync.OnceValues(func() (published, error) {
	packed, err := os.Open(realList)
	if err != nil {
		return published{}, err
	}
	defer func() { _ = packed.Close() }()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return published{}, err
	}
	var r published
	seen := map[string]bool{}
	for lines := bufio.NewScanner(unpacked); lines.Scan(); {
		var listed row
		if err = json.Unmarshal(lines.Bytes(), &listed); err != nil {
			return published{}, err
		}
		if e := entryOf(listed); !seen[e.Brand.ID] {
			seen[e.Brand.ID] = true
			r.entries = append(r.entries, e)
		}
	}
	if r.index, err = search.Build(r.entries); err != nil {
		return published{}, err
	}
	var form bytes.Buffer
	err = r.index.Write(&form)
	r.form = form.Bytes()
	return r, err
})

// skipInShort skips a test in short mode because it is much slower under the race detector.
// TestSearchIsSafeForConcurrentUse covers concurrent access.
func skipInShort(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("long under the race detector, and of one goroutine")
	}
}

// realData returns the real list, or skips the test if the list is missing.
func realData(tb testing.TB) published {
	tb.Helper()
	skipInShort(tb)
	r, err := readReal()
	if err != nil {
		tb.Skipf("no list of real endpoints: %v", err)
	}
	return r
}

var (
	stateFirst = regexp.MustCompile(`^([A-Z]{2}) - (.+)$`)
	stateLast  = regexp.MustCompile(`^.+ ([A-Z]{2})$`)
)

// entryOf creates a brand from a row. Rows with the same name and ZIP code or URL form one brand. The composed
// catalogue contains fewer duplicates.
func entryOf(r row) search.Entry {
	name, state := r.Name, geo.State(r.ZIP)
	if m := stateFirst.FindStringSubmatch(name); m != nil && geo.StateName(m[1]) != "" {
		state, name = m[1], m[2]
	} else if m := stateLast.FindStringSubmatch(name); m != nil && r.ZIP != "" && geo.StateName(m[1]) != "" {
		state = m[1]
	}
	e := brand(name + "|")
	e.Brand.ID = ids.Derive("brand", keyOf(name), state, cmp.Or(r.ZIP, r.URL))
	portal := record.Portal{
		ID: ids.Derive("portal", r.URL), Name: name,
		EndpointIDs: []string{ids.Derive("endpoint", r.URL)}, LastUpdated: e.Brand.LastUpdated,
	}
	e.Portals, e.Brand.PortalIDs = []record.Portal{portal}, []string{portal.ID}
	if state != "" || r.ZIP != "" {
		e.Brand.Locations = []record.Location{{State: state, PostalCode: r.ZIP, Country: "US"}}
	}
	return e
}

func TestSearchReturnsRelevantHitsForRealNames(t *testing.T) {
	t.Parallel()
	r := realData(t)
	judge(t, r.index, r.entries)
}

func TestSearchReturnsRelevantHitsForInventedNames(t *testing.T) {
	t.Parallel()
	skipInShort(t)
	entries := invented(t, 4000, 3)
	judge(t, indexOf(t, entries), entries)
}

func TestSearchLimitsCPUTimeOfHostileQueriesOnRealNames(t *testing.T) {
	t.Parallel()
	boundHostile(t, realData(t).index)
}

func TestSearchLimitsCPUTimeOfHostileQueries(t *testing.T) {
	t.Parallel()
	skipInShort(t)
	boundHostile(t, indexOf(t, invented(t, 4000, 7)))
}
