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

// Tasks keeps export tasks, the newest of each connection, and events. The zero value is empty and ready; it is
// safe for concurrent use.
type Tasks struct {
	Around Hook

	mu         sync.Mutex
	authorized map[row]bool
	latest     map[row]string
	tasks      map[row]export.Task
	lookAt     map[row]time.Time
	shares     map[org.Tenant]share.Row
	sharesAt   map[org.Tenant]time.Time // when the sweeper looks at a share
	events     map[row]webhook.Event
	told       []webhook.Event // in the order in which they were stored
}

// Authorize says whether a connection is authorized. It is no call.
func (m *Tasks) Authorize(tenant org.Tenant, connectionID string, is bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	put(&m.authorized, row{tenant, connectionID}, is)
}

// Put stores a task as it is. It is no call, and neither are the methods up to Told.
func (m *Tasks) Put(task export.Task) {
	m.mu.Lock()
	defer m.mu.Unlock()
	put(&m.tasks, row{task.Tenant, task.ID}, task)
}

// Change changes a task that is there, whoever holds it.
func (m *Tasks) Change(tenant org.Tenant, id string, change func(task *export.Task)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	task := m.tasks[row{tenant, id}]
	change(&task)
	put(&m.tasks, row{tenant, id}, task)
}

// Get gives a task as it is; one that is not there is zero.
func (m *Tasks) Get(tenant org.Tenant, id string) export.Task {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tasks[row{tenant, id}]
}

// All lists a tenant's tasks, by id.
func (m *Tasks) All(tenant org.Tenant) []export.Task {
	m.mu.Lock()
	defer m.mu.Unlock()
	return of(m.tasks, tenant)
}

// Forget removes a task whose row has ended; it stays the newest of its connection.
func (m *Tasks) Forget(tenant org.Tenant, id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.tasks, row{tenant, id})
}

// LookAt tells when the sweeper looks at a task.
func (m *Tasks) LookAt(tenant org.Tenant, id string) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lookAt[row{tenant, id}]
}

// Told lists the events of the types that are named, or all if none is, in the order in which they were stored.
func (m *Tasks) Told(types ...webhook.Type) (told []webhook.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, event := range m.told {
		if len(types) == 0 || slices.Contains(types, event.Type) {
			told = append(told, event)
		}
	}
	return told
}

// LatestTask implements export.TaskStore.
func (m *Tasks) LatestTask(ctx context.Context, tenant org.Tenant, connectionID string) (id string, err error) {
	err = m.do(ctx, "LatestTask", func() error {
		found, ok := m.latest[row{tenant, connectionID}]
		if id = found; !ok {
			return missing()
		}
		return nil
	})
	return id, err
}

// Task implements export.TaskStore.
func (m *Tasks) Task(ctx context.Context, tenant org.Tenant, id string) (task export.Task, err error) {
	err = m.do(ctx, "Task", func() error {
		found, ok := m.tasks[row{tenant, id}]
		if task = found; !ok {
			return missing()
		}
		return nil
	})
	return task, err
}

// OpenTask implements export.TaskStore.
func (m *Tasks) OpenTask(ctx context.Context, task export.Task, previous string) error {
	return m.do(ctx, "OpenTask", func() error {
		of := row{task.Tenant, task.ConnectionID}
		_, taken := m.tasks[row{task.Tenant, task.ID}]
		if taken || m.latest[of] != previous || !m.authorized[of] {
			return fault.Stale()
		}
		task.Previous = previous
		put(&m.tasks, row{task.Tenant, task.ID}, task)
		put(&m.latest, of, task.ID)
		return nil
	})
}

// ResendEvent implements export.TaskStore.
func (m *Tasks) ResendEvent(ctx context.Context, task export.Task, event webhook.Event) error {
	return m.do(ctx, "ResendEvent", func() error {
		stored, ok := m.tasks[row{task.Tenant, task.ID}]
		if !ok || stored.Resends != task.Resends {
			return fault.Stale()
		}
		stored.Resends, stored.SentAt = task.Resends+1, event.CreatedAt
		return m.store(stored, event)
	})
}

// Event implements export.TaskStore.
func (m *Tasks) Event(ctx context.Context, tenant org.Tenant, id string) (event webhook.Event, err error) {
	err = m.do(ctx, "Event", func() error {
		found, ok := m.events[row{tenant, id}]
		if event = found; !ok {
			return missing()
		}
		return nil
	})
	return event, err
}

// CreateEvent stores an event that no task belongs to.
func (m *Tasks) CreateEvent(ctx context.Context, event webhook.Event) error {
	return m.do(ctx, "CreateEvent", func() error { return m.tell(event) })
}

// ClaimTask implements worker.Store.
func (m *Tasks) ClaimTask(ctx context.Context, tenant org.Tenant, id string, now,
	leaseUntil time.Time,
) (task export.Task, err error) {
	err = m.do(ctx, "ClaimTask", func() error {
		stored, ok := m.tasks[row{tenant, id}]
		if !ok || stored.Status != export.Pending || !stored.WaitingSince.IsZero() || !stored.LeaseUntil.Before(now) {
			return fault.Stale()
		}
		stored.Generation++
		stored.LeaseUntil, stored.PutOff = leaseUntil, false
		m.keep(stored, leaseUntil)
		task = stored
		return nil
	})
	return task, err
}

// ExtendTask implements worker.Store.
func (m *Tasks) ExtendTask(ctx context.Context, task export.Task, leaseUntil time.Time) error {
	return m.fenced(ctx, "ExtendTask", task, func(stored *export.Task) ([]webhook.Event, time.Time) {
		stored.LeaseUntil, stored.Progress = leaseUntil, task.Progress
		return nil, leaseUntil
	})
}

// ReportTask implements worker.Store.
func (m *Tasks) ReportTask(ctx context.Context, task export.Task, leaseUntil time.Time, event webhook.Event) error {
	return m.fenced(ctx, "ReportTask", task, func(stored *export.Task) ([]webhook.Event, time.Time) {
		stored.LeaseUntil, stored.Progress = leaseUntil, task.Progress
		stored.ProgressAt, stored.ProgressSent = task.ProgressAt, task.ProgressSent
		return []webhook.Event{event}, leaseUntil
	})
}

// ContinueTask implements worker.Store.
func (m *Tasks) ContinueTask(ctx context.Context, task export.Task,
	leaseUntil time.Time,
) (onward export.Task, err error) {
	err = m.fenced(ctx, "ContinueTask", task, func(stored *export.Task) ([]webhook.Event, time.Time) {
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
func (m *Tasks) YieldTask(ctx context.Context, task export.Task, until, dueAt time.Time) error {
	return m.fenced(ctx, "YieldTask", task, func(stored *export.Task) ([]webhook.Event, time.Time) {
		stored.Generation++
		stored.Checkpoint, stored.Progress, stored.Failures = task.Checkpoint, task.Progress, task.Failures
		stored.LeaseUntil, stored.PutOff = until, !until.IsZero()
		return nil, dueAt
	})
}

// FinishTask implements worker.Store.
func (m *Tasks) FinishTask(ctx context.Context, task export.Task, event webhook.Event) error {
	return m.fenced(ctx, "FinishTask", task, func(stored *export.Task) ([]webhook.Event, time.Time) {
		stored.Status, stored.FailureReason, stored.FinishedAt, stored.SentAt = task.Status, task.FailureReason,
			task.FinishedAt, task.FinishedAt
		stored.Stats, stored.Outcome, stored.Files = task.Stats, task.Outcome, task.Files
		stored.Scope, stored.Progress, stored.FilesUntil, stored.LeaseUntil = task.Scope, task.Progress,
			task.FilesUntil, time.Time{}
		stored.PutOff = false
		return []webhook.Event{event}, task.FilesUntil
	})
}

// fenced lets the worker that holds a pending task change it.
func (m *Tasks) fenced(ctx context.Context, call string, task export.Task,
	change func(stored *export.Task) ([]webhook.Event, time.Time),
) error {
	return m.do(ctx, call, func() error {
		stored := m.tasks[row{task.Tenant, task.ID}]
		if stored.Generation != task.Generation || stored.Status != export.Pending {
			return fault.Stale()
		}
		events, lookAt := change(&stored)
		if err := m.store(stored, events...); err != nil {
			return err
		}
		m.keep(stored, lookAt)
		return nil
	})
}

// store stores a task with events, or neither.
func (m *Tasks) store(task export.Task, events ...webhook.Event) error {
	for _, event := range events {
		if err := m.tell(event); err != nil {
			return err
		}
	}
	put(&m.tasks, row{task.Tenant, task.ID}, task)
	return nil
}

// tell stores an event, which must be new.
func (m *Tasks) tell(event webhook.Event) error {
	at := row{event.Tenant, event.ID}
	if _, taken := m.events[at]; taken {
		return fault.Stale()
	}
	put(&m.events, at, event)
	m.told = append(m.told, event)
	return nil
}

func (m *Tasks) keep(task export.Task, lookAt time.Time) {
	put(&m.tasks, row{task.Tenant, task.ID}, task)
	put(&m.lookAt, row{task.Tenant, task.ID}, lookAt)
}

// do runs one call, alone. It has no effect once its caller has given up.
func (m *Tasks) do(ctx context.Context, call string, effect func() error) error {
	return m.Around.run(call, func() error {
		if err := over(ctx); err != nil {
			return err
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		return effect()
	})
}
