package serve_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/serve"
	"recordbridge/shared/words/fault"
)

func (w *world) records(t *testing.T) *serve.Records {
	t.Helper()
	return serve.NewRecords(w.pointers(), serve.Files{Objects: w, Dir: t.TempDir()}, w, ownhosts.Own(), time.Now)
}

func TestRecordsReadsRecordInFewRangeRequests(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("much of one thing, in one goroutine")
	}
	w := newWorld()
	c := institutions(8_000, "Alder")
	w.publish(t, c)
	r := w.records(t)
	lookups := 0
	for i := 0; i < 8_000; i += 37 {
		brand, err := r.Brand(t.Context(), "test", id("brand", i))
		if err != nil || brand.Name != fmt.Sprintf("Alder %d", i) {
			t.Fatalf("brand %d: %+v, %v", i, brand, err)
		}
		lookups++
	}
	if average := float64(w.ranges) / float64(lookups); average > 1.5 {
		t.Errorf("%.1f parts for a record", average)
	}
	for _, unknown := range []string{
		id("no", 1), "00000000-0000-0000-0000-000000000000",
		"ffffffff-ffff-ffff-ffff-ffffffffffff", id("portal", 1),
	} {
		if _, err := r.Brand(t.Context(), "test", unknown); !errors.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", unknown, err)
		}
	}
}

// TestRecordsReturnsRecordOfAnyIDAndSize includes IDs chosen by people, which are unevenly distributed.
func TestRecordsReturnsRecordOfAnyIDAndSize(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("much of one thing, in one goroutine")
	}
	for _, count := range []int{0, 1, 2, 1000} {
		w, c := newWorld(), record.Catalog{Portals: map[string]record.Portal{}}
		name := func(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", i*i) }
		for i := range count {
			c.Portals[name(i)] = record.Portal{ID: name(i), Description: strings.Repeat("y", i*7919%4000)}
		}
		if count > 77 {
			c.Portals[name(77)] = record.Portal{ID: name(77), Description: strings.Repeat("y", 1<<20)}
		}
		w.publish(t, c)
		r := w.records(t)
		for i := range count {
			if p, err := r.Portal(t.Context(), "test", name(i)); err != nil || p.ID != name(i) {
				t.Fatalf("%d of %d: %+v, %v", i, count, p, err)
			}
		}
		if _, err := r.Portal(t.Context(), "test", "00000000-0000-4000-8000-00000000000f"); !errors.Is(err, fault.NotFound) {
			t.Errorf("of %d, unknown: %v", count, err)
		}
	}
}

func TestRecordsResolvesMergedIDAndHidesEndpointURL(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := institutions(3, "Alder")
	c.Successors["11111111-1111-4111-8111-111111111111"] = id("endpoint", 2)
	w.publish(t, c)
	w.fares(t, map[string]health.State{id("endpoint", 2): health.Degraded})
	r := w.records(t)
	e, fares, err := r.Endpoint(t.Context(), "test", "11111111-1111-4111-8111-111111111111")
	if err != nil || e.ID != id("endpoint", 2) || fares.State != health.Degraded || fares.CheckedAt.IsZero() ||
		e.FHIRBase != "" {
		t.Errorf("got %+v, %+v, %v", e, fares, err)
	}
	for key, object := range w.objects {
		if strings.Contains(string(object), "secret-base") && !strings.HasSuffix(key, "/bases.json") {
			t.Errorf("%s holds an address", key)
		}
	}
	if _, err := r.Brand(t.Context(), "live", id("brand", 1)); !errors.Is(err, fault.NotFound) {
		t.Errorf("the other mode: %v", err)
	}
}
