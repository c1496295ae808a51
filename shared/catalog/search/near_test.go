package search_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/search"
)

func lanterns() []search.Entry {
	return []search.Entry{
		brand("Lantern Care|Albany NY 12207"), brand("Lantern Care|Reno NV 89501"), brand("Lantern Care"),
		brand("Lantern Care|Hoboken NJ 07030"), brand("Harbor Clinic|Hoboken NJ 07030"),
		brand("Harbor Clinic|Reno NV 89501"), brand("Suite 12207 Dental|Reno NV 89501"), brand("99999 Clinic"),
	}
}

func TestSearchSortsByDistanceWhenTextContainsZIP(t *testing.T) {
	t.Parallel()
	x := indexOf(t, lanterns())
	near := []string{
		"Lantern Care|Hoboken NJ 07030", "Lantern Care|Albany NY 12207", "Lantern Care|Reno NV 89501", "Lantern Care",
	}
	for _, text := range []string{
		"lantern care 07030", "07030 lantern care", "lantern, 07030-1234", "lantern (07030) care", "lantern 07030.",
	} {
		if diff := cmp.Diff(near, found(t, x, search.Query{Text: text})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"07030": "Harbor Clinic|Hoboken NJ 07030, Lantern Care|Hoboken NJ 07030, Lantern Care|Albany NY 12207",
		// A brand whose name contains the number ranks above the nearest brands.
		"12207":               "Suite 12207 Dental|Reno NV 89501, Lantern Care|Albany NY 12207",
		"dental 12207":        "Suite 12207 Dental|Reno NV 89501",
		"lantern 12207":       "Lantern Care|Albany NY 12207, Lantern Care|Hoboken NJ 07030, Lantern Care|Reno NV 89501",
		"zzyzx 07030":         "Harbor Clinic|Hoboken NJ 07030, Lantern Care|Hoboken NJ 07030",
		"99999 clinic":        "99999 Clinic",
		"lantern 89502 07030": "Lantern Care|Hoboken NJ 07030, Lantern Care|Reno NV 89501, Lantern Care|Albany NY 12207",
	} {
		got := found(t, x, search.Query{Text: text})
		got = got[:min(len(got), strings.Count(want, ", ")+1)]
		if strings.Join(got, ", ") != want {
			t.Errorf("%q finds %q, want %q", text, got, want)
		}
	}
}

// TestSearchTreatsZIPAsTextWhenSortIsExplicit checks that a typed ZIP code does not replace the person's own ZIP
// code.
func TestSearchTreatsZIPAsTextWhenSortIsExplicit(t *testing.T) {
	t.Parallel()
	x := indexOf(t, lanterns())
	page, err := x.Search(search.Query{Text: "lantern 07030", ByLocation: true, ZIPs: []string{"89501"}, Size: 10})
	if err != nil || len(page.ZIPs) != 1 || page.ZIPs[0] != "89501" {
		t.Fatalf("%v, %v", page.ZIPs, err)
	}
	got := found(t, x, search.Query{Text: "lantern 07030", ByLocation: true, ZIPs: []string{"89501"}})
	if got[0] != "Lantern Care|Reno NV 89501" {
		t.Errorf("got %q", got)
	}
}

func TestSearchReportsZIPUsedForDistances(t *testing.T) {
	t.Parallel()
	x := indexOf(t, lanterns())
	for _, c := range []struct {
		query search.Query
		want  []string
	}{
		{search.Query{Text: "lantern"}, nil},
		{search.Query{Text: "lantern 00000"}, nil}, // No location has this ZIP code.
		{search.Query{Text: "lantern 0703 0703012 070301234"}, nil},
		{search.Query{Text: "lantern", ZIPs: []string{"12207"}}, []string{"12207"}},
		{search.Query{Text: "lantern 07030", ZIPs: []string{"12207"}}, []string{"07030"}},
		{search.Query{Text: "07030 12207 89501 10001"}, []string{"07030", "12207", "89501"}},
	} {
		c.query.Size = 1
		page, err := x.Search(c.query)
		if diff := cmp.Diff(c.want, page.ZIPs); diff != "" || err != nil {
			t.Errorf("%+v: %v (-want +got):\n%s", c.query, err, diff)
		}
	}
}

func TestSearchListsFirstBrandsWhenTextIsEmpty(t *testing.T) {
	t.Parallel()
	entries := lanterns()
	x := indexOf(t, entries)
	id := func(i int) string { return entries[i].Brand.ID }
	first := x.Numbers([]string{id(5), "unknown", id(2), id(5)})
	if len(first) != 2 {
		t.Fatalf("%v", first)
	}
	for _, c := range []struct {
		query search.Query
		want  string
	}{
		{search.Query{}, "Harbor Clinic|Reno NV 89501, Lantern Care, 99999 Clinic, Harbor Clinic|Hoboken NJ 07030"},
		{
			search.Query{ByLocation: true, ZIPs: []string{"07030"}},
			"Harbor Clinic|Reno NV 89501, Lantern Care, Harbor Clinic|Hoboken NJ 07030, Lantern Care|Hoboken NJ 07030",
		},
		{search.Query{States: []string{"NV"}}, "Harbor Clinic|Reno NV 89501, Lantern Care|Reno NV 89501"},
		{search.Query{Text: "07030"}, "Harbor Clinic|Hoboken NJ 07030, Lantern Care|Hoboken NJ 07030"},
		{search.Query{Text: "lantern 07030"}, "Lantern Care|Hoboken NJ 07030, Lantern Care|Albany NY 12207"},
	} {
		c.query.First = first
		got := found(t, x, c.query)
		if head := strings.Join(got[:strings.Count(c.want, ", ")+1], ", "); head != c.want {
			t.Errorf("%+v finds %q, want %q", c.query, head, c.want)
		}
		if c.query.Text == "" && c.query.States == nil && len(got) != len(entries) {
			t.Errorf("%+v: %d hits of %d", c.query, len(got), len(entries))
		}
	}
	page, err := x.Search(search.Query{First: first, Size: 3})
	if err != nil || !page.Hits[0].IsFirst || !page.Hits[1].IsFirst || page.Hits[2].IsFirst {
		t.Errorf("%+v, %v", page.Hits, err)
	}
}
