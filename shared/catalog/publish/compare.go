package publish

import (
	"maps"
	"reflect"
	"slices"

	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
)

// mostNamed is the maximum number of removed records named in a diff.
const mostNamed = 20

// compare returns the difference between two catalogues.
func compare(before, next record.Catalog) ledger.Diff {
	return ledger.Diff{
		Brands:    changes(before.Brands, next.Brands, func(b record.Brand) string { return b.Name }),
		Portals:   changes(before.Portals, next.Portals, func(p record.Portal) string { return p.Name }),
		Endpoints: changes(before.Endpoints, next.Endpoints, func(e record.Endpoint) string { return e.Name }),
	}
}

// removable is a record that may be a tombstone.
type removable interface{ Gone() bool }

func isThere[R removable](records map[string]R, id string) bool {
	r, known := records[id]
	return known && !r.Gone()
}

func changes[R removable](before, next map[string]R, name func(R) string) ledger.Changes {
	var c ledger.Changes
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if !isThere(before, id) {
			continue
		}
		c.Before++
		switch {
		case !isThere(next, id):
			if c.Removed++; len(c.Names) < mostNamed {
				c.Names = append(c.Names, name(before[id]))
			}
		case !reflect.DeepEqual(before[id], next[id]):
			c.Changed++
		}
	}
	for id := range next {
		if isThere(next, id) {
			c.After++
			if !isThere(before, id) {
				c.Added++
			}
		}
	}
	return c
}

// gone returns the IDs of records that next removes without merging them.
func gone[R removable](before, next map[string]R, all record.Catalog) []string {
	var ids []string
	for id := range before {
		if isThere(before, id) && !isThere(next, id) && all.Resolve(id) == id {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
