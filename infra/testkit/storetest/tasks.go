package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
	"recordbridge/shared/export/worker"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// Tasks combines the store interfaces that exports use. The store holds tasks, each connection's newest task, shares
// and events.
type Tasks interface {
	export.TaskStore
	worker.Store
	share.Rows
	CreateEvent(ctx context.Context, event webhook.Event) error
}

// Registration tests a store against the requirements of export.Registrar. Only one of several concurrent requests may
// open a task or, for a given count, resend an event. open returns a store with a single authorized connection.
func Registration(t *testing.T, open func(tb testing.TB, of org.Tenant, connectionID string) Tasks) {
	t.Helper()
	run(t, connected(open), map[string]func(subject[Tasks]){
		"an opened task is its connection's newest":           openedIsNewest,
		"a task opens after the newest that was seen":         openedAfterSeen,
		"of fifty openers one opens a task":                   oneOpener,
		"a task opens on an authorized connection of its own": openedOnConnection,
		"of many resends one is stored":                       oneResend,
		"a task is its tenant's":                              taskOfTenant,
	})
}

// Work tests a store against the requirements of worker.Worker. A pending task must belong to only one worker during
// its lease. Only the task's current generation may write.
func Work(t *testing.T, open func(tb testing.TB, of org.Tenant, connectionID string) Tasks) {
	t.Helper()
	run(t, connected(open), map[string]func(subject[Tasks]){
		"of many claims one wins and the next waits for the lease": oneClaim,
		"an old generation writes nothing":                         oldGeneration,
		"a report stores progress and its event":                   reported,
		"a worker that goes on has a new generation":               continued,
		"a yielded task can be claimed at once":                    yielded,
		"a task that is put off can be claimed after its wait":     putOff,
		"a finished task has its result, and its event":            finished,
		"a task whose event exists stays pending":                  unfinished,
		"who has given up changes nothing":                         givenUp,
		"a claim is its tenant's":                                  claimOfTenant,
	})
}

const taskID = "7a000000000040008000000000000001"

func connected(open func(testing.TB, org.Tenant, string) Tasks) func(testing.TB) Tasks {
	return func(tb testing.TB) Tasks {
		tb.Helper()
		return open(tb, tenantA(), connID)
	}
}

func taskNumber(i int) string { return fmt.Sprintf("7a0000000000400080000000%08d", i) }

func pendingTask(id string) export.Task {
	return export.Task{ID: id, Tenant: tenantA(), ConnectionID: connID, Status: export.Pending, CreatedAt: now()}
}

func opened(t *testing.T, s Tasks) export.Task {
	t.Helper()
	task := pendingTask(taskID)
	expect.NoError(t, s.OpenTask(t.Context(), task, ""))
	return task
}

// claimed opens a task and claims it for a minute.
func claimed(t *testing.T, s Tasks) export.Task {
	t.Helper()
	opened(t, s)
	task, err := s.ClaimTask(t.Context(), tenantA(), taskID, now(), now().Add(time.Minute))
	expect.NoError(t, err)
	return task
}

func wantTask(t *testing.T, s Tasks, want export.Task) {
	t.Helper()
	got, err := s.Task(t.Context(), tenantA(), want.ID)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
}

func wantLatest(t *testing.T, s Tasks, want string) {
	t.Helper()
	got, err := s.LatestTask(t.Context(), tenantA(), connID)
	expect.NoError(t, err)
	if got != want {
		t.Errorf("newest task = %s, want %s", got, want)
	}
}

func openedIsNewest(c subject[Tasks]) {
	t, s := c.t, c.store
	_, err := s.LatestTask(t.Context(), tenantA(), connID)
	expect.NotFound(t, "the newest task before the first", err)
	wantTask(t, s, opened(t, s))
	wantLatest(t, s, taskID)
	_, err = s.LatestTask(t.Context(), tenantA(), "c0000000-0000-4000-8000-000000000009")
	expect.NotFound(t, "the newest task of another connection", err)
}

func openedAfterSeen(c subject[Tasks]) {
	t, s := c.t, c.store
	opened(t, s)
	next := pendingTask(taskNumber(2))
	for _, previous := range []string{"", taskNumber(9), next.ID} {
		expect.Conflict(t, "OpenTask after "+previous, s.OpenTask(t.Context(), next, previous))
	}
	_, err := s.Task(t.Context(), tenantA(), next.ID)
	expect.NotFound(t, "the refused task", err)
	expect.Conflict(t, "the same task again", s.OpenTask(t.Context(), pendingTask(taskID), taskID))
	wantLatest(t, s, taskID)

	expect.NoError(t, s.OpenTask(t.Context(), next, taskID))
	wantLatest(t, s, next.ID)
	next.Previous = taskID
	wantTask(t, s, next)
}

func oneOpener(c subject[Tasks]) {
	t, s := c.t, c.store
	const openers = 50
	previous := ""
	for round := range 2 {
		if won := expect.Winners(t, openers, func(ctx context.Context, i int) error {
			return s.OpenTask(ctx, pendingTask(taskNumber(100+openers*round+i)), previous)
		}); won != 1 {
			t.Errorf("%d of %d openers after %q won, want 1", won, openers, previous)
		}
		latest, err := s.LatestTask(t.Context(), tenantA(), connID)
		expect.NoError(t, err)
		for i := range openers {
			id := taskNumber(100 + openers*round + i)
			if _, err := s.Task(t.Context(), tenantA(), id); (err == nil) != (id == latest) {
				t.Errorf("task %s: %v, but %s is the newest", id, err, latest)
			}
		}
		previous = latest
	}
}

func openedOnConnection(c subject[Tasks]) {
	t, s := c.t, c.store
	elsewhere := pendingTask(taskID)
	elsewhere.ConnectionID = "c0000000-0000-4000-8000-000000000009"
	expect.Conflict(t, "without a connection", s.OpenTask(t.Context(), elsewhere, ""))
	for _, other := range others() {
		foreign := pendingTask(taskID)
		foreign.Tenant = other
		expect.Conflict(t, "on another tenant's connection", s.OpenTask(t.Context(), foreign, ""))
		_, err := s.Task(t.Context(), other, taskID)
		expect.NotFound(t, "another tenant's task", err)
	}
	_, err := s.Task(t.Context(), tenantA(), taskID)
	expect.NotFound(t, "the task", err)
}

func oneResend(c subject[Tasks]) {
	t, s := c.t, c.store
	want := succeeded(claimed(t, s))
	expect.NoError(t, s.FinishTask(t.Context(), want, eventOf(eventID)))
	again := eventOf("e0000000-0000-4000-8000-000000000002")
	again.CreatedAt = now().Add(time.Hour)
	seen := want
	if won := expect.Winners(t, 10, func(ctx context.Context,
		_ int,
	) error {
		return s.ResendEvent(ctx, seen, again)
	}); won != 1 {
		t.Errorf("%d of 10 resends won, want 1", won)
	}
	expect.Conflict(t, "an old count with another event", s.ResendEvent(t.Context(), seen, eventOf("another")))
	want.Resends, want.SentAt = 1, again.CreatedAt
	wantTask(t, s, want)
	// An event with this ID already exists, so the count stays unchanged.
	expect.Conflict(t, "a resend with an event that exists", s.ResendEvent(t.Context(), want, again))
	wantTask(t, s, want)
}

func taskOfTenant(c subject[Tasks]) {
	t, s := c.t, c.store
	task := opened(t, s)
	for _, other := range others() {
		_, err := s.Task(t.Context(), other, taskID)
		expect.NotFound(t, "reading as another", err)
		_, err = s.LatestTask(t.Context(), other, connID)
		expect.NotFound(t, "the newest task as another", err)
		foreign := task
		foreign.Tenant = other
		event := eventOf(eventID)
		event.Tenant = other
		expect.Conflict(t, "resending as another", s.ResendEvent(t.Context(), foreign, event))
		_, err = s.Event(t.Context(), other, eventID)
		expect.NotFound(t, "the event of it", err)
	}
	wantTask(t, s, task)
}
