package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	catalogledger "recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/snapshot"
)

// TestCatalogReturnsInstitutionDetails checks that a catalogue contains each institution's location, the owner of its
// logo, whether it is closed, and whether any list still confirms it.
func TestCatalogReturnsInstitutionDetails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		if got := s.org.request(http.MethodGet, "/bridge/catalog/export", nil); got.status != http.StatusNotFound {
			t.Errorf("before the first catalogue: %d %s", got.status, got.raw)
		}
		s.catalog.goLive("test", marked(s))
		<-time.After(11 * time.Second)
		page := s.catalog.search(map[string]any{"query": "sandbox"})
		if len(page.Hits.Hits) != 1 || page.Hits.Hits[0].Source.Portals[0].UnconfirmedSince == nil {
			t.Errorf("found %+v", page.Hits.Hits)
		}
		for _, id := range []string{s.seeded.Sandbox.BrandID, goneBrand} {
			got := s.call(http.MethodGet, "/bridge/catalog?public_id="+s.seeded.Organisations[0].PublicID+"&brand_id="+
				id, "", "", nil)
			if got.status != http.StatusOK || !strings.Contains(string(got.raw), `_at":"`) &&
				!strings.Contains(string(got.raw), `_since":"`) {
				t.Errorf("%s: %d %s", id, got.status, got.raw)
			}
		}
		files := s.catalog.catalogueFiles()
		<-time.After(time.Hour)
		if got := s.call(http.MethodGet, strings.TrimPrefix(files["brands.json"], baseURL), "", "",
			nil); got.status != http.StatusGone {
			t.Errorf("an hour later: %d %s", got.status, got.raw)
		}
	})
}

const goneBrand = "e5000000-0000-4000-8000-000000000001"

// marked returns a catalogue with an institution that has every optional property.
func marked(s *stack) record.Catalog {
	c, then := s.catalog.institutions(0), time.Now().UTC().Add(-time.Hour)
	brand, portal := c.Brands[s.seeded.Sandbox.BrandID], c.Portals[s.seeded.Sandbox.PortalID]
	brand.Locations = []record.Location{{City: "Harbor", State: "WA", PostalCode: "98101", Country: "US"}}
	brand.LogoURI, brand.LogoLicense, brand.UnconfirmedSince = "https://logos.example/1.svg",
		"https://logos.example/licence", &then
	portal.UnconfirmedSince = &then
	c.Brands[brand.ID], c.Portals[portal.ID] = brand, portal
	brand.ID, brand.Name, brand.RemovedAt = goneBrand, "Gone Hospital", &then
	c.Brands[brand.ID] = brand
	return c
}

// TestCatalogReturns503WhenSnapshotIsUnreadable checks that a function that can't read the catalogue returns an error,
// not an empty result.
func TestCatalogReturns503WhenSnapshotIsUnreadable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		rows := store.Catalog{DB: s.rows, Table: s.template.Outputs["CatalogTable"]}
		seen, err := rows.Pointer(t.Context(), "test")
		expect.NoError(t, err)
		damaged := seen
		damaged.Live, damaged.MovedAt = catalogledger.NewVersion(time.Now(), "0102030405060708"), time.Now()
		for _, file := range []string{snapshot.Index, snapshot.Served, snapshot.Brands, snapshot.Merged} {
			expect.NoError(t, s.catalog.catalogFiles().Write(t.Context(), snapshot.Key("test", damaged.Live, file),
				"application/octet-stream", func(w io.Writer) error {
					_, err := w.Write([]byte("what once was"))
					return err
				}))
		}
		expect.NoError(t, rows.MovePointer(t.Context(), seen, damaged))
		public := "?public_id=" + s.seeded.Organisations[0].PublicID
		for path, got := range map[string]answer{
			"search": s.call(http.MethodPost, "/bridge/catalog/search"+public, "", "", map[string]any{"query": "sandbox"}),
			"get":    s.call(http.MethodGet, "/bridge/catalog"+public+"&brand_id="+s.seeded.Sandbox.BrandID, "", "", nil),
		} {
			if got.status != http.StatusServiceUnavailable {
				t.Errorf("%s: %d %s", path, got.status, got.raw)
			}
		}
	})
}
