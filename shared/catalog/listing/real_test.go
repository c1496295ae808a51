package listing_test

import (
	"os"
	"runtime"
	"testing"

	"recordbridge/shared/catalog/listing"
)

// realList is the path of a public data set that is not part of the repository (docs/develop/performance.md).
const realList = "../../../../shared/data/catalog/us-endpoints.ndjson.gz"

func TestReadParsesEntireRealList(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("much of one thing, in one goroutine")
	}
	file, err := os.Open(realList)
	if err != nil {
		t.Skip("no public data beside the project: ", err)
	}
	defer func() { _ = file.Close() }()
	report, err := listing.Read(t.Context(), listing.LanternNDJSON, file, func(listing.Listing) error { return nil })
	if err != nil || report.Entries != 47653 || report.Listings+report.Unreadable() != report.Entries {
		t.Errorf("%+v, %v", report, err)
	}
	if report.Unreadable() > report.Entries/100 {
		t.Errorf("%d of its rows cannot be used: %+v", report.Unreadable(), report.Problems)
	}
}

func BenchmarkReadRealList(b *testing.B) {
	if _, err := os.Stat(realList); err != nil {
		b.Skip("no public data beside the project: ", err)
	}
	var most uint64
	for b.Loop() {
		file, err := os.Open(realList)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		_, err = listing.Read(b.Context(), listing.LanternNDJSON, file, func(listing.Listing) error {
			if n++; n%10000 == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
			return nil
		})
		_ = file.Close()
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(most)/(1<<20), "MiB-heap")
}
