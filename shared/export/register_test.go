package export_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

const reuse = 24 * time.Hour

// ledger stores the tasks of one connection and fails on demand.
type ledger struct {
	*memory.Tasks

	mu         sync.Mutex
	connection connection.Connection
	enqueued   []string      // IDs of the enqueued tasks and events
	conflicts  int           // number of OpenTask calls that return fault.Conflict
	onConflict func(*ledger) // simulates a concurrent change
	broken     string        // name of the method that returns an error
}

func (l *ledger) Connection(_ context.Context, owner org.Tenant, id string) (connection.Connection, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if owner != tenant || id != connectionID {
		return connection.Connection{}, fault.Missing("no connection")
	}
	return l.connection, l.fails("Connection")
}

func (l *ledger) EnqueueTask(_ context.Context, _ org.Tenant, id string, _ time.Duration) error {
	return l.enqueue(id)
}

func (l *ledger) EnqueueEvent(_ context.Context, _ org.Tenant, id string) error { return l.enqueue(id) }

func (l *ledger) around(method string, effect func() error) error {
	if method == "OpenTask" && l.conflicts > 0 {
		l.conflicts--
		if l.onConflict != nil {
			l.onConflict(l)
		}
		return fault.Stale()
	}
	if err := effect(); err != nil {
		return err
	}
	return l.fails(method)
}

func (l *ledger) become(status connection.Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.connection.Status = status
	l.Authorize(tenant, connectionID, status == connection.Authorized)
}

// latest returns the newest task's ID.
func (l *ledger) latest(t *testing.T) string {
	t.Helper()
	id, err := l.LatestTask(t.Context(), tenant, connectionID)
	expect.NoError(t, err)
	return id
}

func (l *ledger) fails(method string) error {
	if l.broken == method {
		return errTrouble
	}
	return nil
}

func (l *ledger) enqueue(id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.enqueued = append(l.enqueued, id)
	return errTrouble // the loss of a message must not affect the result
}

// newRegistrar returns a Registrar and its ledger. It must be called in a synctest bubble.
func newRegistrar(t *testing.T) (*ledger, export.Registrar) {
	t.Helper()
	l := &ledger{Tasks: memory.NewTasks(), connection: connection.Connection{ID: connectionID, Tenant: tenant}}
	l.become(connection.Authorized)
	l.Around = l.around
	return l, export.Registrar{Tasks: l, Connections: l, Enqueuer: l, Now: time.Now, NewID: ids.Random, Reuse: reuse}
}

func register(t *testing.T, r export.Registrar, refresh bool) export.Task {
	t.Helper()
	task, err := r.Register(t.Context(), tenant, connectionID, export.Options{}, refresh)
	expect.NoError(t, err)
	return task
}

func (l *ledger) end(t *testing.T, status export.Status) export.Task {
	t.Helper()
	task := l.Get(tenant, l.latest(t))
	task.Status, task.FinishedAt, task.FilesUntil = status, time.Now(), time.Now().Add(8*24*time.Hour)
	if status == export.Success {
		event, err := webhook.NewEvent(tenant, webhook.ExportSucceeded, task.ID, 0, time.Now(),
			webhook.ExportSuccess{TaskID: task.ID})
		expect.NoError(t, err)
		expect.NoError(t, l.CreateEvent(t.Context(), event))
		task.SentAt = event.CreatedAt
	}
	l.Put(task)
	return task
}

func TestRegisterOpensTaskForFirstRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := newRegistrar(t)
		got := register(t, r, false)
		want := export.Task{
			ID: got.ID, Tenant: tenant, ConnectionID: connectionID, Status: export.Pending,
			CreatedAt: time.Now(),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("task (-want +got):\n%s", diff)
		}
		if id, ok := ids.ParseTask(got.ID); !ok || id != got.ID {
			t.Errorf("task id %q is not 32 hex digits", got.ID)
		}
		if diff := cmp.Diff([]string{got.ID}, l.enqueued); diff != "" {
			t.Errorf("enqueued (-want +got):\n%s", diff)
		}
	})
}

func TestRegisterReusesPendingAndRecentTasks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end     export.Status // result of the first task; if empty, the task remains pending
		later   time.Duration
		refresh bool
		forget  bool // whether the row of the first task has expired
		same    bool
	}{
		"pending":                            {later: time.Hour, same: true},
		"pending, refresh":                   {later: time.Hour, refresh: true, same: true},
		"success":                            {end: export.Success, same: true},
		"success at the end of its reuse":    {end: export.Success, later: reuse - time.Second, same: true},
		"success after its reuse":            {end: export.Success, later: reuse},
		"success, refresh":                   {end: export.Success, refresh: true},
		"failed":                             {end: export.Failed},
		"a task whose row has ended already": {end: export.Failed, forget: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l, r := newRegistrar(t)
				first := register(t, r, false)
				if c.end != "" {
					l.end(t, c.end)
				}
				if c.forget {
					l.Forget(tenant, first.ID)
				}
				<-time.After(c.later)
				second := register(t, r, c.refresh)
				if same := first.ID == second.ID; same != c.same {
					t.Errorf("the same task: %t, want %t", same, c.same)
				}
				if !c.same && (second.Status != export.Pending || l.latest(t) != second.ID) {
					t.Errorf("status %s, newest %s", second.Status, l.latest(t))
				}
			})
		})
	}
}

func TestRegisterDoesNotReuseSuccessWithDeletedFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := newRegistrar(t)
		first := register(t, r, false)
		task := l.end(t, export.Success)
		task.FilesUntil = time.Now()
		l.Put(task)
		if second := register(t, r, false); second.ID == first.ID {
			t.Error("an export whose files are gone was answered again")
		}
	})
}

func TestRegisterResendsSuccessAtMostEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := newRegistrar(t)
		register(t, r, false)
		task := l.end(t, export.Success)
		for _, step := range []struct {
			wait time.Duration
			want int
		}{
			{0, 1}, {5*time.Minute - time.Second, 1}, {time.Second, 2}, {time.Minute, 2}, {5 * time.Minute, 3},
		} {
			<-time.After(step.wait)
			register(t, r, false)
			if got := len(l.Events()); got != step.want {
				t.Fatalf("after another %v there are %d events, want %d", step.wait, got, step.want)
			}
		}
		for number := range int64(3) {
			id := webhook.EventID(tenant, webhook.ExportSucceeded, task.ID, number)
			event, err := l.Event(t.Context(), tenant, id)
			expect.NoError(t, err)
			var body struct {
				ID   string
				Type string
				Data webhook.ExportSuccess
			}
			if err := json.Unmarshal(event.Body, &body); err != nil {
				t.Fatalf("event %d: %v", number, err)
			}
			if body.ID != id || body.Type != "patient.ehi_export_success" || body.Data.TaskID != task.ID {
				t.Errorf("event %d: %+v", number, body)
			}
		}
		if got := len(l.enqueued); got != 3 { // the IDs of one task and two events
			t.Errorf("enqueued %v", l.enqueued)
		}
	})
}

func TestRegisterReturnsConflictWhenConnectionIsNotExportable(t *testing.T) {
	t.Parallel()
	for _, status := range []connection.Status{connection.Revoked, connection.Rejected} {
		for name, c := range map[string]struct {
			end     export.Status
			refresh bool
			want    error
		}{
			"pending": {}, "success": {end: export.Success},
			"success, refresh": {export.Success, true, fault.Conflict}, "failed": {export.Failed, false, fault.Conflict},
		} {
			t.Run(string(status)+" "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					l, r := newRegistrar(t)
					register(t, r, false)
					if c.end != "" {
						l.end(t, c.end)
					}
					l.become(status)
					_, err := r.Register(t.Context(), tenant, connectionID, export.Options{}, c.refresh)
					if !errors.Is(err, c.want) || (c.want != nil && fault.Of(err).Code != fault.CodeConnectionNotExportable) {
						t.Errorf("got %v, want %v", err, c.want)
					}
				})
			})
		}
	}
}

func TestRegisterReturnsConflictWhenConnectionIsRevokedConcurrently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := newRegistrar(t)
		l.conflicts = 1
		l.onConflict = func(l *ledger) { l.become(connection.Revoked) }
		_, err := r.Register(t.Context(), tenant, connectionID, export.Options{}, false)
		if fault.Of(err).Code != fault.CodeConnectionNotExportable || len(l.All(tenant)) != 0 {
			t.Errorf("got %v with %d tasks", err, len(l.All(tenant)))
		}
	})
}

func TestRegisterReturnsNotFoundForUnknownOrForeignConnection(t *testing.T) {
	t.Parallel()
	_, r := newRegistrar(t)
	for _, c := range []struct {
		tenant org.Tenant
		id     string
	}{
		{tenant, "c0000000-0000-4000-8000-000000000002"},
		{org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}, connectionID},
		{org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000002"}, connectionID},
	} {
		_, err := r.Register(t.Context(), c.tenant, c.id, export.Options{}, false)
		if !errors.Is(err, fault.NotFound) || err.Error() != connection.Missing().Error() {
			t.Errorf("%v %s: %v", c.tenant, c.id, err)
		}
	}
}
