package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

// resendAfter is the minimum time before a repeated request resends an event (docs/reference/deviations.md, "Exports").
const resendAfter = 5 * time.Minute

// TaskStore is the store used to register exports. All reads are consistent.
type TaskStore interface {
	// LatestTask returns the ID of the connection's newest task. It returns fault.NotFound if the connection has no
	// tasks.
	LatestTask(ctx context.Context, tenant org.Tenant, connectionID string) (string, error)
	// Task reads a task. It returns fault.NotFound if the task does not exist.
	Task(ctx context.Context, tenant org.Tenant, id string) (Task, error)
	// OpenTask creates a task and makes it the newest task of its connection, in one transaction. It returns
	// fault.Conflict if previous ("" for no task) is no longer the connection's newest task, or if the connection is no
	// longer authorized.
	OpenTask(ctx context.Context, task Task, previous string) error
	// ResendEvent stores an event and increments the task's Resends field in one transaction. It returns fault.Conflict
	// if Resends has changed.
	ResendEvent(ctx context.Context, task Task, event webhook.Event) error
	// Event reads an event. It returns fault.NotFound once the event has expired. Events expire after 15 days.
	Event(ctx context.Context, tenant org.Tenant, id string) (webhook.Event, error)
}

// Connections reads connections. It returns fault.NotFound if the connection does not exist.
type Connections interface {
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Registrar registers export requests.
type Registrar struct {
	Tasks       TaskStore
	Connections Connections
	Enqueuer    Enqueuer
	Now         func() time.Time
	NewID       ids.Source
	Reuse       time.Duration // time for which a finished export serves identical requests
}

// Register returns the connection's current export or creates a new one (docs/reference/deviations.md, "Exports"). A
// pending task is returned unchanged. Unless refresh is set, Register also returns a recent successful task with equal
// options, and resends the task's event if it was last sent at least resendAfter ago. In all other cases, Register
// creates a new task. Register returns fault.NotFound for an unknown connection, fault.Invalid for a fixture on a
// non-TEFCA connection, or fault.Conflict (svc_connection_not_exportable).
func (r Registrar) Register(ctx context.Context, tenant org.Tenant, connectionID string, options Options,
	refresh bool,
) (Task, error) {
	var task Task
	// after losing a race, the retry finds the winner's task
	err := retry.OnConflict(ctx, retry.Tries, func() (err error) {
		task, err = r.register(ctx, tenant, connectionID, options, refresh)
		return err
	})
	return task, err
}

func (r Registrar) register(ctx context.Context, tenant org.Tenant, connectionID string, options Options,
	refresh bool,
) (Task, error) {
	conn, err := r.Connections.Connection(ctx, tenant, connectionID)
	if errors.Is(err, fault.NotFound) {
		return Task{}, connection.Missing()
	}
	if err != nil {
		return Task{}, fmt.Errorf("read connection: %w", err)
	}
	if options.Fixture != "" && conn.PlatformType != connection.TEFCAPlatform {
		return Task{}, noFixture()
	}
	latestID, latest, err := r.latest(ctx, tenant, connectionID)
	if err != nil {
		return Task{}, err
	}
	switch {
	case latest.Status == Pending:
		return latest, nil
	case !refresh && r.reusable(latest) && latest.Options.equal(options):
		return latest, r.resend(ctx, latest)
	}
	if err := conn.Exportable(); err != nil {
		return Task{}, err
	}
	task := Task{
		ID: ids.TaskID(r.NewID()), Tenant: tenant, ConnectionID: connectionID, Status: Pending, Options: options,
		CreatedAt: r.Now(),
	}
	if err := r.Tasks.OpenTask(ctx, task, latestID); err != nil {
		return Task{}, fmt.Errorf("open task: %w", err)
	}
	// The task row is authoritative. If the message cannot be sent, the request still succeeds, because the sweeper
	// sends the message later.
	_ = r.Enqueuer.EnqueueTask(ctx, tenant, task.ID, 0)
	return task, nil
}

// reusable reports whether a task succeeded and can still serve identical requests.
func (r Registrar) reusable(task Task) bool {
	now := r.Now()
	return task.Status == Success && now.Sub(task.FinishedAt) < r.Reuse && now.Before(task.FilesUntil)
}

// latest returns a connection's newest task and the task's ID. The ID is empty if the connection has no tasks. The task
// is the zero value if its row has expired. Task rows expire after 90 days, but the pointer to the newest task never
// expires.
func (r Registrar) latest(ctx context.Context, tenant org.Tenant,
	connectionID string,
) (id string, task Task, err error) {
	id, err = r.Tasks.LatestTask(ctx, tenant, connectionID)
	if errors.Is(err, fault.NotFound) {
		return "", Task{}, nil
	}
	if err != nil {
		return "", Task{}, fmt.Errorf("find newest task: %w", err)
	}
	task, err = r.Tasks.Task(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return id, Task{}, nil
	}
	if err != nil {
		return "", Task{}, fmt.Errorf("read newest task: %w", err)
	}
	return id, task, nil
}

// resend resends a finished task's success event as a new event, at most once every five minutes.
func (r Registrar) resend(ctx context.Context, task Task) error {
	now := r.Now()
	if now.Sub(task.SentAt) < resendAfter {
		return nil
	}
	sent, err := r.Tasks.Event(ctx, task.Tenant,
		webhook.EventID(task.Tenant, webhook.ExportSucceeded, task.ID, task.Resends))
	if err != nil {
		return fmt.Errorf("read success event: %w", err)
	}
	var body struct {
		Data json.RawMessage `json:"data"`
	}
	if err = json.Unmarshal(sent.Body, &body); err != nil {
		return fmt.Errorf("decode success event: %w", err)
	}
	event, err := webhook.NewEvent(task.Tenant, webhook.ExportSucceeded, task.ID, task.Resends+1, now, body.Data)
	if err != nil {
		return err
	}
	if err := r.Tasks.ResendEvent(ctx, task, event); err != nil {
		if errors.Is(err, fault.Conflict) {
			return nil // another request has just sent the event
		}
		return fmt.Errorf("resend success event: %w", err)
	}
	_ = r.Enqueuer.EnqueueEvent(ctx, task.Tenant, event.ID)
	return nil
}
