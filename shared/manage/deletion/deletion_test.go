package deletion_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const orgID = "0a000000-0000-4000-8000-00000000000a"

var errCrash = errors.New("crashed")

// world holds an organisation in memory and can make the process crash at a given call.
type world struct {
	now      time.Time
	row      deletion.Deletion
	stored   bool
	org      org.Organisation
	isThere  bool
	rows     map[deletion.Stage]map[org.Mode][]string // row keys by stage and mode, in order
	objects  map[string]bool
	domains  map[string]string
	counters int
	ended    map[string]int // number of disconnections per connection
	done     []string       // removed items, in order
	proofs   []string
	proofIDs map[string]bool
	most     int // largest number of keys in one request
	calls    int
	crashAt  int // number of the call that crashes; 0 if none crashes
}

func newWorld(connections int) *world {
	w := &world{
		now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), org: org.Organisation{ID: orgID, Name: "Alder", Status: org.Active},
		isThere: true,
		rows:    make(map[deletion.Stage]map[org.Mode][]string),
		objects: map[string]bool{"test/" + orgID + "/t/1": true, "live/" + orgID + "/t/1": true, "test/other/t/1": true},
		domains: map[string]string{"alder.example": orgID, "birch.example": "other"}, ended: map[string]int{},
		proofIDs: map[string]bool{},
	}
	for _, stage := range []deletion.Stage{
		deletion.Credentials, deletion.Webhooks, deletion.Connections, deletion.Exports, deletion.Deliveries, deletion.Events,
		deletion.Inquiries,
		deletion.Invitations, deletion.Members,
	} {
		n := 3
		if stage == deletion.Connections {
			n = connections
		}
		w.rows[stage] = make(map[org.Mode][]string)
		for i := range n {
			w.rows[stage][org.Test] = append(w.rows[stage][org.Test], fmt.Sprintf("%06d#%s-%d", i, stage, i))
		}
		if stage != deletion.Members && stage != deletion.Invitations {
			w.rows[stage][org.Live] = []string{"000000#live-" + string(stage)}
		}
	}
	return w
}

func (w *world) Deletion(context.Context, string) (deletion.Deletion, error) {
	if !w.stored {
		return deletion.Deletion{}, fault.Missing("Record not found.")
	}
	d := w.row
	d.Held = slices.Clone(d.Held)
	return d, w.call()
}

func (w *world) SaveDeletion(_ context.Context, d deletion.Deletion) error {
	if d.Rev != w.row.Rev {
		return fault.Stale()
	}
	d.Rev++
	w.row, w.stored = d, true
	return w.call()
}

func (w *world) DueDeletions(context.Context, time.Time) ([]string, error) {
	if !w.stored || w.row.DueAt.IsZero() || w.row.DueAt.After(w.now) {
		return nil, nil
	}
	return []string{orgID}, nil
}

func (w *world) Places(_ context.Context, of deletion.Stage, tenant org.Tenant, behind string,
	limit int,
) ([]string, error) {
	if of == deletion.Disconnecting {
		of = deletion.Connections
	}
	w.most = max(w.most, limit)
	all := w.rows[of][tenant.Mode]
	from, found := slices.BinarySearch(all, behind)
	if found {
		from++
	}
	if from == len(all) {
		return nil, w.call()
	}
	return slices.Clone(all[from:min(len(all), from+limit)]), w.call()
}

func (w *world) Remove(_ context.Context, of deletion.Stage, tenant org.Tenant, place string, _ time.Time) error {
	if of == deletion.Connections && w.ended[tenant.Key()+place[strings.Index(place, "#")+1:]] == 0 {
		return fault.Stale()
	}
	all := w.rows[of][tenant.Mode]
	if i, found := slices.BinarySearch(all, place); found {
		w.rows[of][tenant.Mode] = slices.Delete(all, i, i+1)
		w.done = append(w.done, string(of))
	}
	return w.call()
}

func (w *world) RemoveCounters(context.Context, org.Tenant) error {
	w.counters++
	return w.call()
}

func (w *world) Domain(_ context.Context, domain string) (string, error) {
	if holder, ok := w.domains[domain]; ok {
		return holder, w.call()
	}
	return "", fault.Missing("Record not found.")
}

func (w *world) ReleaseDomain(_ context.Context, domain, orgID string) error {
	if w.domains[domain] == orgID {
		delete(w.domains, domain)
	}
	return w.call()
}

func (w *world) Organisation(context.Context, org.Tenant) (org.Organisation, error) {
	if !w.isThere {
		return org.Organisation{}, fault.Missing("Record not found.")
	}
	return w.org, w.call()
}

func (w *world) SaveOrganisation(_ context.Context, o org.Organisation) error {
	w.org = o
	return w.call()
}

func (w *world) ForgetOrganisation(context.Context, org.Organisation) error {
	w.isThere = false
	return w.call()
}

func (w *world) List(_ context.Context, prefix string) ([]string, error) {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(w.objects)),
		func(k string) bool { return !strings.HasPrefix(k, prefix) }), w.call()
}

func (w *world) Delete(_ context.Context, key string) error {
	delete(w.objects, key)
	return w.call()
}

func (w *world) Disconnect(_ context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	w.ended[tenant.Key()+id]++
	return connection.Connection{}, w.call()
}

func (w *world) Append(_ context.Context, row audit.Row) error {
	w.proofs, w.proofIDs[row.ID] = append(w.proofs, row.Action+" "+row.Target), true
	return w.call()
}

func (w *world) Has(_ context.Context, _, id string, _ time.Time) (bool, error) {
	return w.proofIDs[id], w.call()
}

func (w *world) call() error {
	if w.calls++; w.calls == w.crashAt {
		return errCrash
	}
	return nil
}

func (w *world) requests() deletion.Requests {
	return deletion.Requests{Rows: w, Now: func() time.Time { return w.now }}
}

// run runs the schedule for the given number of hours.
func (w *world) run(t *testing.T, hours int) {
	t.Helper()
	worker := deletion.Worker{
		Store: w, Files: w, Records: noObjects{}, Disconnector: w, Audit: w,
		Now: func() time.Time { return w.now },
	}
	for end := w.now.Add(time.Duration(hours) * time.Hour); w.now.Before(end); w.now = w.now.Add(time.Minute) {
		if err := worker.Run(t.Context()); err != nil && !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
	}
}

type noObjects struct{}

func (noObjects) List(context.Context, string) ([]string, error) { return nil, nil }
func (noObjects) Delete(context.Context, string) error           { return nil }

func (w *world) request(t *testing.T) {
	t.Helper()
	announced := 0
	_, err := w.requests().Request(t.Context(), orgID, "member:ada", []string{"alder.example", "birch.example"},
		func(deletion.Deletion) error {
			announced++
			return nil
		})
	expect.NoError(t, err)
	if announced != 1 {
		t.Errorf("announced %d times", announced)
	}
}

// unannounced returns an announce function that fails the test if called.
func unannounced(t *testing.T) func(deletion.Deletion) error {
	t.Helper()
	return func(d deletion.Deletion) error {
		t.Errorf("announced %+v", d)
		return nil
	}
}

const proof = "organisation.deleted " + orgID +
	" credentials=4 webhooks=4 connections=%d exports=4 files=2 events=4 deliveries=4 inquiries=4 members=3 " +
	"invitations=3 domains=1"

// check fails the test if any of the organisation's data remains.
func (w *world) check(t *testing.T, connections int) {
	t.Helper()
	for stage, modes := range w.rows {
		if left := len(modes[org.Test]) + len(modes[org.Live]); left > 0 {
			t.Errorf("%d rows of %s are left", left, stage)
		}
	}
	if len(w.objects) != 1 || !w.objects["test/other/t/1"] || len(w.domains) != 1 ||
		w.domains["birch.example"] != "other" || w.isThere {
		t.Errorf("objects %v, domains %v, organisation %v", w.objects, w.domains, w.isThere)
	}
	if want := fmt.Sprintf(proof, connections+1); len(w.proofs) != 1 || w.proofs[0] != want {
		t.Errorf("proven by %q, want %q", w.proofs, want)
	}
	if w.row.Stage != deletion.Done || w.row.FinishedAt.IsZero() || !w.row.DueAt.IsZero() || len(w.row.Claims) > 0 {
		t.Errorf("it stands as %+v", w.row)
	}
}

func TestWorkerDeletesDataInOrderAfterWaitingPeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(120)
	w.request(t)
	w.run(t, 7*24-1)
	if w.row.Stage != deletion.Waiting || len(w.done) > 0 || len(w.ended) > 0 || w.org.Status != org.Active {
		t.Errorf("within the waiting time: %s, removed %v", w.row.Stage, w.done)
	}
	w.run(t, 2)
	if w.org.Status != org.Inactive || len(w.ended) != 121 || slices.Contains(w.done, "connections") {
		t.Errorf("an hour after it began: %s, %d disconnected, removed %v", w.org.Status, len(w.ended),
			slices.Compact(slices.Clone(w.done)))
	}
	w.run(t, 3)
	w.check(t, 120)
	want := []string{
		"credentials", "webhooks", "connections", "exports", "deliveries", "events", "inquiries",
		"invitations", "members",
	}
	if got := slices.Compact(w.done); !slices.Equal(got, want) || w.counters != 2 {
		t.Errorf("removed in the order %v, want %v", got, want)
	}
}

func TestWorkerReadsTenThousandConnectionsInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(10_000)
	w.request(t)
	w.now = w.now.Add(7 * 24 * time.Hour)
	w.run(t, 4)
	w.check(t, 10_000)
	if w.most > 100 {
		t.Errorf("%d places were asked for at once", w.most)
	}
}

// TestWorkerCompletesDeletionAfterAnyCrash checks that, after a crash at any call, another run finishes the deletion
// with the same counts.
func TestWorkerCompletesDeletionAfterAnyCrash(t *testing.T) {
	t.Parallel()
	whole := newWorld(3)
	whole.request(t)
	whole.now = whole.now.Add(7 * 24 * time.Hour)
	whole.run(t, 4)
	if whole.calls < 100 {
		t.Fatalf("only %d calls", whole.calls)
	}
	for at := 1; at <= whole.calls; at++ {
		w := newWorld(3)
		w.request(t)
		w.now, w.crashAt = w.now.Add(7*24*time.Hour), w.calls+at
		w.run(t, 4)
		w.check(t, 3)
		if t.Failed() {
			t.Fatalf("after a crash at call %d", at)
		}
	}
}

func TestWorkerRemovesRowsAddedDuringDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(3)
	w.request(t)
	w.now = w.now.Add(7 * 24 * time.Hour)
	w.run(t, 1)
	w.rows[deletion.Connections][org.Test] = append(w.rows[deletion.Connections][org.Test], "999999#late")
	w.rows[deletion.Credentials][org.Test] = append(w.rows[deletion.Credentials][org.Test], "999999#late")
	w.run(t, 3)
	if len(w.rows[deletion.Connections][org.Test]) > 0 || len(w.rows[deletion.Credentials][org.Test]) > 0 ||
		w.row.Stage != deletion.Done {
		t.Errorf("left %v, stage %s", w.rows, w.row.Stage)
	}
}

func TestDeletionRequestIsLimitedToOncePerDay(t *testing.T) {
	t.Parallel()
	w := newWorld(1)
	w.request(t)
	_, err := w.requests().Cancel(t.Context(), orgID)
	expect.NoError(t, err)
	w.now = w.now.Add(24*time.Hour - time.Second)
	if _, err = w.requests().Request(t.Context(), orgID, "member:ada", nil, unannounced(t)); !errors.Is(err,
		fault.Limited) || fault.Of(err).RetryAfter != time.Second {
		t.Errorf("requesting again within a day: %v", err)
	}
	w.now = w.now.Add(time.Second)
	w.request(t)
}

func TestRequestDiscardsDeletionWhenNotificationFails(t *testing.T) {
	t.Parallel()
	w, broken := newWorld(1), errors.New("no mail today")
	_, err := w.requests().Request(t.Context(), orgID, "member:ada", nil, func(deletion.Deletion) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("requesting: %v", err)
	}
	if _, err = w.requests().Show(t.Context(), orgID); !errors.Is(err, fault.NotFound) {
		t.Errorf("a deletion is stored: %v", err)
	}
	w.request(t)
}

func TestCancelFailsOnceDeletionHasBegun(t *testing.T) {
	t.Parallel()
	w := newWorld(1)
	if _, err := w.requests().Cancel(t.Context(), orgID); !errors.Is(err, fault.NotFound) {
		t.Errorf("cancelling what nobody asked for: %v", err)
	}
	w.request(t)
	again, err := w.requests().Request(t.Context(), orgID, "member:bob", nil, unannounced(t))
	expect.NoError(t, err)
	if again.Actor != "member:ada" || !again.BeginsAt.Equal(w.now.Add(7*24*time.Hour)) {
		t.Errorf("asked again: %+v", again)
	}
	_, err = w.requests().Cancel(t.Context(), orgID)
	expect.NoError(t, err)
	if _, err = w.requests().Show(t.Context(), orgID); !errors.Is(err, fault.NotFound) {
		t.Errorf("a cancelled deletion is shown: %v", err)
	}
	w.run(t, 8*24)
	if len(w.done) > 0 || w.org.Status != org.Active || !w.isThere {
		t.Errorf("a cancelled deletion removed %v", w.done)
	}
	w.request(t)
	w.now = w.now.Add(7 * 24 * time.Hour)
	if _, err = w.requests().Cancel(t.Context(), orgID); !errors.Is(err, fault.Conflict) {
		t.Errorf("cancelling when it begins: %v", err)
	}
	w.run(t, 4)
	w.check(t, 1)
}
