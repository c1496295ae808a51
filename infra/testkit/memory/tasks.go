package memory

import (
	"context"
	"slices"
	"sync"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Tasks stores export tasks, the newest task of each connection, shares and events. Tasks is safe for concurrent use.
// Test-only methods, such as Put and Events, bypass the Around hook.
type Tasks struct {
	*ledger
	fixture
	register
	work
	shareRows
	dueRows
}

// ledger holds the state shared by all parts of Tasks.
type ledger struct {
	Around Hook

	mu         sync.Mutex
	authorized map[row]bool
	latest     map[row]string
	tasks      map[row]export.Task
	lookAt     map[row]time.Time
	shares     map[org.Tenant]share.Row
	sharesAt   map[org.Tenant]time.Time // time at which the sweeper next examines each share
	events     map[row]webhook.Event
	told       []webhook.Event // events in the order in which they were stored
}

// NewTasks returns an empty store.
func NewTasks() *Tasks {
	l := &ledger{
		authorized: map[row]bool{}, latest: map[row]string{}, tasks: map[row]export.Task{}, lookAt: map[row]time.Time{},
		shares: map[org.Tenant]share.Row{}, sharesAt: map[org.Tenant]time.Time{}, events: map[row]webhook.Event{},
	}
	return &Tasks{l, fixture{l}, register{l}, work{l}, shareRows{l}, dueRows{l}}
}

// fixture provides the methods that tests use to change and inspect the store.
type fixture struct{ *ledger }

// Authorize sets whether a connection is authorized.
func (f fixture) Authorize(tenant org.Tenant, connectionID string, is bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.authorized[row{tenant, connectionID}] = is
}

// Put stores a task without any checks.
func (f fixture) Put(task export.Task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tasks[row{task.Tenant, task.ID}] = task
}

// Change modifies an existing task, regardless of which worker holds it.
func (f fixture) Change(tenant org.Tenant, id string, change func(task *export.Task)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	task := f.tasks[row{tenant, id}]
	change(&task)
	f.tasks[row{tenant, id}] = task
}

// Get returns a task, or the zero Task if the task does not exist.
func (f fixture) Get(tenant org.Tenant, id string) export.Task {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tasks[row{tenant, id}]
}

// All returns a tenant's tasks, ordered by ID.
func (f fixture) All(tenant org.Tenant) []export.Task {
	f.mu.Lock()
	defer f.mu.Unlock()
	return of(f.tasks, tenant)
}

// Forget removes a task. After Forget, as after expiry, the task's ID remains recorded as its connection's newest task.
func (f fixture) Forget(tenant org.Tenant, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.tasks, row{tenant, id})
}

// SweepTime returns the time at which the sweeper next examines a task.
func (f fixture) SweepTime(tenant org.Tenant, id string) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lookAt[row{tenant, id}]
}

// Events returns the events of the given types in storage order, or all events if no types are given.
func (f fixture) Events(types ...webhook.Type) (told []webhook.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, event := range f.told {
		if len(types) == 0 || slices.Contains(types, event.Type) {
			told = append(told, event)
		}
	}
	return told
}

// register implements export.TaskStore.
type register struct{ *ledger }

// LatestTask implements export.TaskStore.
func (r register) LatestTask(ctx context.Context, tenant org.Tenant, connectionID string) (id string, err error) {
	err = r.do(ctx, "LatestTask", func() error {
		found, ok := r.latest[row{tenant, connectionID}]
		if id = found; !ok {
			return missing()
		}
		return nil
	})
	return id, err
}

// Task implements export.TaskStore.
func (r register) Task(ctx context.Context, tenant org.Tenant, id string) (task export.Task, err error) {
	err = r.do(ctx, "Task", func() error {
		found, ok := r.tasks[row{tenant, id}]
		if task = found; !ok {
			return missing()
		}
		return nil
	})
	return task, err
}

// OpenTask implements export.TaskStore.
func (r register) OpenTask(ctx context.Context, task export.Task, previous string) error {
	return r.do(ctx, "OpenTask", func() error {
		of := row{task.Tenant, task.ConnectionID}
		_, taken := r.tasks[row{task.Tenant, task.ID}]
		if taken || r.latest[of] != previous || !r.authorized[of] {
			return fault.Stale()
		}
		task.Previous = previous
		r.tasks[row{task.Tenant, task.ID}] = task
		r.latest[of] = task.ID
		return nil
	})
}

// ResendEvent implements export.TaskStore.
func (r register) ResendEvent(ctx context.Context, task export.Task, event webhook.Event) error {
	return r.do(ctx, "ResendEvent", func() error {
		stored, ok := r.tasks[row{task.Tenant, task.ID}]
		if !ok || stored.Resends != task.Resends {
			return fault.Stale()
		}
		stored.Resends, stored.SentAt = task.Resends+1, event.CreatedAt
		return r.store(stored, event)
	})
}

// Event implements export.TaskStore.
func (r register) Event(ctx context.Context, tenant org.Tenant, id string) (event webhook.Event, err error) {
	err = r.do(ctx, "Event", func() error {
		found, ok := r.events[row{tenant, id}]
		if event = found; !ok {
			return missing()
		}
		return nil
	})
	return event, err
}

// CreateEvent stores an event that does not belong to a task.
func (r register) CreateEvent(ctx context.Context, event webhook.Event) error {
	return r.do(ctx, "CreateEvent", func() error { return r.tell(event) })
}

// work implements worker.Store.
type work struct{ *ledger }

// ClaimTask implements worker.Store.
func (r work) ClaimTask(ctx context.Context, tenant org.Tenant, id string, now,
	leaseUntil time.Time,
) (task export.Task, err error) {
	err = r.do(ctx, "ClaimTask", func() error {
		stored, ok := r.tasks[row{tenant, id}]
		if !ok || stored.Status != export.Pending || !stored.WaitingSince.IsZero() || !stored.LeaseUntil.Before(now) {
			return fault.Stale()
		}
		stored.Generation++
		stored.LeaseUntil, stored.Deferred = leaseUntil, false
		r.keep(stored, leaseUntil)
		task = stored
		return nil
	})
	return task, err
}

// ExtendTask implements worker.Store.
func (r work) ExtendTask(ctx context.Context, task export.Task, leaseUntil time.Time) error {
	return r.fenced(ctx, "ExtendTask", task, func(stored *export.Task) ([]webhook.Event, time.Time) {
		stored.LeaseUntil, stored.Progress = leaseUntil, task.Progress
		return nil, leaseUntil
	})
}

// ReportTask implements worker.Store.
func (r work) ReportTask(ctx context.Context, task export.Task, leaseUntil time.Time, event webhook.Event) error {
	return r.fenced(ctx, "ReportTask", task, func(stored *export.Task) ([]webhook.Event, time.Time) {
		stored.LeaseUntil, stored.Progress = leaseUntil, task.Progress
		stored.ProgressAt, stored.ProgressSent = task.ProgressAt, task.ProgressSent
		return []webhook.Event{event}, leaseUntil
	})
}

// ContinueTask implements worker.Store.
func (r work) ContinueTask(ctx context.Context, task export.Task,
	leaseUntil time.Time,
) (onward export.Task, err error) {
	err = r.fenced(ctx, "ContinueTask", task, func(stored *export.Task) ([]webhook.Event, time.Time) {
		stored.Generation++
		stored.Checkpoint, stored.Progress, stored.Failures, stored.LeaseUntil = task.Checkpoint, task.Progress, 0, leaseUntil
		onward = *stored
		return nil, leaseUntil
	})
	if err != nil {
		return export.Task{}, err
	}
	return onward, nil
}

// YieldTask implements worker.Store.
func (r work) YieldTask(ctx context.Context, task export.Task, until, dueAt time.Time) error {
	return r.fenced(ctx, "YieldTask", task, func(stored *export.Task) ([]webhook.Event, time.Time) {
		stored.Generation++
		stored.Checkpoint, stored.Progress, stored.Failures = task.Checkpoint, task.Progress, task.Failures
		stored.LeaseUntil, stored.Deferred = until, !until.IsZero()
		return nil, dueAt
	})
}

// FinishTask implements worker.Store.
func (r work) FinishTask(ctx context.Context, task export.Task, event webhook.Event) error {
	return r.fenced(ctx, "FinishTask", task, func(stored *export.Task) ([]webhook.Event, time.Time) {
		stored.Status, stored.FailureReason, stored.FinishedAt, stored.SentAt = task.Status, task.FailureReason,
			task.FinishedAt, task.FinishedAt
		stored.Stats, stored.Outcome, stored.Files, stored.Manifest = task.Stats, task.Outcome, task.Files, task.Manifest
		stored.Scope, stored.Progress, stored.FilesUntil, stored.LeaseUntil = task.Scope, task.Progress,
			task.FilesUntil, time.Time{}
		stored.Deferred = false
		return []webhook.Event{event}, task.FilesUntil
	})
}

// fenced applies a change to a pending task, provided that the calling worker still holds it.
func (r work) fenced(ctx context.Context, call string, task export.Task,
	change func(stored *export.Task) ([]webhook.Event, time.Time),
) error {
	return r.do(ctx, call, func() error {
		stored := r.tasks[row{task.Tenant, task.ID}]
		if stored.Generation != task.Generation || stored.Status != export.Pending {
			return fault.Stale()
		}
		events, lookAt := change(&stored)
		if err := r.store(stored, events...); err != nil {
			return err
		}
		r.keep(stored, lookAt)
		return nil
	})
}

func (l *ledger) store(task export.Task, events ...webhook.Event) error {
	for _, event := range events {
		if err := l.tell(event); err != nil {
			return err
		}
	}
	l.tasks[row{task.Tenant, task.ID}] = task
	return nil
}

// tell stores a new event, or returns an error if the event already exists.
func (l *ledger) tell(event webhook.Event) error {
	at := row{event.Tenant, event.ID}
	if _, taken := l.events[at]; taken {
		return fault.Stale()
	}
	l.events[at] = event
	l.told = append(l.told, event)
	return nil
}

func (l *ledger) keep(task export.Task, lookAt time.Time) {
	l.tasks[row{task.Tenant, task.ID}] = task
	l.lookAt[row{task.Tenant, task.ID}] = lookAt
}

// do runs effect through the Around hook and under the lock. If ctx is done, do returns an error without running
// effect.
func (l *ledger) do(ctx context.Context, call string, effect func() error) error {
	return l.Around.run(call, func() error {
		if err := over(ctx); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		return effect()
	})
}
