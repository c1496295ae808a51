package search_test

import (
	"encoding/json"
	"testing"

	"recordbridge/infra/catalog/us"
	"recordbridge/shared/catalog/search"
)

// invented returns n brands from every tenth row in the synthetic list, starting at row from. from must be one of the
// first ten rows. The list is ordered by vendor.
func invented(tb testing.TB, n, from int) []search.Entry {
	tb.Helper()
	const step = 10
	seen := map[string]bool{}
	var all []search.Entry
	lines := json.NewDecoder(us.NewList())
	for i := 0; len(all) < n; i++ {
		var listed row
		if err := lines.Decode(&listed); err != nil {
			tb.Fatal(err)
		}
		if i%step != from {
			continue
		}
		if e := entryOf(listed); !seen[e.Brand.ID] {
			seen[e.Brand.ID] = true
			all = append(all, e)
		}
	}
	return all
}
