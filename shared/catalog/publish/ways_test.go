package publish_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog/record"
)

// sharing assigns the first brand's portal to brands 1, 2 (hidden) and 3 (removed), and adds merged IDs.
func sharing(c *record.Catalog) {
	for i := 1; i < 4; i++ {
		b := c.Brands[brand(i)]
		b.PortalIDs, b.Hidden = []string{portal(0)}, i == 2
		c.Brands[brand(i)] = b
	}
	removed(3, 4)(c)
	c.Successors = map[string]string{brand(91): brand(1), portal(90): portal(0), brand(95): brand(5)}
}

// leads returns the portals of each way that has any, keyed by endpoint, requested brand and current brand.
func (w *world) leads() map[string]map[string]string {
	found := map[string]map[string]string{}
	for name, way := range w.ways {
		if len(way.Portals) > 0 {
			found[name+" "+way.BrandID] = way.Portals
		}
	}
	return found
}

func TestPublishWritesWaysForSharedServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(6, sharing)
	out := w.publish(t)
	if row := w.rows[server(0)]; !row.Shared() || row.PortalID != "" {
		t.Errorf("the shared one is %+v", row)
	}
	if row := w.rows[server(5)]; row.BrandID != brand(5) || row.PortalID != portal(5) {
		t.Errorf("another one is %+v", row)
	}
	portals := map[string]string{portal(0): portal(0), portal(90): portal(0)}
	want := map[string]map[string]string{
		server(0) + " " + brand(0) + " " + brand(0):  portals,
		server(0) + " " + brand(1) + " " + brand(1):  portals,
		server(0) + " " + brand(91) + " " + brand(1): portals,
		server(0) + " " + brand(2) + " " + brand(2):  portals,
		server(5) + " " + brand(95) + " " + brand(5): {portal(5): portal(5)},
	}
	if diff := cmp.Diff(want, w.leads()); diff != "" || out.Rows.Ways != 5 {
		t.Errorf("%d ways (-want +got):\n%s", out.Rows.Ways, diff)
	}
	w.told = nil
	w.next = institutions(6, nil)
	w.publish(t)
	if got := w.leads(); len(got) > 0 || w.rows[server(0)].BrandID != brand(0) {
		t.Errorf("when nobody shares any more there is %v", got)
	}
	if last := slices.Index(w.told, "pointer"); last < 0 || slices.Index(w.told, "ways") < last {
		t.Errorf("ways end before the pointer has moved: %q", w.told)
	}
	state, err := w.ledger.Publication(t.Context(), "test")
	expect.NoError(t, err)
	if w.fence == 0 || w.fence > state.Rev {
		t.Errorf("ways are fenced by %d, the publication is at %d", w.fence, state.Rev)
	}
}

// TestPublishWritesWaysBeforeSharingEndpoint covers a crash at any write.
func TestPublishWritesWaysBeforeSharingEndpoint(t *testing.T) {
	t.Parallel()
	for crash := 1; ; crash++ {
		w := newWorld(t)
		w.next = institutions(6, nil)
		w.publish(t)
		w.next = institutions(6, sharing)
		w.crashAt = w.writes + crash
		_, err := w.publisher().Publish(t.Context(), "test")
		if w.rows[server(0)].Shared() && len(w.leads()) < 5 {
			t.Errorf("crash %d: shared with %v", crash, w.leads())
		}
		w.crashAt = 0
		w.publish(t)
		if len(w.leads()) != 5 || !w.rows[server(0)].Shared() {
			t.Errorf("crash %d: %v, row %+v", crash, w.leads(), w.rows[server(0)])
		}
		if !errors.Is(err, errCrash) {
			return
		}
	}
}
