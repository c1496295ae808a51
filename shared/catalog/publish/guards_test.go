package publish_test

import (
	"errors"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/words/fault"
)

// TestPublishDoesNotCountMergedBrandsAsRemoved checks that a merged institution still resolves and that the merge
// doesn't require approval.
func TestPublishDoesNotCountMergedBrandsAsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(60, nil)
	w.publish(t)
	w.next = institutions(60, func(c *record.Catalog) {
		for i := 30; i < 60; i++ {
			delete(c.Brands, brand(i))
			c.Successors[brand(i)] = brand(i - 30)
		}
	})
	if out := w.publish(t); !out.Published || out.Question.ID != "" {
		t.Errorf("half was merged: %+v", out)
	}
}

// TestPublishIgnoresRemovedInstitutionsOfSharedServer checks that removed institutions and portals don't count as users
// of a server.
func TestPublishIgnoresRemovedInstitutionsOfSharedServer(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*record.Catalog){
		"an institution has gone": func(c *record.Catalog) {
			b := c.Brands[brand(1)]
			b.RemovedAt = &noon
			c.Brands[brand(1)] = b
		},
		"a portal has gone": func(c *record.Catalog) {
			p := c.Portals[portal(1)]
			p.RemovedAt, p.EndpointIDs = &noon, []string{server(0)}
			c.Portals[portal(1)] = p
			b := c.Brands[brand(1)]
			b.PortalIDs = []string{portal(1)}
			c.Brands[brand(1)] = b
		},
	} {
		w := newWorld(t)
		w.next = institutions(3, func(c *record.Catalog) { sharing(c) })
		w.publish(t)
		w.next = institutions(3, func(c *record.Catalog) {
			b := c.Brands[brand(1)]
			b.PortalIDs = []string{portal(0)}
			c.Brands[brand(1)] = b
			change(c)
		})
		w.publish(t)
		if row := w.rows[server(0)]; row.BrandID != brand(0) || row.PortalID != portal(0) {
			t.Errorf("%s: the row is %+v", name, row)
		}
		if left := w.leads(); len(left) > 0 {
			t.Errorf("%s: ways are left: %v", name, left)
		}
	}
}

// TestPublishStopsWhenAnotherVersionIsLive checks that a publication leaves the other version live.
func TestPublishStopsWhenAnotherVersionIsLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(3, nil)
	first := w.publish(t).Live
	w.next = institutions(4, nil)
	w.publish(t)
	state, err := w.ledger.Publication(t.Context(), "test")
	expect.NoError(t, err)
	pointer, err := w.ledger.Pointer(t.Context(), "test")
	expect.NoError(t, err)
	other := ledger.Version("20260304T110000Z-0102030405060708")
	state.From, state.To, state.Phase = other, first, ledger.Rows
	_, err = w.ledger.SavePublication(t.Context(), state)
	expect.NoError(t, err)
	w.copied(t, pointer.Live, other)
	if _, err = w.publisher().Publish(t.Context(), "test"); !errors.Is(err, fault.Conflict) {
		t.Errorf("got %v", err)
	}
	if now, err := w.ledger.Pointer(t.Context(), "test"); err != nil || now.Live != pointer.Live {
		t.Errorf("live is %s (%v), and was %s", now.Live, err, pointer.Live)
	}
}

// TestRollbackRequiresKeptVersion checks that a rollback rejects the live version and versions that no pointer retains.
func TestRollbackRequiresKeptVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(3, nil)
	live, stray := w.publish(t).Live, ledger.Version("20260304T110000Z-0102030405060708")
	w.copied(t, live, stray)
	for _, version := range []ledger.Version{live, stray} {
		if _, err := w.publisher().Rollback(t.Context(), "test", version); !errors.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// copied copies one version's objects, naming the copies after another version.
func (w *world) copied(t *testing.T, from, to ledger.Version) {
	t.Helper()
	for _, name := range []string{"brands.json", "portals.json", "endpoints.json", "merged.json", "bases.json"} {
		body, there := w.files.Get("snapshots/test/" + string(from) + "/" + name)
		if !there {
			t.Fatalf("there is no %s", name)
		}
		w.files.Put("snapshots/test/"+string(to)+"/"+name, body)
	}
}
