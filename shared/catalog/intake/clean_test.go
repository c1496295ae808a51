package intake_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/intake"
)

// kept checks that the stored objects are exactly those referenced by the state.
func (w *world) kept(t *testing.T, s intake.State) {
	t.Helper()
	named := slices.Clone(s.Replaced)
	for _, version := range []*intake.Version{s.Accepted, s.Pending} {
		if version != nil {
			named = append(named, version.Key)
		}
	}
	slices.Sort(named)
	if diff := cmp.Diff(named, slices.Sorted(maps.Keys(w.objects))); diff != "" {
		t.Errorf("objects that are named, and those that are there (-named +there):\n%s", diff)
	}
}

// TestRefreshDeletesReplacedObjectOnNextRun checks that the object is not deleted earlier, because a publication in
// progress may still read it.
func TestRefreshDeletesReplacedObjectOnNextRun(t *testing.T) {
	t.Parallel()
	w := newWorld(source())
	read := func(list string) intake.State {
		w.now = w.now.Add(24 * time.Hour)
		w.body = list
		state, _ := w.refresh(t)
		w.kept(t, state)
		return state
	}
	read(rows(0, 10))
	if state := read(rows(0, 11)); len(state.Replaced) != 1 || len(w.objects) != 2 {
		t.Errorf("replaced: %+v, %d objects", state, len(w.objects))
	}
	// The third list has the same content as the first.
	if state := read(rows(0, 10)); w.names(t, state.Accepted) == "" || len(w.objects) != 2 {
		t.Errorf("back: %+v, %d objects", state, len(w.objects))
	}
	read(rows(0, 2)) // awaits approval
	read(rows(0, 3)) // replaces the version that awaits approval
	if state := read(rows(0, 3)); len(state.Replaced) != 0 || len(w.objects) != 2 {
		t.Errorf("unchanged: %+v, %d objects", state, len(w.objects))
	}
	row, err := w.intake().Approve(t.Context(), w.rows["vendor"])
	if w.kept(t, row.State); err != nil || len(row.State.Replaced) != 1 {
		t.Errorf("approved: %+v, %v", row.State, err)
	}
	if err := w.intake().Forget(t.Context(), w.rows["vendor"]); err != nil || len(w.objects) > 0 {
		t.Errorf("a source that was removed leaves %v, %v", slices.Collect(maps.Keys(w.objects)), err)
	}
}

// TestRefreshRetriesFailedDeletion covers a row that was not saved after the deletion.
func TestRefreshRetriesFailedDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(source())
	for n := range 2 {
		w.body = rows(0, 10+n)
		w.refresh(t)
	}
	w.stuck = errors.New("trouble")
	if _, _, err := w.intake().Refresh(t.Context(), w.rows["vendor"]); !errors.Is(err, w.stuck) {
		t.Errorf("got %v", err)
	}
	w.stuck, w.clash = nil, true
	if _, _, err := w.intake().Refresh(t.Context(), w.rows["vendor"]); err == nil ||
		len(w.rows["vendor"].State.Replaced) != 1 {
		t.Errorf("the row that was not saved: %+v, %v", w.rows["vendor"].State, err)
	}
	w.clash = false
	if state, _ := w.refresh(t); len(state.Replaced) != 0 {
		t.Errorf("left: %v", state.Replaced)
	}
	w.kept(t, w.rows["vendor"].State)
}
