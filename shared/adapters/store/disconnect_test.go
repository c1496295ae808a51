package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/manage/disconnect"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func (s stores) disconnections() store.Disconnections {
	return store.Disconnections{Connections: s.conns, Tasks: s.tasks, Sets: s.tokens}
}

// endingOf returns the Ending for the rows stored by s.open: an authorized connection, its first token set and its only
// pending task.
func endingOf(of org.Tenant) disconnect.Ending {
	c := connectionOf(of)
	c.Status, c.Rev = connection.Revoked, 1
	c.Refresh = connection.RefreshState{Ended: "disconnected", RefreshAt: now, UpstreamUntil: now.Add(24 * time.Hour)}
	task := pendingTask(of)
	task.Status, task.FailureReason, task.FinishedAt, task.SentAt = export.Failed, export.TokenRefreshFailure, now, now
	return disconnect.Ending{
		Connection: c, LatestTask: taskID, Tokens: tokensOf(of), Upstream: []byte("sealed upstream"),
		Failed: task, Event: eventOf(of, eventID),
	}
}

func (s stores) leftUpstream(t *testing.T) ([]byte, error) {
	t.Helper()
	return s.refresh.Upstream(t.Context(), tenant, connID)
}

func TestEndConnectionIsAtomic(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.open(t, tenant)
	e := endingOf(tenant)
	expect.NoError(t, s.disconnections().EndConnection(t.Context(), e))

	got, err := s.conns.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	want := e.Connection
	want.Rev = 2
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("connection (-want +got):\n%s", diff)
	}
	task, err := s.tasks.Task(t.Context(), tenant, taskID)
	expect.NoError(t, err)
	if diff := cmp.Diff(e.Failed, task); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	if sealed, failure := s.leftUpstream(t); failure != nil || string(sealed) != "sealed upstream" {
		t.Errorf("upstream = %q (%v), want what was kept", sealed, failure)
	}
	_, err = s.disconnections().Tokens(t.Context(), tenant, connID)
	expect.NotFound(t, "the tokens", err)
	_, err = s.events.Event(t.Context(), tenant, eventID)
	expect.NoError(t, err)
}

func TestEndConnectionRemovesQueuedExport(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.open(t, tenant)
	claimed, err := s.tasks.ClaimTask(t.Context(), tenant, taskID, now, now.Add(time.Minute))
	expect.NoError(t, err)
	expect.NoError(t, s.tasks.JoinLine(t.Context(), claimed, now))
	e := endingOf(tenant)
	expect.NoError(t, s.disconnections().EndConnection(t.Context(), e))
	line, err := s.places.Line(t.Context(), tenant, 9)
	if err != nil || len(line) != 0 {
		t.Errorf("in line are %+v, %v", line, err)
	}
	task, err := s.tasks.Task(t.Context(), tenant, taskID)
	expect.NoError(t, err)
	isDue := slices.ContainsFunc(s.allDue(t, e.Failed.FilesUntil.Add(time.Hour)),
		func(i due.Item) bool { return i.Kind == due.Task && i.ID == taskID })
	if !task.WaitingSince.IsZero() || !isDue {
		t.Errorf("the task is %+v, and not due", task)
	}
}

// TestEndConnectionFailsAfterConcurrentChange checks that EndConnection stores nothing if any of the rows has changed
// since it was read.
func TestEndConnectionFailsAfterConcurrentChange(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*disconnect.Ending){
		"another revision":               func(e *disconnect.Ending) { e.Connection.Rev = 2 },
		"another newest task":            func(e *disconnect.Ending) { e.LatestTask = taskNumber(9) },
		"no newest task":                 func(e *disconnect.Ending) { e.LatestTask = "" },
		"another version of the tokens":  func(e *disconnect.Ending) { e.Tokens.Version = 2 },
		"a task that is not pending":     func(e *disconnect.Ending) { e.Failed.ID = taskNumber(9) },
		"an event that is there already": func(e *disconnect.Ending) { e.Event = conclusionOf(tenant).Events[0] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStores(t)
			s.open(t, tenant)
			e := endingOf(tenant)
			change(&e)
			before := s.writes.Load()
			expect.Conflict(t, "EndConnection", s.disconnections().EndConnection(t.Context(), e))
			if after := s.writes.Load(); after != before {
				t.Errorf("%d writes, want none", after-before)
			}
		})
	}
}

func TestEndConnectionSucceedsWithoutTokensAndExports(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	e := disconnect.Ending{Connection: endingOf(tenant).Connection}
	expect.NoError(t, s.disconnections().EndConnection(t.Context(), e))
	if got, err := s.disconnections().Tokens(t.Context(), tenant, connID); err != nil || got.Version != 1 {
		t.Errorf("tokens of version %d (%v), want them untouched", got.Version, err)
	}
	_, err := s.leftUpstream(t)
	expect.NotFound(t, "what is kept for upstream", err)
}

func TestEndFileSucceedsOnlyOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	pending := s.claim(t)
	expect.Conflict(t, "the file of a pending task", s.disconnections().EndFile(t.Context(), pending, now))
	done := succeeded(pending)
	expect.NoError(t, s.tasks.FinishTask(t.Context(), done, eventOf(tenant, eventID)))
	at := now.Add(time.Hour)
	expect.NoError(t, s.disconnections().EndFile(t.Context(), done, at))

	want := done
	want.FilesUntil = at
	got, err := s.tasks.Task(t.Context(), tenant, taskID)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	found := false
	for _, i := range s.allDue(t, at) {
		found = found || i.Kind == due.Task && i.At.Equal(at)
	}
	if !found {
		t.Error("the sweeper does not find the task")
	}
	expect.Conflict(t, "ending it again", s.disconnections().EndFile(t.Context(), done, at))
	expect.Conflict(t, "a task that is gone",
		s.disconnections().EndFile(t.Context(), export.Task{ID: taskNumber(9), Tenant: tenant}, at))
}

func TestEndConnectionIsTenantIsolated(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	task := s.open(t, tenant)
	before := s.writes.Load()
	for name, foreign := range foreignTenants() {
		d := s.disconnections()
		expect.Conflict(t, "EndConnection of "+name, d.EndConnection(t.Context(), endingOf(foreign)))
		bare := disconnect.Ending{Connection: endingOf(foreign).Connection}
		expect.Conflict(t, "EndConnection of "+name+" alone", d.EndConnection(t.Context(), bare))
		moved := task
		moved.Tenant = foreign
		expect.Conflict(t, "EndFile of "+name, d.EndFile(t.Context(), moved, now))
		if _, err := d.Tokens(t.Context(), foreign, connID); !errors.Is(err, fault.NotFound) {
			t.Errorf("Tokens of %s = %v, want fault.NotFound", name, err)
		}
	}
	if after := s.writes.Load(); after != before {
		t.Errorf("foreign calls changed rows: %d writes", after-before)
	}
	expect.NoError(t, s.disconnections().EndConnection(t.Context(), endingOf(tenant))) // succeeds for the right tenant
}
