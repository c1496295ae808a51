package search_test

import (
	"strings"
	"testing"

	"recordbridge/shared/catalog/search"
)

func acronymTown() []search.Entry {
	return []search.Entry{
		brand("Children's Hospital of Osmere"),
		brand("The Quarry-Fenwick Cancer Institute"),
		brand("University of Marrow"),
		brand("University of Marrow Health System|OH"),
		brand("University of Lowbridge San Fermo Medical Center"),
		brand("Westmere General Hospital"),
		brand("Hospital for Quiet Surgery at Dunmere"),
		brand("Chopwell Community Health"),
		brand("Chopwell Dental"),
		brand("Choso Clinic"),
		brand("Wilma G. Hartwick, MD"),
		brand("Umbra Medical"),
		brand("Larkspur Eye Associates"),
		brand("North Hill Clinic", "Pellworm Quiet Ridge Tower"),
	}
}

func TestSearchFindsNameByAcronym(t *testing.T) {
	t.Parallel()
	x := indexOf(t, acronymTown())
	for query, want := range map[string]string{
		"choo":        "Children's Hospital of Osmere",
		"cho":         "Children's Hospital of Osmere",
		"CHOO":        "Children's Hospital of Osmere",
		"c.h.o.o.":    "Children's Hospital of Osmere",
		"qfci":        "The Quarry-Fenwick Cancer Institute",
		"u of m":      "University of Marrow",
		"U. of M.":    "University of Marrow",
		"uofm":        "University of Marrow",
		"u of m ohio": "University of Marrow Health System|OH",
		"ulsf":        "University of Lowbridge San Fermo Medical Center",
		"ulsfmc":      "University of Lowbridge San Fermo Medical Center",
		"uolsf":       "University of Lowbridge San Fermo Medical Center",
		"wgh":         "Westmere General Hospital",
		"w g h":       "Westmere General Hospital",
		"hqsd":        "Hospital for Quiet Surgery at Dunmere",
		"hfqsad":      "Hospital for Quiet Surgery at Dunmere",
		"pqrt":        "North Hill Clinic",
		"um":          "Umbra Medical", // two letters
	} {
		if hits := found(t, x, search.Query{Text: query}); len(hits) == 0 || hits[0] != want {
			t.Errorf("%q finds %q, want %q first", query, hits, want)
		}
	}
	for query, no := range map[string]string{
		"wgh": "Wilma G. Hartwick, MD", // a practitioner
		"hg":  "Westmere General Hospital",
		"lb":  "Larkspur Eye Associates",
		"qf":  "Hospital for Quiet Surgery at Dunmere",
	} {
		if hits := strings.Join(found(t, x, search.Query{Text: query}), ", "); strings.Contains(hits, no) {
			t.Errorf("%q finds %q", query, hits)
		}
	}
}

func TestSearchRanksExactNameAboveAcronym(t *testing.T) {
	t.Parallel()
	x := indexOf(t, []search.Entry{
		brand("Pine Oak Elm Fir Center"), brand("POEF"), brand("Zetland Clinic", "Poef"), brand("Poefy Dental"),
	})
	got := strings.Join(found(t, x, search.Query{Text: "poef"}), ", ")
	if got != "POEF, Zetland Clinic, Pine Oak Elm Fir Center, Poefy Dental" {
		t.Errorf("got %s", got)
	}
}

// TestSearchRanksPrefixMatchesAboveAcronymWhenPrefixIsCommon covers a patient who is still typing a common word.
func TestSearchRanksPrefixMatchesAboveAcronymWhenPrefixIsCommon(t *testing.T) {
	t.Parallel()
	entries := make([]search.Entry, 0, 101)
	entries = append(entries, brand("Crane Arden Ridge Dell"))
	for range 100 {
		entries = append(entries, brand("Cardiology "+strings.Repeat("x", len(entries))))
	}
	x := indexOf(t, entries)
	if got := found(t, x, search.Query{Text: "card", Size: 1}); got[0] == "Crane Arden Ridge Dell" {
		t.Errorf("got %q", got)
	}
	if got := found(t, indexOf(t, entries[:50]), search.Query{Text: "card", Size: 1}); got[0] != "Crane Arden Ridge Dell" {
		t.Errorf("of few names: %q", got)
	}
}

func TestSearchFindsRealNamesByAcronym(t *testing.T) {
	t.Parallel()
	x := realData(t).index
	for query, want := range map[string]string{
		"chop":   "childrens hospital of philadelphia",
		"chkd":   "childrens hospital of the kings daughters",
		"ohsu":   "oregon health and science university",
		"u of m": "university of m",
		"ucsf":   "ucsf", // An exact name ranks above acronyms.
		"upmc":   "upmc",
		"nyu":    "nyu",
	} {
		page, err := x.Search(search.Query{Text: query, Size: 1})
		if err != nil || len(page.Hits) == 0 || !strings.HasPrefix(page.Hits[0].Position.SortName, want) {
			t.Errorf("%q finds %+v, %v", query, page.Hits, err)
		}
	}
}
