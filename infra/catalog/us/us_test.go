package us_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"recordbridge/infra/catalog/us"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/names"
)

// realList is the path of the vendors' published list, which is stored next to the project but is not part of it.
const realList = "../../../../shared/data/catalog/us-endpoints.ndjson.gz"

// row is a list row together with the institution name that the catalogue extracts from it.
type row struct {
	List, Name, URL, NPI, ZIP string

	state, key string
}

// Rows of the synthetic list and the published list. The tests share these rows so that all 47,650 are read only once.
var (
	invented = sync.OnceValues(func() ([]row, error) { return rowsIn(us.NewList()) })
	actual   = sync.OnceValues(func() ([]row, error) {
		packed, err := os.Open(realList)
		if err != nil {
			return nil, err
		}
		defer func() { _ = packed.Close() }()
		unpacked, err := gzip.NewReader(packed)
		if err != nil {
			return nil, err
		}
		return rowsIn(unpacked)
	})
)

func rowsIn(list io.Reader) ([]row, error) {
	var rows []row
	reader := names.NewReader()
	for lines := bufio.NewScanner(list); lines.Scan(); {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		name := reader.Read(r.Name, "")
		r.state, r.key = name.State, reader.Key(name.Display)
		rows = append(rows, r)
	}
	return rows, nil
}

func inventedRows(t *testing.T) []row {
	t.Helper()
	rows, err := invented()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func realRows(t *testing.T) []row {
	t.Helper()
	if testing.Short() {
		t.Skip("much of one thing, in one goroutine")
	}
	rows, err := actual()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no list of real endpoints: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

var (
	legalForm  = regexp.MustCompile(`(?i)\b(LLC|L\.L\.C|INC|PC|P\.C|PA|P\.A|PLLC|LTD|CORP|LLP|PLC|PSC|APC)\b`)
	stateFirst = regexp.MustCompile(`^[A-Z]{2} - `)
	letters    = regexp.MustCompile(`[A-Za-z]`)
)

func statistics(rows []row) map[string]float64 {
	lists, servers, said := map[string]float64{}, map[string]float64{}, map[string]float64{}
	states := map[string]map[string]bool{}
	s := map[string]float64{"rows": float64(len(rows))}
	all := s["rows"]
	count := func(what string, isSo bool) {
		if isSo {
			s[what] += 1 / all
		}
	}
	for _, r := range rows {
		lists[r.List]++
		servers[r.URL]++
		words := strings.Fields(r.Name)
		said[r.key]++
		if states[r.key] == nil {
			states[r.key] = map[string]bool{}
		}
		if r.state != "" {
			states[r.key][r.state] = true
		}
		s["words"] += float64(len(words)) / all
		count("of one or two words", len(words) <= 2)
		count("of seven words and more", len(words) >= 7)
		count("with a ZIP code", r.ZIP != "")
		count("with an NPI", r.NPI != "")
		count("in capitals", letters.MatchString(r.Name) && strings.ToUpper(r.Name) == r.Name)
		count("with a legal form", legalForm.MatchString(r.Name))
		count("with a state in front", stateFirst.MatchString(r.Name))
	}
	s["lists"], s["servers"], s["names"] = float64(len(lists)), float64(len(servers)), float64(len(said))
	for _, n := range lists {
		s["largest list"] = max(s["largest list"], n/all)
	}
	for _, n := range servers {
		s["largest server"] = max(s["largest server"], n/all)
		if n == 1 {
			s["alone at a server"] += 1 / all
		}
	}
	for key, n := range said {
		if n > 1 {
			s["said more than once"] += n / all
		}
		if len(states[key]) >= 2 {
			s["names in several states"]++
		}
	}
	return s
}

// within is the synthetic list's maximum relative deviation from the real list, by statistic.
var within = map[string]float64{
	"rows": 0.001, "lists": 0.05, "largest list": 0.01, "servers": 0.03, "largest server": 0.01, "alone at a server": 0.04,
	"with a ZIP code": 0.05, "with an NPI": 0.2,
	"in capitals": 0.1, "with a legal form": 0.1, "with a state in front": 0.05, "words": 0.05,
	"of one or two words": 0.25, "of seven words and more": 0.35,
	"names": 0.05, "said more than once": 0.1, "names in several states": 0.35,
}

func TestNewListMatchesStatisticsOfPublishedList(t *testing.T) {
	t.Parallel()
	actual, invented := statistics(realRows(t)), statistics(inventedRows(t))
	for what, tolerance := range within {
		t.Logf("%-25s real %10.3f invented %10.3f", what, actual[what], invented[what])
		if math.Abs(invented[what]-actual[what]) > tolerance*actual[what] {
			t.Errorf("%s: %.3f, the real list has %.3f", what, invented[what], actual[what])
		}
	}
}

// tradeWords lists the words that occur most often in real institutions' names.
const tradeWords = "md medical health center llc care family clinic associates medicine group hospital practice " +
	"healthcare wellness pediatrics services pain specialists " +
	"primary internal institute physicians county"

func TestNewListMatchesWordFrequenciesOfRealNames(t *testing.T) {
	t.Parallel()
	actual, invented := wordShares(realRows(t)), wordShares(inventedRows(t))
	for word := range strings.FieldsSeq(tradeWords) {
		if ratio := invented[word] / actual[word]; ratio < 0.5 || ratio > 2 {
			t.Errorf("%s is in %.4f of the names, in %.4f of the real ones", word, invented[word], actual[word])
		}
	}
}

func wordShares(rows []row) map[string]float64 {
	shares := map[string]float64{}
	for _, r := range rows {
		words := strings.FieldsFunc(strings.ToLower(r.Name), func(c rune) bool { return c < 'a' || c > 'z' })
		slices.Sort(words)
		for _, word := range slices.Compact(words) {
			shares[word] += 1 / float64(len(rows))
		}
	}
	return shares
}

func TestNewListContainsInventedNames(t *testing.T) {
	t.Parallel()
	isReal := map[string]string{}
	for _, r := range realRows(t) {
		isReal[r.key] = r.Name
	}
	for _, r := range inventedRows(t) {
		if found := isReal[r.key]; found != "" {
			t.Errorf("%q is %q", r.Name, found)
		}
	}
}

func TestNewListIsDeterministicAndValid(t *testing.T) {
	t.Parallel()
	first, err := io.ReadAll(us.NewList())
	if err != nil {
		t.Fatal(err)
	}
	second, err := io.ReadAll(us.NewList())
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("another one came, of %d bytes after %d (%v)", len(second), len(first), err)
	}
	report, err := listing.Read(t.Context(), listing.LanternNDJSON, bytes.NewReader(first),
		func(listing.Listing) error { return nil })
	twice := report.Entries - report.Listings // duplicate names on the largest server; the published list has 19
	if err != nil || twice > 40 || len(report.Problems) != 1 || report.Problems[0].Reason != listing.DuplicateKey {
		t.Errorf("%+v, %v", report, err)
	}
	for _, r := range inventedRows(t) {
		base, err := url.Parse(r.URL)
		if err != nil || base.Scheme != "https" || !strings.HasSuffix(base.Hostname(), ".us.example") {
			t.Fatalf("%s is no address that nobody has: %v", r.URL, err)
		}
		if strings.HasPrefix(r.NPI, "1") || strings.HasPrefix(r.NPI, "2") {
			t.Fatalf("%s can be a real NPI", r.NPI)
		}
	}
}
