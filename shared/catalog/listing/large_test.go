package listing_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"recordbridge/shared/catalog/listing"
)

// manyBrands is a reader that generates a bundle of brands like those that large vendors publish. The bundle lists the
// servers last, and locations are parts of brands.
type manyBrands struct {
	places, padding int
	left            strings.Reader
	at              int
}

func (m *manyBrands) Read(p []byte) (int, error) {
	for m.left.Len() == 0 {
		if m.at > m.places+1 {
			return 0, io.EOF
		}
		m.left.Reset(m.next())
		m.at++
	}
	return m.left.Read(p)
}

func (m *manyBrands) next() string {
	switch m.at {
	case 0:
		return `{"resourceType":"Bundle","timestamp":"2026-03-04T05:06:07Z","entry":[`
	case m.places + 1:
		var servers strings.Builder
		for i := range 800 {
			fmt.Fprintf(&servers,
				`{"fullUrl":"urn:uuid:server-%d","resource":{"resourceType":"Endpoint","id":"server-%d","status":"active",`+
					`"name":"Server %d","address":"https://fhir%d.example/r4"}},`, i, i, i, i)
		}
		return servers.String() + `{}]}`
	}
	partOf, server := fmt.Sprintf(`"partOf":{"reference":"urn:uuid:place-%d"},`, m.at%800), ""
	if m.at < 800 {
		partOf, server = "", fmt.Sprintf(`"endpoint":[{"reference":"urn:uuid:server-%d"}],`, m.at)
	}
	return fmt.Sprintf(
		`{"fullUrl":"urn:uuid:place-%d","resource":{"resourceType":"Organization","id":"place-%d",%s%s"active":true,`+
			`"name":"Clinic number %d",`+
			`"text":{"div":"%s"},"identifier":[{"system":"urn:oid:2.999","value":"%d"}],`+
			`"address":[{"line":["%d Main Street"],"city":"Elmton","state":"OR","postalCode":"%05d"}]}},`,
		m.at, m.at, partOf, server, m.at, strings.Repeat("x", m.padding), m.at, m.at, m.at)
}

// TestReadBundleUsesBoundedMemory checks that Read doesn't hold the unused parts of a bundle in memory.
func TestReadBundleUsesBoundedMemory(t *testing.T) { //nolint:paralleltest // measures the heap
	before := heap()
	var kept []listing.Listing
	report, err := listing.Read(t.Context(), listing.Brands, &manyBrands{places: 1000, padding: 20_000},
		func(l listing.Listing) error {
			kept = append(kept, l)
			return nil
		})
	grown := heap() - before
	if err != nil || report.Listings != 999 || grown > 4<<20 { // place-800 belongs to place-0, which does not exist
		t.Errorf("%d listings of 20 MB, %d bytes more in memory, %v, %+v", report.Listings, grown, err, report.Problems)
	}
	runtime.KeepAlive(kept)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkReadLargestBundle(b *testing.B) {
	var most uint64
	for b.Loop() {
		n := 0
		_, err := listing.Read(b.Context(), listing.Brands, &manyBrands{places: 95_000, padding: 600},
			func(listing.Listing) error {
				if n++; n%20_000 == 0 {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					most = max(most, m.HeapAlloc)
				}
				return nil
			})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(most)/(1<<20), "MiB-heap")
}
