package search_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/names"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
)

// brand returns a fictitious institution. text is its name, optionally followed by a bar and all or part of "City ST
// ZIP".
func brand(text string, aliases ...string) search.Entry {
	name, where, _ := strings.Cut(text, "|")
	b := record.Brand{
		ID: ids.Derive("brand", text), LastUpdated: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Name: name,
		Aliases:  aliases,
		SortName: strings.Join(names.Words(name), " "), PlatformType: "smart",
	}
	if fields := strings.Fields(where); len(fields) > 0 {
		l := record.Location{Country: "US"}
		for _, field := range fields {
			switch {
			case field[0] >= '0' && field[0] <= '9':
				l.PostalCode = field
			case len(field) == 2:
				l.State = field
			default:
				l.City = strings.TrimSpace(l.City + " " + field)
			}
		}
		b.Locations = []record.Location{l}
	}
	return search.Entry{Brand: b}
}

func town() []search.Entry {
	return []search.Entry{
		brand("Velamar Clinic"),
		brand("Velamar Clinic of the Coast"),
		brand("Clinic of Old Velamar Road"),
		brand("St. Odo's Hospital|Quarrytown VT"),
		brand("Saint Ilda Medical Center|Lowbridge ME"),
		brand("University of Marrow Hospital", "Marrow Hill"),
		brand("Harbor Family Clinic|Eastmere OH 44101"),
		brand("Harbor Family Clinic|Westmere TX 75001"),
		brand("Harbor Family Clinic"),
		brand("Crane County Health Dept"),
		brand("KestrelHealth Partners"),
		brand("Orla Nightingale, M.D., P.A.|Eastmere OH 44102"),
		brand("Ear Nose & Throat of Dunmere"),
		brand("Dunmere ENT"),
		brand("Neurosurgical Arts of Pellworm"),
		brand("Greater Thistledown General Hospital"),
		brand("North Jersey Lantern Care|Hoboken NJ 07030"),
		brand("Lantern Care New Jersey"),
		brand("Clinica Peña"),
		brand("Zetland Partners", "Gull Rock"),
		brand("Gull Rock Clinic"),
		brand("Larkspur Clinic|OH 44101"),
		brand("Larkspur Clinic|VA"),
		brand("Larkspur Clinic Inc"),
	}
}

func indexOf(t *testing.T, entries []search.Entry) *search.Index {
	t.Helper()
	x, err := search.Build(entries)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// found returns a query's hits, each written as its brand's name and location.
func found(t *testing.T, x *search.Index, q search.Query) []string {
	t.Helper()
	if q.Size == 0 {
		q.Size = search.MaxSize
	}
	page, err := x.Search(q)
	if err != nil {
		t.Fatal(err)
	}
	hits := make([]string, 0, len(page.Hits))
	for _, hit := range page.Hits {
		var source search.Source
		if err := json.Unmarshal(hit.Source, &source); err != nil || source.ID != hit.ID ||
			source.SortName != hit.Position.SortName {
			t.Fatalf("the source of %+v: %v", hit, err)
		}
		where := ""
		for _, l := range source.Locations {
			where = "|" + strings.TrimSpace(l.City+" "+l.State+" "+l.PostalCode)
		}
		hits = append(hits, source.Name+where)
	}
	return hits
}

// TestSearchRanksBestHitFirst covers the various ways in which people type a name.
func TestSearchRanksBestHitFirst(t *testing.T) {
	t.Parallel()
	x := indexOf(t, town())
	for query, want := range map[string]string{
		"velamar clinic":                 "Velamar Clinic",
		"  VELAMAR -- clinic!":           "Velamar Clinic",
		"clinic velamar":                 "Velamar Clinic",
		"velamar clinic coast":           "Velamar Clinic of the Coast",
		"coast clin":                     "Velamar Clinic of the Coast",
		"old velamar":                    "Clinic of Old Velamar Road",
		"thistled":                       "Greater Thistledown General Hospital",
		"general hospital thistle":       "Greater Thistledown General Hospital",
		"surgical":                       "Neurosurgical Arts of Pellworm",
		"vlamar clinic":                  "Velamar Clinic",
		"velamra clinic":                 "Velamar Clinic",
		"velamxr":                        "Velamar Clinic",
		"thistledwon genral hospital":    "Greater Thistledown General Hospital",
		"thsitl":                         "Greater Thistledown General Hospital",
		"ngihtingale":                    "Orla Nightingale, M.D., P.A.|Eastmere OH 44102",
		"marrow hill":                    "University of Marrow Hospital",
		"univ marrow hosp":               "University of Marrow Hospital",
		"saint odo":                      "St. Odo's Hospital|Quarrytown VT",
		"st ilda med ctr":                "Saint Ilda Medical Center|Lowbridge ME",
		"crane county health department": "Crane County Health Dept",
		"odos hospital":                  "St. Odo's Hospital|Quarrytown VT",
		"odo's hosp quarrytown":          "St. Odo's Hospital|Quarrytown VT",
		"velamarclinic":                  "Velamar Clinic",
		"velamarcli":                     "Velamar Clinic",
		"kestrel health":                 "KestrelHealth Partners",
		"kestrel hea":                    "KestrelHealth Partners",
		"harbor family clinic oh":        "Harbor Family Clinic|Eastmere OH 44101",
		"harbor family clinic texas":     "Harbor Family Clinic|Westmere TX 75001",
		"westmere harbor":                "Harbor Family Clinic|Westmere TX 75001",
		"harbor 44101":                   "Harbor Family Clinic|Eastmere OH 44101",
		"dr orla nightingale":            "Orla Nightingale, M.D., P.A.|Eastmere OH 44102",
		"ear nose and throat dunmere":    "Ear Nose & Throat of Dunmere",
		"ent dunmere":                    "Dunmere ENT",
		"lantern care new jersey":        "Lantern Care New Jersey",
		"hoboken lantern newjersey":      "North Jersey Lantern Care|Hoboken NJ 07030",
		"gull rock":                      "Zetland Partners",
		"larkspur clinic vermont":        "Larkspur Clinic Inc",
		"clinica pena":                   "Clinica Peña",
		"cchd":                           "Crane County Health Dept",
		"kestrelhealth clinic nearby":    "KestrelHealth Partners",
	} {
		if hits := found(t, x, search.Query{Text: query}); len(hits) == 0 || hits[0] != want {
			t.Errorf("%q finds %q, want %q first", query, hits, want)
		}
	}
	for _, query := range []string{"zzyzx", "42", "vel4mar"} {
		if hits := found(t, x, search.Query{Text: query}); len(hits) != 0 {
			t.Errorf("%q finds %q", query, hits)
		}
	}
}

func TestSearchAppliesFiltersExactly(t *testing.T) {
	t.Parallel()
	entries := town()
	entries[0].Brand.PlatformType = "epic"
	entries[1].Platforms = []string{"epic", "cerner"}
	x := indexOf(t, entries)
	for _, c := range []struct {
		query search.Query
		want  []string
	}{
		{
			search.Query{Text: "velamar", Platforms: []string{"epic"}},
			[]string{"Velamar Clinic", "Velamar Clinic of the Coast"},
		},
		{search.Query{Text: "velamar", Platforms: []string{"cerner", "none"}}, []string{"Velamar Clinic of the Coast"}},
		{search.Query{Text: "velamar", Platforms: []string{"none"}}, []string{}},
		{search.Query{Text: "harbor", States: []string{"tx"}}, []string{"Harbor Family Clinic|Westmere TX 75001"}},
		{
			search.Query{States: []string{"OH", "VT"}},
			[]string{
				"Harbor Family Clinic|Eastmere OH 44101", "Larkspur Clinic|OH 44101",
				"Orla Nightingale, M.D., P.A.|Eastmere OH 44102", "St. Odo's Hospital|Quarrytown VT",
			},
		},
		{search.Query{Text: "harbor", States: []string{"OH"}, Platforms: []string{"epic"}}, []string{}},
	} {
		if diff := cmp.Diff(c.want, found(t, x, c.query)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.query, diff)
		}
	}
}

func TestSearchListsAllBrandsByNameWhenTextIsEmpty(t *testing.T) {
	t.Parallel()
	x := indexOf(t, town())
	for _, query := range []string{"", " \x00\n", ".*", "[](){}^$\\"} {
		page, err := x.Search(search.Query{Text: query, Size: search.MaxSize})
		if err != nil || page.Total != len(town()) || len(page.Hits) != page.Total {
			t.Fatalf("%q: %d of %d, %v", query, len(page.Hits), page.Total, err)
		}
		if !slices.IsSortedFunc(page.Hits, func(a,
			b search.Hit,
		) int {
			return strings.Compare(a.Position.SortName, b.Position.SortName)
		}) {
			t.Errorf("%q is not in order", query)
		}
	}
}

func TestSearchByLocationRanksNearestFirst(t *testing.T) {
	t.Parallel()
	entries := []search.Entry{
		brand("Lantern Care|Hoboken NJ 07030"), brand("Lantern Care|Albany NY 12207"), brand("Lantern Care|Reno NV 89501"),
		brand("Lantern Care"),
		brand("A Lantern Care Center|Hoboken NJ 07030-1234"),
	}
	entries[2].Brand.Locations = append(entries[2].Brand.Locations, record.Location{PostalCode: "10001"})
	x := indexOf(t, entries)
	for _, c := range []struct {
		zips []string
		want []string
	}{
		{[]string{"07030"}, []string{"Hoboken NJ 07030", "Hoboken NJ 07030-1234", "10001", "Albany NY 12207", ""}},
		{[]string{"12208"}, []string{"Albany NY 12207", "10001", "Hoboken NJ 07030", "Hoboken NJ 07030-1234", ""}},
		{[]string{"12208-0001", "07030"}, []string{
			"Hoboken NJ 07030", "Hoboken NJ 07030-1234", "Albany NY 12207",
			"10001", "",
		}},
	} {
		var got []string
		for _, hit := range found(t, x, search.Query{Text: "lantern care", ByLocation: true, ZIPs: c.zips}) {
			_, where, _ := strings.Cut(hit, "|")
			got = append(got, where)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("near %v (-want +got):\n%s", c.zips, diff)
		}
	}
}

// TestSearchDemotesBrandsThatAreDown checks that a demoted brand ranks after equal matches and before worse matches.
func TestSearchDemotesBrandsThatAreDown(t *testing.T) {
	t.Parallel()
	x := indexOf(t, []search.Entry{
		brand("Harbor Clinic|OH"), brand("Harbor Clinic|TX"), brand("Harbor Clinic|VT"),
		brand("Harbinger Dental"),
	})
	states := map[string]search.Demotion{
		ids.Derive("brand", "Harbor Clinic|OH"): search.Down,
		ids.Derive("brand", "Harbor Clinic|TX"): search.Degraded,
	}
	got := found(t, x, search.Query{Text: "harbor clinic", Demote: func(id string) search.Demotion { return states[id] }})
	if diff := cmp.Diff([]string{"Harbor Clinic|VT", "Harbor Clinic|TX", "Harbor Clinic|OH"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSearchRejectsInvalidQueries(t *testing.T) {
	t.Parallel()
	x := indexOf(t, town())
	for _, q := range []search.Query{
		{},
		{Size: -1},
		{Size: search.MaxSize + 1},
		{Size: 1, After: &search.Position{Score: math.NaN()}},
	} {
		if _, err := x.Search(q); !errors.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// TestEntriesOmitsHiddenAndRemovedBrands also checks the sources of the other brands.
func TestEntriesOmitsHiddenAndRemovedBrands(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 2, 3, 4, 5, 0, time.UTC)
	brands := map[string]record.Brand{
		"a": {
			ID: "a", Name: "Velamar Clinic", SortName: "velamar clinic", PortalIDs: []string{"p", "gone", "none"},
			State: record.State{UnconfirmedSince: &at},
		},
		"b": {ID: "b", Name: "Hidden Velamar", Hidden: true},
		"c": {ID: "c", Name: "Past Velamar", State: record.State{RemovedAt: &at}},
	}
	x := indexOf(t, search.Entries(record.Catalog{
		Brands: brands,
		Portals: map[string]record.Portal{
			"p":    {ID: "p", Name: "Velamar Portal", EndpointIDs: []string{"e", "f"}},
			"gone": {ID: "gone", State: record.State{RemovedAt: &at}},
		},
		Endpoints: map[string]record.Endpoint{"e": {ID: "e", PlatformType: "epic"}},
	}))
	page, err := x.Search(search.Query{Text: "velamar", Size: 10})
	if err != nil || page.Total != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	if none := found(t, x, search.Query{Text: "velamar", Platforms: []string{"cerner"}}); len(none) != 0 {
		t.Errorf("of a platform that none of its endpoints has: %q", none)
	}
	if one := found(t, x, search.Query{Text: "velamar", Platforms: []string{"epic"}}); len(one) != 1 {
		t.Errorf("of the platform of its endpoint: %q", one)
	}
	want := `{"id":"a","last_updated":"0001-01-01T00:00:00Z","name":"Velamar Clinic","brand_website":"",` +
		`"logo_uri":"","aliases":[],"description":"",` +
		`"locations":[],"portal_ids":["p","gone","none"],"portals":[{"id":"p","last_updated":"0001-01-01T00:00:00Z",` +
		`"name":"Velamar Portal",` +
		`"portal_website":"","logo_uri":"","description":"","endpoint_ids":["e","f"]}],"brand_ids":[],` +
		`"sort_name":"velamar clinic","hidden":false,` +
		`"platform_type":"","unconfirmed_since":"2026-11-02T03:04:05Z"}`
	if diff := cmp.Diff(want, string(page.Hits[0].Source)); diff != "" {
		t.Errorf("source (-want +got):\n%s", diff)
	}
}

// TestSearchIsSafeForConcurrentUse is for the race detector.
func TestSearchIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	x := indexOf(t, town())
	want := found(t, x, search.Query{Text: "velamar clinc"})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				page, err := x.Search(search.Query{Text: "velamar clinc", Size: search.MaxSize})
				if err != nil || len(page.Hits) != len(want) {
					t.Errorf("%d hits, %v", len(page.Hits), err)
				}
				_, _ = x.Search(search.Query{Text: "harbor family tx 75001", Size: 1})
			}
		})
	}
	all.Wait()
}
