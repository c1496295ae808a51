package serve_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/catalog/serve"
	"recordbridge/shared/catalog/snapshot"
)

// publishAs publishes another catalogue in live mode under a version name that test mode also uses.
func (w *world) publishAs(t *testing.T, v ledger.Version, name string) {
	t.Helper()
	own, err := snapshot.Snapshots{Files: w}.Write(t.Context(), "live", institutions(3, name), time.Now())
	expect.NoError(t, err)
	w.set(func() {
		for key, object := range w.objects {
			if file, is := strings.CutPrefix(key, "snapshots/live/"+string(own)+"/"); is {
				w.objects[snapshot.Key("live", v, file)] = bytes.Clone(object)
			}
		}
		w.other = v
	})
}

// TestCatalogueServesModesSeparately covers new searches, later pages of older searches, and records, where both modes
// have versions with the same names.
func TestCatalogueServesModesSeparately(t *testing.T) {
	t.Parallel()
	dir, recordsDir := t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		c := w.catalogue(dir)
		records := serve.NewRecords(w.pointers(), serve.Files{Objects: w, Dir: recordsDir}, w, ownhosts.Own(), time.Now)
		first := w.publish(t, institutions(3, "Alder"))
		w.publishAs(t, first, "Birch")
		finds := func(place serve.Searchable, err error) string {
			t.Helper()
			expect.NoError(t, err)
			page, err := place.Index.Search(search.Query{Text: "alder birch", Size: 1})
			expect.NoError(t, err)
			return strings.Fields(page.Hits[0].Position.SortName)[0]
		}
		want := map[string]string{"test": "Alder", "live": "Birch"}
		for mode, name := range want {
			_, place, err := c.Live(t.Context(), mode)
			if got := finds(place, err); got != name {
				t.Errorf("%s is answered from %s", mode, got)
			}
			brand, err := records.Brand(t.Context(), mode, id("brand", 1))
			if err != nil || brand.Name != name+" 1" {
				t.Errorf("the record of %s is %q (%v)", mode, brand.Name, err)
			}
		}
		w.publishAs(t, w.publish(t, institutions(4, "Elder")), "Fir")
		for range 2 {
			<-time.After(time.Minute)
			for mode := range want {
				_, _, err := c.Live(t.Context(), mode)
				expect.NoError(t, err)
			}
			synctest.Wait()
		}
		for mode, name := range want {
			if got := finds(c.At(t.Context(), mode, serve.Edition{Version: first})); got != name {
				t.Errorf("a page of %s comes from %s", mode, got)
			}
		}
	})
}
