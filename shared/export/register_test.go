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

	"recordbridge/shared/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/fault"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

const reuse = 24 * time.Hour

// ledger keeps the tasks of one connection, as the database does.
type ledger struct {
	mu         sync.Mutex
	connection connection.Connection
	latest     string
	tasks      map[string]export.Task
	events     map[string]webhook.Event
	enqueued   []string      // tasks and events
	conflicts  int           // OpenTask answers so often with fault.Conflict
	onConflict func(*ledger) // what happened meanwhile
	broken     string        // method that fails
}

func (l *ledger) LatestTask(context.Context, org.Tenant, string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest == "" {
		return "", fault.Missing("no task")
	}
	return l.latest, l.fails("LatestTask")
}

func (l *ledger) Task(_ context.Context, _ org.Tenant, id string) (export.Task, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	task, ok := l.tasks[id]
	if !ok {
		return export.Task{}, fault.Missing("no task")
	}
	return task, l.fails("Task")
}

func (l *ledger) OpenTask(_ context.Context, task export.Task, previous string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conflicts > 0 {
		l.conflicts--
		if l.onConflict != nil {
			l.onConflict(l)
		}
		return fault.Stale()
	}
	if l.latest != previous || l.connection.Status != connection.Authorized {
		return fault.Stale()
	}
	l.tasks[task.ID], l.latest = task, task.ID
	return l.fails("OpenTask")
}

func (l *ledger) ResendEvent(_ context.Context, task export.Task, event webhook.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	stored := l.tasks[task.ID]
	if stored.Resends != task.Resends {
		return fault.Stale()
	}
	stored.Resends++
	stored.SentAt = event.CreatedAt
	l.tasks[task.ID], l.events[event.ID] = stored, event
	return l.fails("ResendEvent")
}

func (l *ledger) Event(_ context.Context, _ org.Tenant, id string) (webhook.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	event, ok := l.events[id]
	if !ok {
		return webhook.Event{}, fault.Missing("no event")
	}
	return event, l.fails("Event")
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
	return errTrouble // a lost message changes nothing
}

// newRegistrar is made inside a synctest bubble.
func newRegistrar(t *testing.T) (*ledger, export.Registrar) {
	t.Helper()
	l := &ledger{
		connection: connection.Connection{ID: connectionID, Tenant: tenant, Status: connection.Authorized},
		tasks:      map[string]export.Task{}, events: map[string]webhook.Event{},
	}
	return l, export.Registrar{Tasks: l, Connections: l, Enqueuer: l, Now: time.Now, NewID: ids.Random, Reuse: reuse}
}

// register asks for the export of the one connection.
func register(t *testing.T, r export.Registrar, refresh bool) export.Task {
	t.Helper()
	task, err := r.Register(t.Context(), tenant, connectionID, export.Options{}, refresh)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// end makes the newest task end now.
func (l *ledger) end(t *testing.T, status export.Status) export.Task {
	t.Helper()
	task := l.tasks[l.latest]
	task.Status, task.FinishedAt, task.FilesUntil = status, time.Now(), time.Now().Add(8*24*time.Hour)
	if status == export.Success {
		event, err := webhook.NewEvent(tenant, webhook.ExportSucceeded, task.ID, 0, time.Now(), webhook.ExportSuccess{TaskID: task.ID})
		if err != nil {
			t.Fatal(err)
		}
		task.SentAt, l.events[event.ID] = time.Now(), event
	}
	l.tasks[task.ID] = task
	return task
}

func TestTheFirstRequestOpensATask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := newRegistrar(t)
		got := register(t, r, false)
		want := export.Task{ID: got.ID, Tenant: tenant, ConnectionID: connectionID, Status: export.Pending, CreatedAt: time.Now()}
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

func TestWhichTaskARequestGets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end     export.Status // of the first task, empty to leave it pending
		later   time.Duration
		refresh bool
		forget  bool // the first task's row has ended
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
					delete(l.tasks, first.ID)
				}
				<-time.After(c.later)
				second := register(t, r, c.refresh)
				if same := first.ID == second.ID; same != c.same {
					t.Errorf("the same task: %t, want %t", same, c.same)
				}
				if !c.same && (second.Status != export.Pending || l.latest != second.ID) {
					t.Errorf("status %s, newest %s", second.Status, l.latest)
				}
			})
		})
	}
}

func TestASuccessWhoseFilesAreDeletedIsNotReused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := newRegistrar(t)
		first := register(t, r, false)
		task := l.end(t, export.Success)
		task.FilesUntil = time.Now()
		l.tasks[task.ID] = task
		if second := register(t, r, false); second.ID == first.ID {
			t.Error("an export whose files are gone was answered again")
		}
	})
}

func TestASuccessIsSentAgainAtMostEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := newRegistrar(t)
		register(t, r, false)
		task := l.end(t, export.Success)
		for _, step := range []struct {
			wait time.Duration
			want int // events there are then
		}{
			{0, 1}, {5*time.Minute - time.Second, 1}, {time.Second, 2}, {time.Minute, 2}, {5 * time.Minute, 3},
		} {
			<-time.After(step.wait)
			register(t, r, false)
			if got := len(l.events); got != step.want {
				t.Fatalf("after another %v there are %d events, want %d", step.wait, got, step.want)
			}
		}
		for number := range int64(3) {
			id := webhook.EventID(tenant, webhook.ExportSucceeded, task.ID, number)
			var body struct {
				ID   string
				Type string
				Data webhook.ExportSuccess
			}
			if err := json.Unmarshal(l.events[id].Body, &body); err != nil {
				t.Fatalf("event %d: %v", number, err)
			}
			if body.ID != id || body.Type != "patient.ehi_export_success" || body.Data.TaskID != task.ID {
				t.Errorf("event %d: %+v", number, body)
			}
		}
		if got := len(l.enqueued); got != 3 { // the task, two events
			t.Errorf("enqueued %v", l.enqueued)
		}
	})
}

func TestAConnectionThatCannotBeExportedIsAConflictOnlyForANewTask(t *testing.T) {
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
					l.connection.Status = status
					_, err := r.Register(t.Context(), tenant, connectionID, export.Options{}, c.refresh)
					if !errors.Is(err, c.want) || (c.want != nil && fault.Of(err).Code != fault.CodeConnectionNotExportable) {
						t.Errorf("got %v, want %v", err, c.want)
					}
				})
			})
		}
	}
}

func TestAConnectionRevokedWhileATaskOpensIsAConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := newRegistrar(t)
		l.conflicts = 1
		l.onConflict = func(l *ledger) { l.connection.Status = connection.Revoked }
		_, err := r.Register(t.Context(), tenant, connectionID, export.Options{}, false)
		if fault.Of(err).Code != fault.CodeConnectionNotExportable || len(l.tasks) != 0 {
			t.Errorf("got %v with %d tasks", err, len(l.tasks))
		}
	})
}

func TestUnknownAndForeignConnectionsAreMissingAlike(t *testing.T) {
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
