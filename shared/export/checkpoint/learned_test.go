package checkpoint_test

import (
	"slices"
	"testing"
	"time"

	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// met is the outcome of a query's first request: either a page or a failure.
type met struct {
	resourceType string
	count        int // requested page size
	got          int
	bytes        int
	took         time.Duration
	last         bool
	failed       *fhir.RequestError
}

func TestLearnedStateAdaptsPageSize(t *testing.T) {
	t.Parallel()
	full := func(count int) met { return met{count: count, got: count, bytes: 200_000, took: time.Second} }
	fails := func(resourceType string, count int, failed fhir.RequestError) met {
		return met{resourceType: resourceType, count: count, failed: &failed}
	}
	tooLarge, noCount := fhir.RequestError{Class: fhir.TooLarge},
		fhir.RequestError{Class: fhir.Rejected, Refusal: fhir.NoCount}
	for name, c := range map[string]struct {
		met      []met
		profiled int
		want     int // page size expected for the next query; 0 if _count is omitted
	}{
		"nothing is known":    {want: 100},
		"the profile knows":   {profiled: 250, want: 250},
		"full pages, quickly": {met: []met{full(100)}, want: 300},
		"full pages, slowly": {
			met:  []met{{count: 100, got: 100, bytes: 200_000, took: 4 * time.Second}},
			want: 100,
		},
		"full pages, and large": {
			met:  []met{{count: 100, got: 100, bytes: 500_000, took: time.Second}},
			want: 100,
		},
		"a full page that is all":   {met: []met{{count: 100, got: 100, bytes: 200_000, last: true}}, want: 100},
		"it gives no more than 200": {met: []met{full(100), {count: 300, got: 200, bytes: 400_000}}, want: 200},
		"and that is where it stays": {met: []met{
			full(100),
			{count: 300, got: 200, bytes: 400_000},
			full(100),
			full(200),
		}, want: 200},
		"it gives fewer than asked for": {met: []met{{count: 100, got: 50, bytes: 50_000}, full(100)}, want: 100},
		"larger pages are too large": {met: []met{
			full(100), fails("Claim", 300, tooLarge),
			full(100),
		}, want: 100},
		"larger pages take too long": {met: []met{
			full(100),
			fails("Claim", 300, fhir.RequestError{Class: fhir.Network}), full(100),
		}, want: 100},
		"larger pages are not understood": {met: []met{
			full(100),
			fails("Claim", 300, fhir.RequestError{Class: fhir.Rejected, Status: 400}),
		}, want: 100},
		"a type is refused, whatever the size": {met: []met{
			full(100),
			fails("Claim", 300, fhir.RequestError{Class: fhir.Forbidden, Status: 403}),
		}, want: 300},
		"pages of one type are too large": {met: []met{
			fails("Claim", 100, tooLarge),
			fails("Claim", 100, tooLarge),
		}, want: 100},
		"pages of two types are too large": {met: []met{
			fails("Claim", 100, tooLarge), fails("Account", 100, tooLarge),
			{count: 25, got: 25, bytes: 100},
		}, want: 25},
		"one type knows no size": {met: []met{fails("Claim", 100, noCount)}, want: 100},
		"two types know no size": {met: []met{
			fails("Claim", 100, noCount), fails("Account", 100, noCount),
			{got: 20, bytes: 100},
		}, want: 0},
		"larger pages, and two types of no size": {met: []met{
			full(100), fails("Claim", 300, noCount),
			fails("Account", 300, noCount),
		}, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var learned checkpoint.Learned
			for _, one := range c.met {
				q := plan.Query{Type: one.resourceType, Count: one.count}
				if one.failed != nil {
					learned.Refused(q, one.failed)
					continue
				}
				page := fhir.Bundle{Len: one.got, Next: "next"}
				if one.last {
					page.Next = ""
				}
				learned.Paged(q, page, one.bytes, one.took)
			}
			if got := learned.Sized(plan.Query{Type: "Goal", Count: 100}, c.profiled).Count; got != c.want {
				t.Errorf("the next query asks for pages of %d, want %d", got, c.want)
			}
		})
	}
}

func TestSizedKeepsPageSizeSetByQuery(t *testing.T) {
	t.Parallel()
	learned := checkpoint.Learned{PageSize: 300}
	for _, count := range []int{0, 1, 25} {
		if got := learned.Sized(plan.Query{Type: "Goal", Count: count}, 0).Count; got != count {
			t.Errorf("%d became %d", count, got)
		}
	}
}

func TestLearnedStateStopsIDListsWhenServerIgnoresThem(t *testing.T) {
	t.Parallel()
	learned := checkpoint.Learned{ByID: []string{"Location", "Organization", "Practitioner"}}
	learned.IgnoresIDs("Organization")
	if want := []string{"Location", "Practitioner"}; !slices.Equal(learned.ByID, want) {
		t.Errorf("left are %v, want %v", learned.ByID, want)
	}
	if learned.IgnoresIDs(""); len(learned.ByID) > 0 {
		t.Errorf("left are %v", learned.ByID)
	}
}
