package compose_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/connect/platform"
)

// everyNth is the sampling interval for rows of public data. Soak tests and benchmarks don't sample; they use every
// row.
const everyNth = 5

// isSoak reports whether to test every row (make soak).
func isSoak() bool { return os.Getenv("RECORDBRIDGE_SOAK") != "" }

// sampled returns all public data in a soak test, and every nth row otherwise.
func sampled(t *testing.T) (in compose.Input, nth int) {
	t.Helper()
	in, nth = published(t), 1
	if isSoak() {
		return in, nth
	}
	var some []listing.Listing
	for i, l := range in.Lists[0].Listings {
		if i%everyNth == 0 {
			some = append(some, l)
		}
	}
	in.Lists[0].Listings = some
	return in, everyNth
}

// published returns the public data as input to Compose. The data is stored beside the repository, never inside it.
func published(tb testing.TB) compose.Input {
	tb.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "..", "shared", "data", "catalog", "us-endpoints.ndjson.gz"))
	if err != nil {
		tb.Skip("no public data beside the project: ", err)
	}
	defer func() { _ = file.Close() }()
	var all []listing.Listing
	_, err = listing.Read(tb.Context(), listing.LanternNDJSON, file, func(l listing.Listing) error {
		all = append(all, l)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	platforms, err := platform.NewRegistry()
	if err != nil {
		tb.Fatal(err)
	}
	known := map[string]string{} // platform by origin; thousands of rows share an origin
	byHost := func(base string) string {
		origin := catalog.Origin(base)
		if known[origin] == "" {
			profile, _ := platforms.Detect(platform.Seen{FHIRBase: base})
			known[origin] = profile.ID
		}
		return known[origin]
	}
	return compose.Input{
		Mode: "live", Lists: []compose.List{{Source: "lantern", Listings: all}},
		Platform: byHost, Now: noon,
	}
}

// TestComposeReproducesRealCatalogue composes 47,653 rows, including duplicates, and checks that the next import keeps
// every ID.
func TestComposeReproducesRealCatalogue(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("much of one thing, in one goroutine")
	}
	in, nth := sampled(t)
	first, report := compose.Compose(in)
	check(t, first)
	isMuch := report.Brands.Live >= 35000/nth && report.Brands.Live <= 42000 && report.Endpoints.Live >= 25000/nth
	if !isMuch || report.Duplicates < 5000 && isSoak() { // a sample rarely contains both listings of a duplicate
		t.Errorf("%d brands of %d listings, %d with duplicates, %d endpoints", report.Brands.Live, report.Listings,
			report.Duplicates, report.Endpoints.Live)
	}
	slices.Reverse(in.Lists[0].Listings)
	in.Before, in.Now = first, noon.Add(time.Hour)
	again, _ := compose.Compose(in)
	if bytesOf(t, first) != bytesOf(t, again) {
		t.Error("composed again, from the last row to the first, it is another")
	}
}

func BenchmarkComposeRealList(b *testing.B) {
	in := published(b)
	var most uint64
	for b.Loop() {
		runtime.GC()
		in.Before, _ = compose.Compose(in)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
	}
	b.ReportMetric(float64(most)/(1<<20), "MiB-heap")
}
