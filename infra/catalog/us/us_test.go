package us_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/catalog/us"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/names"
)

// realList holds what vendors publish, beside the project; it is no part of it.
const realList = "../../../../shared/data/catalog/us-endpoints.ndjson.gz"

type row struct{ List, Name, URL, NPI, ZIP string }

func rowsIn(t *testing.T, list io.Reader) []row {
	t.Helper()
	var rows []row
	for lines := bufio.NewScanner(list); lines.Scan(); {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

func realRows(t *testing.T) []row {
	t.Helper()
	if testing.Short() {
		t.Skip("much of one thing, in one goroutine")
	}
	packed, err := os.Open(realList)
	if err != nil {
		t.Skipf("no list of real endpoints: %v", err)
	}
	defer func() { _ = packed.Close() }()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	return rowsIn(t, unpacked)
}

var (
	legalForm  = regexp.MustCompile(`(?i)\b(LLC|L\.L\.C|INC|PC|P\.C|PA|P\.A|PLLC|LTD|CORP|LLP|PLC|PSC|APC)\b`)
	stateFirst = regexp.MustCompile(`^[A-Z]{2} - `)
	letters    = regexp.MustCompile(`[A-Za-z]`)
)

// statistics are what a list looks like: numbers of things, and shares of rows.
func statistics(rows []row) map[string]float64 {
	lists, servers, said := map[string]float64{}, map[string]float64{}, map[string]float64{}
	states := map[string]map[string]bool{}
	s := map[string]float64{"rows": float64(len(rows))}
	all := s["rows"]
	reader := names.NewReader()
	count := func(what string, isSo bool) {
		if isSo {
			s[what] += 1 / all
		}
	}
	for _, r := range rows {
		lists[r.List]++
		servers[r.URL]++
		words := strings.Fields(r.Name)
		name := reader.Read(r.Name, "")
		key := reader.Key(name.Display)
		said[key]++
		if states[key] == nil {
			states[key] = map[string]bool{}
		}
		if name.State != "" {
			states[key][name.State] = true
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

// within is how far the invented list may be from the real one, as a share of what that has.
var within = map[string]float64{
	"rows": 0.001, "lists": 0.05, "largest list": 0.01, "servers": 0.03, "largest server": 0.01, "alone at a server": 0.04, "with a ZIP code": 0.05, "with an NPI": 0.2,
	"in capitals": 0.1, "with a legal form": 0.1, "with a state in front": 0.05, "words": 0.05, "of one or two words": 0.25, "of seven words and more": 0.35,
	"names": 0.05, "said more than once": 0.1, "names in several states": 0.35,
}

func TestTheInventedListLooksLikeTheRealOne(t *testing.T) {
	t.Parallel()
	actual, invented := statistics(realRows(t)), statistics(rowsIn(t, us.NewList()))
	for what, tolerance := range within {
		t.Logf("%-25s real %10.3f invented %10.3f", what, actual[what], invented[what])
		if math.Abs(invented[what]-actual[what]) > tolerance*actual[what] {
			t.Errorf("%s: %.3f, the real list has %.3f", what, invented[what], actual[what])
		}
	}
}

// tradeWords are the most frequent ones of real names.
const tradeWords = "md medical health center llc care family clinic associates medicine group hospital practice healthcare wellness pediatrics services pain specialists " +
	"primary internal institute physicians county"

func TestItsNamesAreMadeOfTheWordsOfTheTrade(t *testing.T) {
	t.Parallel()
	actual, invented := wordShares(realRows(t)), wordShares(rowsIn(t, us.NewList()))
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

func TestNoNameOfItIsARealOne(t *testing.T) {
	t.Parallel()
	reader, isReal := names.NewReader(), map[string]string{}
	for _, r := range realRows(t) {
		isReal[reader.Key(reader.Read(r.Name, "").Display)] = r.Name
	}
	for _, r := range rowsIn(t, us.NewList()) {
		if found := isReal[reader.Key(reader.Read(r.Name, "").Display)]; found != "" {
			t.Errorf("%q is %q", r.Name, found)
		}
	}
}

func TestItIsTheSameListEveryTimeAndReadWhole(t *testing.T) {
	t.Parallel()
	first, err := io.ReadAll(us.NewList())
	if err != nil {
		t.Fatal(err)
	}
	second, err := io.ReadAll(us.NewList())
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("another one came, of %d bytes after %d (%v)", len(second), len(first), err)
	}
	report, err := listing.Read(t.Context(), listing.LanternNDJSON, bytes.NewReader(first), func(listing.Listing) error { return nil })
	twice := report.Entries - report.Listings // of one name at the largest server; the real list has 19
	if err != nil || twice > 40 || len(report.Problems) != 1 || report.Problems[0].Reason != listing.DuplicateKey {
		t.Errorf("%+v, %v", report, err)
	}
	for _, r := range rowsIn(t, bytes.NewReader(first)) {
		base, err := url.Parse(r.URL)
		if err != nil || base.Scheme != "https" || !strings.HasSuffix(base.Hostname(), ".us.example") {
			t.Fatalf("%s is no address that nobody has: %v", r.URL, err)
		}
		if strings.HasPrefix(r.NPI, "1") || strings.HasPrefix(r.NPI, "2") {
			t.Fatalf("%s can be a real NPI", r.NPI)
		}
	}
}
