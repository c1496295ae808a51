package search_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"recordbridge/shared/catalog/search"
)

// edits computes the optimal string alignment distance directly from its definition.
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					rows[i][j] = min(rows[i][j], 1+rows[i-2][j-2])
				}
			}
		}
	}
	return rows[len(a)][len(b)]
}

// TestTypoDistanceMatchesEditDistanceDefinition compares random words over a small alphabet, so many of them are
// similar.
func TestTypoDistanceMatchesEditDistanceDefinition(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	coined := func() string {
		word := make([]byte, 4+r.IntN(8))
		for i := range word {
			word[i] = "abc"[r.IntN(3)]
		}
		return string(word)
	}
	seen := map[string]bool{}
	var entries []search.Entry
	for range 400 {
		if word := coined(); !seen[word] {
			seen[word] = true
			entries = append(entries, brand(word))
		}
	}
	x := indexOf(t, entries)
	for range 300 {
		typed := coined()
		may := 1
		if len(typed) >= 8 {
			may = 2
		}
		best := may + 1
		for word := range seen {
			best = min(best, edits(typed, word))
		}
		// Only the last word may be a prefix, so the query ends with a meaningless word.
		hits := found(t, x, search.Query{Text: typed + " the"})
		if best > may {
			continue
		}
		if len(hits) == 0 || edits(typed, hits[0]) > may && !strings.HasPrefix(hits[0], typed) &&
			!strings.Contains(hits[0], typed) {
			t.Errorf("%q finds %q; the nearest have %d edits", typed, hits, best)
		}
		for _, hit := range hits {
			if n := edits(typed, hit); n > may && !strings.Contains(hit, typed) &&
				!strings.Contains(typed, strings.TrimSuffix(hit, "s")) {
				t.Errorf("%q finds %q with %d edits", typed, hit, n)
			}
		}
	}
}
