package e2e_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/record"
)

// realList is a list of the endpoints published by EHR vendors, stored outside the repository.
const realList = "../../../../shared/data/catalog/us-endpoints.ndjson.gz"

func realCatalogue(b *testing.B) record.Catalog {
	b.Helper()
	file, err := os.Open(realList)
	if err != nil {
		b.Skipf("no list of real endpoints: %v", err)
	}
	defer func() { _ = file.Close() }()
	list := compose.List{Source: "lantern"}
	_, err = listing.Read(b.Context(), listing.LanternNDJSON, file, func(l listing.Listing) error {
		list.Listings = append(list.Listings, l)
		return nil
	})
	expect.NoError(b, err)
	c, _ := compose.Compose(compose.Input{Mode: "test", Lists: []compose.List{list}, Now: time.Now()})
	return c
}

// BenchmarkSearch measures searches in a catalogue of real institutions through the gateway, the production wiring and
// the embedded AWS. The cases are a cold start that fetches the snapshot, a cold start with the snapshot on disk, and a
// warm function. Each case reports the memory that a function retains.
func BenchmarkSearch(b *testing.B) {
	c := realCatalogue(b)
	s := newStack(b, options{})
	s.catalog.goLive("test", c)
	names := make([]string, 0, len(c.Brands))
	for _, brand := range c.Brands {
		names = append(names, brand.Name)
	}
	slices.Sort(names)
	function := s.functions["SearchCatalogFunction"]
	restart := func(dir string) time.Duration {
		function.life, function.serve, function.dir = nil, nil, dir
		began := time.Now()
		s.catalog.search(map[string]any{"query": "hospital"})
		return time.Since(began)
	}
	fetched, onDisk := make([]time.Duration, 0, 10), make([]time.Duration, 0, 10)
	for i := range 10 {
		dir := filepath.Join(b.TempDir(), strconv.Itoa(i))
		fetched = append(fetched, restart(dir))
		onDisk = append(onDisk, restart(dir))
	}
	function.life, function.serve = nil, nil
	before := liveHeap()
	s.catalog.search(map[string]any{"query": "hospital"})
	held := float64(int64(liveHeap())-int64(before)) / (1 << 20)
	warm := make([]time.Duration, 0, b.N)
	i := 0
	for b.Loop() {
		name := []rune(names[i*7919%len(names)])
		began := time.Now()
		s.catalog.search(map[string]any{"query": string(name[:min(len(name), 3+i%30)])})
		warm = append(warm, time.Since(began))
		i++
	}
	b.ReportMetric(held, "MB-held") // reported after the loop, because Loop resets the metrics
	for unit, all := range map[string][]time.Duration{"ms-fetched": fetched, "ms-on-disk": onDisk, "ms-warm": warm} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, unit+"-p50")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, unit+"-p99")
	}
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
