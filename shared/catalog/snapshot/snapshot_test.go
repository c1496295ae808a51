package snapshot_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/words/fault"
)

const (
	alder  = "b0000000-0000-4000-8000-00000000000a"
	birch  = "b0000000-0000-4000-8000-00000000000b"
	former = "b0000000-0000-4000-8000-00000000000c"
	portal = "d0000000-0000-4000-8000-00000000000a"
	server = "e0000000-0000-4000-8000-00000000000a"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func catalogOf() record.Catalog {
	since := noon.Add(-time.Hour)
	return record.Catalog{
		Brands: map[string]record.Brand{
			alder: {
				ID: alder, LastUpdated: noon, Name: "Alder \"A\" <Hospital>\n", SortName: "alder", Aliases: []string{"Ålder"},
				PortalIDs: []string{portal},
				BrandIDs:  []string{former},
				Locations: []record.Location{{City: "Ames", State: "IA", PostalCode: "50010", Country: "US"}},
			},
			birch: {
				ID: birch, LastUpdated: noon, Name: "Birch", SortName: "birch",
				State: record.State{UnconfirmedSince: &since, RemovedAt: &since},
			},
		},
		Portals: map[string]record.Portal{portal: {
			ID: portal, LastUpdated: noon, Name: "Alder",
			EndpointIDs: []string{server},
		}},
		Endpoints: map[string]record.Endpoint{server: {
			ID: server, LastUpdated: noon, Status: record.Active, Name: "Alder",
			FHIRBase: "https://alder.example/r4",
		}},
		Successors: map[string]string{former: alder},
	}
}

func TestSnapshotRoundTrips(t *testing.T) {
	t.Parallel()
	files := &memory.Files{}
	s, want := snapshot.Snapshots{Files: files}, catalogOf()
	v, err := s.Write(t.Context(), "test", want, noon)
	expect.NoError(t, err)
	named, err := snapshot.Name(want, noon)
	expect.NoError(t, err)
	if named != v {
		t.Errorf("named %s, written as %s", named, v)
	}
	if _, ok := ledger.ParseVersion(string(v)); !ok || !v.MadeAt().Equal(noon) {
		t.Errorf("%q is no version of noon", v)
	}
	got, err := s.Catalog(t.Context(), "test", v)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	x, err := s.Index(t.Context(), "test", v)
	expect.NoError(t, err)
	page, err := x.Search(search.Query{Text: "alder", Size: 10})
	if err != nil || page.Total != 1 || page.Hits[0].ID != alder {
		t.Errorf("found %+v (%v)", page, err)
	}
	for _, key := range files.Keys() {
		body, _ := files.Get(key)
		if isPublic := strings.HasSuffix(key, "/endpoints.json"); isPublic && bytes.Contains(body, []byte("alder.example")) {
			t.Errorf("%s tells where a server is: %s", key, body)
		}
	}
	expect.NoError(t, s.Delete(t.Context(), "test", v))
	if left := files.Keys(); len(left) > 0 {
		t.Errorf("after deleting there is %v", left)
	}
	_, err = s.Catalog(t.Context(), "test", v)
	expect.NotFound(t, "a version that was deleted", err)
}

// TestWriteIsDeterministic writes the catalogue many times because map iteration order is random.
func TestWriteIsDeterministic(t *testing.T) {
	t.Parallel()
	first, later := &memory.Files{}, &memory.Files{}
	one, err := snapshot.Snapshots{Files: first}.Write(t.Context(), "test", catalogOf(), noon)
	expect.NoError(t, err)
	for range 20 {
		other, err := snapshot.Snapshots{Files: later}.Write(t.Context(), "test", catalogOf(), noon.Add(time.Hour))
		expect.NoError(t, err)
		if other.Hash() != one.Hash() || other <= one {
			t.Fatalf("%s after %s", other, one)
		}
		for i, key := range later.Keys() {
			before, _ := first.Get(first.Keys()[i])
			if after, _ := later.Get(key); !bytes.Equal(before, after) {
				t.Fatalf("%s is %s, and was %s", key, after, before)
			}
		}
	}
}

func TestNameChangesWithContent(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, change := range map[string]func(*record.Catalog){
		"nothing": func(*record.Catalog) {},
		"a name":  func(c *record.Catalog) { b := c.Brands[alder]; b.Name = "Elder"; c.Brands[alder] = b },
		"an address": func(c *record.Catalog) {
			e := c.Endpoints[server]
			e.FHIRBase = "https://elder.example"
			c.Endpoints[server] = e
		},
		"a successor":      func(c *record.Catalog) { c.Successors[former] = birch },
		"a portal is gone": func(c *record.Catalog) { delete(c.Portals, portal) },
	} {
		c := catalogOf()
		change(&c)
		v, err := snapshot.Name(c, noon)
		expect.NoError(t, err)
		if same, isKnown := seen[v.Hash()]; isKnown {
			t.Errorf("%s and %s have one hash", name, same)
		}
		seen[v.Hash()] = name
	}
}

func TestCatalogRejectsTruncatedFile(t *testing.T) {
	t.Parallel()
	files := &memory.Files{}
	s := snapshot.Snapshots{Files: files}
	v, err := s.Write(t.Context(), "test", catalogOf(), noon)
	expect.NoError(t, err)
	key := snapshot.Key("test", v, snapshot.Brands)
	whole, _ := files.Get(key)
	for _, left := range []int{0, 1, len(whole) / 2, len(whole) - 2} {
		files.Put(key, whole[:left])
		if _, err := s.Catalog(t.Context(), "test", v); err == nil || errors.Is(err, fault.NotFound) {
			t.Errorf("%d of %d bytes: %v", left, len(whole), err)
		}
	}
	files.Put(key, []byte("<html>"))
	if _, err := s.Catalog(t.Context(), "test", v); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a page: %v", err)
	}
}
