package search_test

import (
	"encoding/json"
	"testing"

	"recordbridge/infra/catalog/us"
	"recordbridge/shared/catalog/search"
)

// invented returns n brands from the synthetic list, which is ordered by vendor: every tenth row, starting at from
// (below ten).
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
