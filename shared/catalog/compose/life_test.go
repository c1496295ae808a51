package compose_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/record"
)

// next composes the lists one hour after the previous catalogue.
func next(t *testing.T, before record.Catalog, lists ...compose.List) (record.Catalog, compose.Report) {
	t.Helper()
	in := input(lists...)
	in.Before, in.Now = before, noon.Add(time.Hour)
	return made(t, in)
}

func TestComposeKeepsTimestampsOfUnchangedRecords(t *testing.T) {
	t.Parallel()
	odo, vela := at("Odo Clinic", "https://odo.example/r4"), at("Vela Clinic", "https://vela.example/r4")
	first, _ := made(t, input(list("one", odo, vela)))
	again, _ := next(t, first, list("one", odo, vela))
	if diff := cmp.Diff(bytesOf(t, first), bytesOf(t, again)); diff != "" {
		t.Errorf("composed again (-want +got):\n%s", diff)
	}
	odo.Website = "https://odo.example"
	after, _ := next(t, first, list("one", odo, vela))
	if got := only(t, after, "Odo Clinic").LastUpdated; !got.Equal(noon.Add(time.Hour)) {
		t.Errorf("what has changed is of %s", got)
	}
	if diff := cmp.Diff(only(t, first, "Vela Clinic"), only(t, after, "Vela Clinic")); diff != "" {
		t.Errorf("what has not (-want +got):\n%s", diff)
	}
}

func TestComposeReplacesUnlistedRecordWithTombstone(t *testing.T) {
	t.Parallel()
	odo, vela := at("Odo Clinic", "https://odo.example/r4"), at("Vela Clinic", "https://vela.example/r4")
	first, _ := made(t, input(list("one", odo, vela)))
	without, report := next(t, first, list("one", vela))
	id := only(t, first, "Odo Clinic").ID
	gone := without.Brands[id]
	if gone.RemovedAt == nil || !gone.RemovedAt.Equal(noon.Add(time.Hour)) ||
		report.Brands != (compose.Count{Live: 1, Removed: 1}) {
		t.Fatalf("gone %+v, %+v", gone, report.Brands)
	}
	if e := endpointsOf(without, gone)[0]; e.RemovedAt == nil || e.Status != record.Suspended ||
		e.FHIRBase != "https://odo.example/r4" {
		t.Errorf("its endpoint is %+v", e)
	}
	still, _ := next(t, without, list("one", vela))
	if diff := cmp.Diff(bytesOf(t, without), bytesOf(t, still)); diff != "" {
		t.Errorf("a tombstone changes (-want +got):\n%s", diff)
	}
	if back, _ := next(t, still, list("one", odo, vela)); only(t, back, "Odo Clinic").ID != id ||
		endpointsOf(back, back.Brands[id])[0].Status != record.Active {
		t.Errorf("back it is %+v", back.Brands[id])
	}
}

func TestComposeKeepsRecordsWhenSourceFails(t *testing.T) {
	t.Parallel()
	yesterday := noon.Add(-24 * time.Hour)
	odo, vela := at("Odo Clinic", "https://odo.example/r4"), at("Vela Clinic", "https://vela.example/r4")
	first, _ := made(t, input(list("one", odo), list("two", vela)))
	for name, failing := range map[string]compose.List{
		"with what it had":    {Source: "one", UnconfirmedSince: yesterday, Listings: []listing.Listing{odo}},
		"with nothing at all": {Source: "one", UnconfirmedSince: yesterday},
	} {
		after, report := next(t, first, failing, list("two", vela))
		b := only(t, after, "Odo Clinic")
		p, e := after.Portals[b.PortalIDs[0]], endpointsOf(after, b)[0]
		for what, state := range map[string]record.State{"brand": b.State, "portal": p.State, "endpoint": e.State} {
			if state.RemovedAt != nil || state.UnconfirmedSince == nil || !state.UnconfirmedSince.Equal(yesterday) {
				t.Errorf("%s: its %s is %+v", name, what, state)
			}
		}
		if e.Status != record.Active || report.Brands != (compose.Count{Live: 2, Unconfirmed: 1}) ||
			only(t, after, "Vela Clinic").UnconfirmedSince != nil {
			t.Errorf("%s: endpoint %+v, %+v", name, e, report.Brands)
		}
		if back, _ := next(t, after, list("one", odo), list("two", vela)); only(t, back,
			"Odo Clinic").UnconfirmedSince != nil {
			t.Errorf("%s: it stays marked", name)
		}
	}
	confirmed, _ := next(t, first, compose.List{
		Source: "one", UnconfirmedSince: yesterday,
		Listings: []listing.Listing{odo},
	}, list("two", odo, vela))
	if only(t, confirmed, "Odo Clinic").UnconfirmedSince != nil {
		t.Error("another source says it, and it is marked")
	}
}

func TestComposeKeepsBrandIDAcrossListChanges(t *testing.T) {
	t.Parallel()
	before := at("Zorvath Clinic", "https://ehr.odo.example/r4", zip("02134"))
	for name, after := range map[string]listing.Listing{
		"another vendor":                 at("ZORVATH CLINIC, LLC", shared, zip("02134")),
		"another vendor, and no ZIP":     at("MA - Zorvath Clinic", shared),
		"another address at its server":  at("Zorvath Clinic", "https://ehr.odo.example/proxy/r4"),
		"another name at its own server": at("Odo Family Practice", "https://ehr.odo.example/r4", zip("02134")),
	} {
		first, _ := made(t, input(crowd(), list("one", before)))
		id := only(t, first, "Zorvath Clinic").ID
		in := letting(input(crowd(), list("one", after)))
		in.Before, in.Now = first, noon.Add(time.Hour)
		second, _ := made(t, in)
		if b := second.Brands[id]; b.RemovedAt != nil || len(b.PortalIDs) != 1 || b.ID != id {
			t.Errorf("%s: %+v", name, b)
		}
		third, _ := next(t, second, crowd(), list("one", after))
		if diff := cmp.Diff(bytesOf(t, second), bytesOf(t, third)); diff != "" {
			t.Errorf("%s: composed again (-want +got):\n%s", name, diff)
		}
	}
}

func TestComposeAssignsNewIDToBrandInDifferentPlace(t *testing.T) {
	t.Parallel()
	first, _ := made(t, input(crowd(), list("one", at("Zorvath Clinic", "https://a.odo.example/r4", zip("02134")))))
	second, report := next(t, first, crowd(), list("one", at("Zorvath Clinic", "https://b.vela.example/r4", zip("90001"))))
	if len(named(second, "Zorvath Clinic")) != 1 || report.Brands.Removed != 1 {
		t.Errorf("%+v", report.Brands)
	}
}

func TestComposeDropsAmbiguousID(t *testing.T) {
	t.Parallel()
	first, _ := made(t, input(list("one", at("Zorvath Clinic", "https://ehr.odo.example/r4"))))
	id := only(t, first, "Zorvath Clinic").ID
	second, _ := next(t, first, list("one", at("Odo Family Practice", "https://ehr.odo.example/r4"),
		at("Odo Eye Care", "https://ehr.odo.example/r4")))
	if second.Brands[id].RemovedAt == nil {
		t.Errorf("one of two new brands at its server is it: %+v", second.Brands[id])
	}
}

// TestComposeDoesNotMergeListingsWithOnlyName checks that listings that differ only in details get different IDs,
// derived from their entire content.
func TestComposeDoesNotMergeListingsWithOnlyName(t *testing.T) {
	t.Parallel()
	one, two := listing.Listing{Key: "7", Name: "Odo Clinic", Description: "one"},
		listing.Listing{Key: "7", Name: "Odo Clinic", Description: "two"}
	first, _ := made(t, input(list("one", one, two)))
	again, _ := next(t, first, list("one", two, one))
	if len(first.Brands) != 2 || bytesOf(t, first) != bytesOf(t, again) {
		t.Errorf("%+v\n%+v", first.Brands, again.Brands)
	}
}

// TestComposeMergesAndSplitsPublishedBrands covers two published brands that a list later declares identical.
func TestComposeMergesAndSplitsPublishedBrands(t *testing.T) {
	t.Parallel()
	north, south := at("Odo North", "https://north.example/r4"), at("Odo South", "https://south.example/r4")
	first, _ := made(t, input(list("one", north, south)))
	ids := []string{only(t, first, "Odo North").ID, only(t, first, "Odo South").ID}
	both := []listing.Identifier{{System: "urn:odo", Value: "7"}}
	together := []listing.Listing{north, south}
	for i := range together {
		together[i].Identifiers = both
	}
	in := letting(input(list("one", together...)))
	in.Before, in.Now = first, noon.Add(time.Hour)
	second, report := made(t, in)
	if len(second.Brands) != 1 || second.Resolve(ids[0]) != second.Resolve(ids[1]) || report.Duplicates != 1 {
		t.Fatalf("%+v", second.Brands)
	}
	third, _ := next(t, second, list("one", together...))
	if diff := cmp.Diff(bytesOf(t, second), bytesOf(t, third)); diff != "" {
		t.Errorf("composed again (-want +got):\n%s", diff)
	}
	apart, _ := next(t, third, list("one", north, south))
	if only(t, apart, "Odo North").ID != ids[0] || only(t, apart, "Odo South").ID != ids[1] || len(apart.Successors) != 0 {
		t.Errorf("apart: %+v, %v", apart.Brands, apart.Successors)
	}
}
