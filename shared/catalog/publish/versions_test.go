package publish_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/words/fault"
)

func TestRollbackRestoresRowsAndPausesPublishing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.next = institutions(5, nil)
	good := w.publish(t).Live
	rows := maps.Clone(w.rows)
	wrong := func(c *record.Catalog) {
		removed(0, 2)(c)
		changed(3, func(e *record.Endpoint) { e.Name = "Wrong" })(c)
	}
	w.next = institutions(7, wrong)
	bad := w.publish(t).Live
	out, err := w.publisher().Rollback(t.Context(), "test", good)
	expect.NoError(t, err)
	if out.Live != good || !out.Published {
		t.Errorf("rolled back: %+v", out)
	}
	for id, row := range rows {
		got := w.rows[id]
		got.Rev = row.Rev
		if diff := cmp.Diff(row, got); diff != "" {
			t.Errorf("row %s (-want +got):\n%s", id, diff)
		}
	}
	if len(w.active()) != 5 {
		t.Errorf("patients may go to %v", w.active())
	}
	before := w.writes
	if again := w.publish(t); !again.Paused || again.Published || w.writes != before {
		t.Errorf("published what was taken back: %+v", again)
	}
	_, err = w.publisher().Rollback(t.Context(), "test", "20260304T050607Z-0102030405060708")
	if !errors.Is(err, fault.NotFound) {
		t.Errorf("a version that there never was: %v", err)
	}
	if forth, err := w.publisher().Rollback(t.Context(), "test", bad); err != nil || forth.Live != bad ||
		len(w.active()) != 5 || w.rows[server(3)].Name != "Wrong" {
		t.Errorf("forth: %+v (%v), rows %v", forth, err, w.active())
	}
}

// files is the number of files per version.
const files = 7

func TestPublishDeletesOldVersionsExceptRecentAndLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 30 {
		w.next = institutions(1, changed(0, func(e *record.Endpoint) { e.Name = fmt.Sprint("Hospital ", i) }))
		w.publish(t)
		if i == 4 {
			w.now = w.now.Add(8 * 24 * time.Hour)
		}
	}
	p, err := w.ledger.Pointer(t.Context(), "test")
	expect.NoError(t, err)
	if len(p.Kept) != 25 || p.Kept[24] != p.Live {
		t.Errorf("%d versions are kept, the live one is %s: %v", len(p.Kept), p.Live, p.Kept)
	}
	if keys := w.files.Keys(); len(keys) != 25*files {
		t.Errorf("%d objects are there", len(keys))
	}
}
