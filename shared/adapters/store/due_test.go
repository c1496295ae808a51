package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

func (s stores) allDue(t *testing.T, before time.Time) []due.Item {
	t.Helper()
	var all []due.Item
	for shard := range store.DueShards {
		items, err := s.timers.Due(t.Context(), shard, before)
		expect.NoError(t, err)
		all = append(all, items...)
	}
	slices.SortFunc(all, func(a, b due.Item) int { return a.At.Compare(b.At) })
	return all
}

func (s stores) dueConnections(t *testing.T, before time.Time) []due.Item {
	t.Helper()
	timers := store.Timers{DB: s.db, Table: s.names["ConnectionTable"]}
	var all []due.Item
	for shard := range store.DueShards {
		items, err := timers.Due(t.Context(), shard, before)
		expect.NoError(t, err)
		all = append(all, items...)
	}
	slices.SortFunc(all, func(a, b due.Item) int { return a.At.Compare(b.At) })
	return all
}

// TestDueReturnsRowAtItsDueTime checks the index after every change to a row. The index must contain the row's next due
// time, or no entry if the row is finished.
func TestDueReturnsRowAtItsDueTime(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	far := now.Add(1000 * time.Hour)
	minute := now.Add(time.Minute)
	check := func(after string, want ...due.Item) {
		t.Helper()
		if diff := cmp.Diff(want, s.allDue(t, far)); diff != "" {
			t.Errorf("due after %s (-want +got):\n%s", after, diff)
		}
	}
	connected := due.Item{
		Tenant: tenant, Kind: due.Event, ID: conclusionOf(tenant).Events[0].ID,
		At: now.Add(30 * time.Second),
	}
	task := due.Item{Tenant: tenant, Kind: due.Task, ID: taskID}
	delivery := due.Item{Tenant: tenant, Kind: due.Delivery, ID: delivID, At: minute}
	at := func(i due.Item, at time.Time) due.Item { i.At = at; return i }

	s.connect(t, tenant)
	check("connecting", connected)
	expect.NoError(t, s.events.FanOut(t.Context(), conclusionOf(tenant).Events[0], nil))
	check("fanning out to nobody")

	expect.NoError(t, s.register.OpenTask(t.Context(), pendingTask(tenant), ""))
	check("opening", at(task, now.Add(30*time.Second)))
	claimed, err := s.tasks.ClaimTask(t.Context(), tenant, taskID, now, minute)
	expect.NoError(t, err)
	check("claiming", at(task, minute))
	expect.NoError(t, s.tasks.ExtendTask(t.Context(), claimed, now.Add(2*time.Minute)))
	check("extending", at(task, now.Add(2*time.Minute)))
	expect.NoError(t, s.tasks.YieldTask(t.Context(), claimed, time.Time{}, now.Add(time.Hour)))
	check("yielding", at(task, now.Add(time.Hour)))
	expect.NoError(t, s.timers.Postpone(t.Context(), at(task, now.Add(time.Hour)), now.Add(2*time.Hour)))
	check("postponing", at(task, now.Add(2*time.Hour)))
	claimed, err = s.tasks.ClaimTask(t.Context(), tenant, taskID, now, minute)
	expect.NoError(t, err)
	done := succeeded(claimed)
	expect.NoError(t, s.tasks.FinishTask(t.Context(), done, eventOf(tenant, eventID)))
	event := due.Item{Tenant: tenant, Kind: due.Event, ID: eventID, At: now.Add(30 * time.Second)}
	check("finishing", event, at(task, done.FilesUntil))
	expect.NoError(t, s.tasks.ForgetFile(t.Context(), done))
	check("forgetting the file", event)

	expect.NoError(t, s.events.FanOut(t.Context(), eventOf(tenant, eventID), []webhook.Delivery{deliveryOf(tenant)}))
	check("fanning out", delivery)
	d := deliveryOf(tenant)
	d.Status, d.Attempt, d.NextAt, d.DueAt = webhook.Scheduled, 2, minute, now.Add(time.Hour)
	expect.NoError(t, s.deliveries.RecordAttempt(t.Context(), d, webhook.Attempt{Number: 1, At: now}))
	check("a failed attempt", at(delivery, now.Add(time.Hour)))
	d, err = s.deliveries.ClaimDelivery(t.Context(), tenant, delivID, minute, now.Add(2*time.Minute))
	expect.NoError(t, err)
	check("claiming the second", at(delivery, now.Add(2*time.Minute)))
	d.Status, d.DueAt = webhook.Delivered, time.Time{}
	expect.NoError(t, s.deliveries.RecordAttempt(t.Context(), d, webhook.Attempt{Number: 2, At: now}))
	check("delivering")
}

func TestFailedTaskRemainsDueUntilFilesAreDeleted(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	task := s.claim(t)
	expect.Conflict(t, "forgetting the files of a task that goes on", s.tasks.ForgetFile(t.Context(), task))
	task.Status, task.FinishedAt, task.FilesUntil = export.Failed, now, now.Add(time.Hour)
	expect.NoError(t, s.tasks.FinishTask(t.Context(), task, eventOf(tenant, eventID)))
	tasksDue := func(within time.Duration) (n int) {
		for _, i := range s.allDue(t, now.Add(within)) {
			if i.Kind == due.Task {
				n++
			}
		}
		return n
	}
	if before, then := tasksDue(time.Hour-time.Second), tasksDue(time.Hour); before != 0 || then != 1 {
		t.Errorf("%d tasks are due before its files' time is over, %d then; want 0 and 1", before, then)
	}
	expect.NoError(t, s.tasks.ForgetFile(t.Context(), task))
	if got := tasksDue(1000 * time.Hour); got != 0 {
		t.Errorf("it is due %d times after that", got)
	}
	expect.Conflict(t, "forgetting them again", s.tasks.ForgetFile(t.Context(), task))
}

func TestDueListsDueRowsOldestFirst(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	const rows = 64
	for i := range rows {
		event := eventOf(org.Tenant{Mode: org.Live, OrgID: orgB}, fmt.Sprintf("e0000000-0000-4000-8000-0000000000%02d", i))
		event.CreatedAt = now.Add(time.Duration((i*37)%rows) * time.Second)
		expect.NoError(t, s.events.CreateEvent(t.Context(), event))
	}
	shards, seen := 0, map[string]bool{}
	before := now.Add(30*time.Second + 31*time.Second) // time when the 32nd row is due
	for shard := range store.DueShards {
		items, err := s.timers.Due(t.Context(), shard, before)
		expect.NoError(t, err)
		if !slices.IsSortedFunc(items, func(a, b due.Item) int { return a.At.Compare(b.At) }) {
			t.Errorf("shard %d is not in order: %v", shard, items)
		}
		for _, i := range items {
			if i.At.After(before) || i.Tenant != (org.Tenant{Mode: org.Live, OrgID: orgB}) || i.Kind != due.Event {
				t.Errorf("%v is not what is due", i)
			}
			seen[i.ID] = true
		}
		if len(items) > 0 {
			shards++
		}
	}
	if len(seen) != 32 {
		t.Errorf("%d rows are due, want 32", len(seen))
	}
	if shards < store.DueShards/2 {
		t.Errorf("the rows are in %d of %d shards", shards, store.DueShards)
	}
}

func TestPostponeSucceedsForOneConcurrentSweeper(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.open(t, tenant)
	item := due.Item{Tenant: tenant, Kind: due.Task, ID: taskID, At: now.Add(30 * time.Second)}
	if won := expect.Winners(t, 10, func(ctx context.Context, _ int) error {
		return s.timers.Postpone(ctx, item, now.Add(time.Hour))
	}); won != 1 {
		t.Errorf("%d of 10 sweepers won, want 1", won)
	}
	for _, seen := range []time.Time{item.At, now.Add(time.Hour - time.Second), now.Add(2 * time.Hour)} {
		item.At = seen
		expect.Conflict(t, "postponing what was moved since", s.timers.Postpone(t.Context(), item, now.Add(3*time.Hour)))
	}
	item.ID = taskNumber(9)
	expect.Conflict(t, "postponing a row that is gone", s.timers.Postpone(t.Context(), item, now))
}

// TestDueConnectionIsClaimedOnce checks that only one scheduler at a time can claim a row of the Connection table.
// Saving the connection must set its next due time.
func TestDueConnectionIsClaimedOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	far := now.Add(10000 * time.Hour)
	check := func(after string, want ...due.Item) {
		t.Helper()
		if diff := cmp.Diff(want, s.dueConnections(t, far)); diff != "" {
			t.Errorf("due after %s (-want +got):\n%s", after, diff)
		}
	}
	at := func(at time.Time) due.Item {
		return due.Item{Tenant: tenant, Kind: due.Connection, ID: connID, At: at}
	}
	save := func(c connection.Connection) {
		t.Helper()
		expect.NoError(t, s.refresh.SaveConnection(t.Context(), c))
	}

	s.connect(t, tenant)
	check("connecting", at(now.Add(time.Minute)))
	timers := store.Timers{DB: s.db, Table: s.names["ConnectionTable"]}
	if won := expect.Winners(t, 10, func(ctx context.Context, _ int) error {
		return timers.Postpone(ctx, at(now.Add(time.Minute)), now.Add(10*time.Minute))
	}); won != 1 {
		t.Errorf("%d of 10 schedulers won, want 1", won)
	}
	check("postponing", at(now.Add(10*time.Minute)))

	c := s.connection(t)
	c.Refresh = connection.RefreshState{RefreshAt: now.Add(100 * time.Hour), Warned: true}
	save(c)
	check("a refresh", at(now.Add(100*time.Hour)))
	expect.Conflict(t, "postponing what was refreshed since",
		timers.Postpone(t.Context(), at(now.Add(10*time.Minute)), far))
	c = s.connection(t)
	c.Status, c.Refresh = connection.Revoked,
		connection.RefreshState{RefreshAt: now.Add(time.Hour), UpstreamUntil: now.Add(24 * time.Hour)}
	save(c)
	check("disconnecting", at(now.Add(time.Hour)))
	c = s.connection(t)
	c.Refresh = connection.RefreshState{Ended: "disconnected"}
	save(c)
	check("revoking upstream")
	if items := s.allDue(t, now); len(items) != 0 {
		t.Errorf("the sweeper finds %v", items)
	}
}
