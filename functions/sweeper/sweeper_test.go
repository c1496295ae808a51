package sweeper_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/functions/sweeper"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const shards = 3

var errTrouble = errors.New("trouble on our side")

func now() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

func tenant() org.Tenant {
	return org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}
}

// world simulates the database, the queue and the files. If failing lists a method, that method returns the error
// stored there.
type world struct {
	mu      sync.Mutex
	rows    map[int][]due.Item
	tasks   map[string]export.Task
	failing map[string]error // errors to return, by method or by method and ID
	asked   []string
	done    []string // actions in order
}

func (w *world) Due(_ context.Context, shard int, before time.Time) ([]due.Item, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, fmt.Sprintf("%d before %v", shard, before.Sub(now())))
	if err := w.fail("Due", strconv.Itoa(shard)); err != nil {
		return nil, err
	}
	return w.rows[shard], nil
}

func (w *world) Postpone(_ context.Context, i due.Item, until time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fail("Postpone", i.ID); err != nil {
		return err
	}
	w.done = append(w.done, fmt.Sprintf("postpone %s to %v", i.ID, until.Sub(now())))
	return nil
}

func (w *world) Task(_ context.Context, _ org.Tenant, id string) (export.Task, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tasks[id], w.fail("Task", id)
}

func (w *world) ForgetFile(_ context.Context, task export.Task) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fail("ForgetFile", task.ID); err != nil {
		return err
	}
	w.done = append(w.done, "forget "+task.ID)
	return nil
}

func (w *world) Send(_ context.Context, i due.Item, delay time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fail("Send", i.ID); err != nil {
		return err
	}
	w.done = append(w.done, fmt.Sprintf("send %s %s after %v", i.Kind, i.ID, delay))
	return nil
}

func (w *world) Delete(_ context.Context, key string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fail("Delete", key); err != nil {
		return err
	}
	w.done = append(w.done, "delete "+key)
	return nil
}

func (w *world) fail(method, id string) error {
	if err := w.failing[method]; err != nil {
		return err
	}
	return w.failing[method+" "+id]
}

func (w *world) sweep(t *testing.T) error {
	t.Helper()
	return sweeper.New(due.NewSweep(w, w, shards, now), w, w, now)(t.Context(), time.Time{})
}

func item(kind due.Kind, id string, at time.Duration) due.Item {
	return due.Item{Tenant: tenant(), Kind: kind, ID: id, At: now().Add(at)}
}

// finished returns a successful task whose file expires at the given time.
func finished(id string, until time.Duration) export.Task {
	return export.Task{
		ID: id, Tenant: tenant(), Status: export.Success, Files: []export.File{{Key: "file of " + id}},
		FilesUntil: now().Add(until),
	}
}

func TestSweeperReadsDueRowsFromEveryShard(t *testing.T) {
	t.Parallel()
	var w world
	if err := w.sweep(t); err != nil {
		t.Fatal(err)
	}
	slices.Sort(w.asked)
	if diff := cmp.Diff([]string{"0 before 1m30s", "1 before 1m30s", "2 before 1m30s"}, w.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestSweeperHandlesEachKindOfRow(t *testing.T) {
	t.Parallel()
	pending := export.Task{ID: "x", Status: export.Pending}
	failed := export.Task{ID: "x", Tenant: tenant(), Status: export.Failed, Generation: 2, FilesUntil: now()}
	lingering := failed
	lingering.FilesUntil = now().Add(time.Minute)
	leftovers := make([]string, 0, 4)
	for _, key := range failed.Objects() {
		leftovers = append(leftovers, "delete "+key)
	}
	noFile := finished("x", 0)
	noFile.Files = nil
	for name, c := range map[string]struct {
		item due.Item
		task export.Task
		want []string
	}{
		"a pending task": {
			item(due.Task, "x", -time.Hour), pending,
			[]string{"postpone x to 2m0s", "send task x after 0s"},
		},
		"an event": {
			item(due.Event, "x", -time.Second),
			export.Task{},
			[]string{"postpone x to 2m0s", "send event x after 0s"},
		},
		"a delivery": {
			item(due.Delivery, "x", -time.Second),
			export.Task{},
			[]string{"postpone x to 2m0s", "send delivery x after 0s"},
		},
		"a delivery due now": {
			item(due.Delivery, "x", 0),
			export.Task{},
			[]string{"postpone x to 2m0s", "send delivery x after 1s"},
		},
		"a delivery due soon": {
			item(due.Delivery, "x", 80*time.Second),
			export.Task{},
			[]string{"postpone x to 3m20s", "send delivery x after 1m21s"},
		},
		"a lease that ends soon": {
			item(due.Task, "x", 20*time.Second), pending,
			[]string{"postpone x to 2m20s", "send task x after 21s"},
		},
		"an expired file": {
			item(due.Task, "x", -time.Hour), finished("x", -time.Hour),
			[]string{"delete file of x", "forget x"},
		},
		"a file that ends now":    {item(due.Task, "x", 0), finished("x", 0), []string{"delete file of x", "forget x"}},
		"a file that ends soon":   {item(due.Task, "x", time.Minute), finished("x", time.Minute), nil},
		"a file that is no more":  {item(due.Task, "x", 0), noFile, []string{"forget x"}},
		"a failed task":           {item(due.Task, "x", 0), failed, append(leftovers, "forget x")},
		"one whose run may write": {item(due.Task, "x", time.Minute), lingering, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world{rows: map[int][]due.Item{1: {c.item}}, tasks: map[string]export.Task{"x": c.task}}
			if err := w.sweep(t); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, w.done); diff != "" {
				t.Errorf("done (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSweeperSkipsRowHandledElsewhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row    due.Item
		method string
		want   []string
	}{
		"postponed by another sweeper": {item(due.Event, "x", 0), "Postpone", nil},
		"forgotten by another sweeper": {item(due.Task, "x", 0), "ForgetFile", []string{"delete file of x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world{
				rows: map[int][]due.Item{0: {c.row}}, tasks: map[string]export.Task{"x": finished("x", 0)},
				failing: map[string]error{c.method: fault.Stale()},
			}
			if err := w.sweep(t); err != nil {
				t.Errorf("got %v, want no failure", err)
			}
			if diff := cmp.Diff(c.want, w.done); diff != "" {
				t.Errorf("done (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSweeperContinuesAfterFailedRow(t *testing.T) {
	t.Parallel()
	for _, failing := range []string{
		"Due 1", "Task bad", "Postpone bad", "Send bad", "Delete file of bad",
		"ForgetFile bad",
	} {
		t.Run(failing, func(t *testing.T) {
			t.Parallel()
			bad := item(due.Task, "bad", 0)
			w := world{
				rows: map[int][]due.Item{
					0: {item(due.Event, "first", -time.Second), bad, item(due.Delivery, "second", -time.Second)},
					2: {item(due.Event, "third", -time.Second)},
				},
				tasks:   map[string]export.Task{"bad": {ID: "bad", Status: export.Pending}},
				failing: map[string]error{failing: errTrouble},
			}
			if failing == "Delete file of bad" || failing == "ForgetFile bad" {
				w.tasks["bad"] = finished("bad", 0)
			}
			if err := w.sweep(t); !errors.Is(err, errTrouble) {
				t.Errorf("got %v, want the trouble", err)
			}
			for _, id := range []string{"event first", "delivery second", "event third"} {
				if got := count(w.done, "send "+id+" after 0s"); got != 1 {
					t.Errorf("%s was sent %d times: %q", id, got, w.done)
				}
			}
			if failing == "Delete file of bad" && count(w.done, "forget bad") != 0 {
				t.Error("a file that is still there was forgotten")
			}
		})
	}
}

func count(done []string, step string) int {
	n := 0
	for _, d := range done {
		if d == step {
			n++
		}
	}
	return n
}
