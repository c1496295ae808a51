package served_test

import (
	"bytes"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/served"
)

const (
	alder = "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"
	birch = "0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b"
	cedar = "0c0c0c0c-0c0c-4c0c-8c0c-0c0c0c0c0c0c"
	one   = "11111111-1111-4111-8111-111111111111"
	two   = "22222222-2222-4222-8222-222222222222"
)

func written(tb testing.TB) []byte {
	tb.Helper()
	gone := time.Unix(1, 0)
	var out bytes.Buffer
	err := served.Of(record.Catalog{
		Brands: map[string]record.Brand{
			alder: {ID: alder, PortalIDs: []string{"p", "q"}}, birch: {ID: birch, PortalIDs: []string{"none"}},
			cedar: {ID: cedar, Hidden: true},
			one:   {ID: one, State: record.State{RemovedAt: &gone}}, "chosen": {ID: "chosen"},
		},
		Portals: map[string]record.Portal{"p": {EndpointIDs: []string{one, "chosen"}}, "q": {EndpointIDs: []string{two}}},
	}).Write(&out)
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func TestMapRoundTripsBrandsAndEndpoints(t *testing.T) {
	t.Parallel()
	m, err := served.Read(bytes.NewReader(written(t)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{alder: {one, two}, birch: {}}, maps.Collect(m.All())); diff != "" {
		t.Error(diff)
	}
}

// FuzzRead checks that any data accepted by Read can be iterated over.
func FuzzRead(f *testing.F) {
	good := written(f)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte("rb-served 1\n0123456789abcdef\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, document []byte) {
		m, err := served.Read(bytes.NewReader(document))
		for range m.All() {
			if err != nil {
				t.Fatal("brands of what was refused")
			}
		}
	})
}
