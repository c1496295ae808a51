package search_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/search"
)

// TestSearchReturnsEachHitOnceAcrossPages covers all orders and page sizes, and many hits with the same score.
func TestSearchReturnsEachHitOnceAcrossPages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("much of one thing, in one goroutine")
	}
	x := indexOf(t, invented(t, 4000, 5))
	demote := func(id string) search.Demotion { return search.Demotion(id[0] % 3) }
	for _, q := range []search.Query{
		{},
		{Text: "clinic"},
		{Text: "c"},
		{Text: "family clinic ohio", Demote: demote},
		{Text: "center", ByLocation: true, ZIPs: []string{"44101"}},
		{ByLocation: true, ZIPs: []string{"75001"}},
		{Text: "medical", States: []string{"OH", "TX"}},
	} {
		for _, q.Size = range []int{7, search.MaxSize} {
			q.After = nil
			seen := map[string]bool{}
			last := search.Position{Score: math.Inf(1)}
			total := -1
			for {
				page, err := x.Search(q)
				if err != nil || total >= 0 && page.Total != total {
					t.Fatalf("%+v: total %d, before %d: %v", q, page.Total, total, err)
				}
				total = page.Total
				for _, hit := range page.Hits {
					p := hit.Position
					if seen[hit.ID] || p.Score > last.Score || p.Score == last.Score &&
						(p.SortName < last.SortName || p.SortName == last.SortName && p.ID <= last.ID) {
						t.Fatalf("%+v: %+v after %+v", q, p, last)
					}
					seen[hit.ID], last = true, p
				}
				if len(page.Hits) < q.Size {
					break
				}
				q.After = &last
			}
			if len(seen) != total || total < 10 {
				t.Errorf("%+v: %d hits of %d", q, len(seen), total)
			}
		}
	}
}

// TestSearchContinuesAfterRemovedBrand covers a position whose brand is no longer in the index.
func TestSearchContinuesAfterRemovedBrand(t *testing.T) {
	t.Parallel()
	x := indexOf(t, town())
	got := found(t, x, search.Query{After: &search.Position{Score: 0, SortName: "saint", ID: "z"}, Size: 1})
	if diff := cmp.Diff([]string{"Saint Ilda Medical Center|Lowbridge ME"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := found(t, x, search.Query{After: &search.Position{Score: math.Inf(-1)}}); len(got) != 0 {
		t.Errorf("behind everything is %q", got)
	}
}
