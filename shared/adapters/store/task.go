package store

import (
	"context"
	"maps"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

const (
	// sweepAfter is the delay before the sweeper processes a new row, in case its message was lost.
	sweepAfter = 30 * time.Second
	keepTasks  = 90 * 24 * time.Hour // docs/operate/retention.md
	keepEvents = 15 * 24 * time.Hour
)

// Tasks stores export tasks and the ID of each connection's latest task. Events about a task, including resent events,
// are written in the same transaction as the task.
type Tasks Work

// LatestTask implements export.TaskStore.
func (s Tasks) LatestTask(ctx context.Context, tenant org.Tenant, connectionID string) (string, error) {
	row, err := get(ctx, s.DB, s.Table, latestKey(tenant, connectionID))
	if err != nil {
		return "", err
	}
	return row.text("task_id"), nil
}

// Task implements export.TaskStore.
func (s Tasks) Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error) {
	row, err := get(ctx, s.DB, s.Table, taskKey(tenant, id))
	if err != nil {
		return export.Task{}, err
	}
	return taskOf(row, tenant, id)
}

func taskOf(row item, tenant org.Tenant, id string) (export.Task, error) {
	task, damaged := readTask(row, tenant, id)
	if len(damaged) > 0 {
		return export.Task{}, damaged[0]
	}
	return task, nil
}

// readTask reads a task's valid attributes. It returns an error for each damaged attribute.
func readTask(row item, tenant org.Tenant, id string) (task export.Task, damaged []error) {
	task = export.Task{
		ID: id, Tenant: tenant, ConnectionID: row.text("connection_id"), Previous: row.text("previous"),
		Status:        export.Status(row.text("status")),
		FailureReason: export.Reason(row.text("failure_reason")), FilesUntil: row.time("files_until"),
		CreatedAt: row.time("created_at"), FinishedAt: row.time("finished_at"), SentAt: row.time("sent_at"),
		Resends: row.int("resends"), Generation: row.int("generation"), Failures: int(row.int("setbacks")),
		LeaseUntil: row.time("lease_until"), Deferred: isPutOff(row), WaitingSince: row.time("waiting_since"),
		Waited: time.Duration(row.int("waited_ms")) * time.Millisecond, Checkpoint: row.text("checkpoint"),
		ProgressAt: row.time("progress_at"), ProgressSent: row.int("progress_sent"),
	}
	for _, part := range []struct {
		name string
		into any
	}{
		{"stats", &task.Stats},
		{"outcome", &task.Outcome},
		{"files", &task.Files},
		{"manifest", &task.Manifest},
		{"options", &task.Options},
		{"scope", &task.Scope},
		{"progress", &task.Progress},
	} {
		if err := row.json(part.name, part.into); err != nil {
			damaged = append(damaged, err)
		}
	}
	return task, damaged
}

// isPutOff reports whether the task is postponed until lease_until. The attribute put_off contains the generation that
// YieldTask created. Any later claim therefore invalidates put_off, even one by a release that predates the attribute.
func isPutOff(row item) bool {
	return row.text("status") == string(export.Pending) && row.int("put_off") > 0 &&
		row.int("put_off") == row.int("generation")
}

// ResendEvent implements export.TaskStore.
func (s Tasks) ResendEvent(ctx context.Context, task export.Task, event webhook.Event) error {
	count := change{
		table: s.Table, key: taskKey(task.Tenant, task.ID),
		set: "SET resends = :next, sent_at = :now", when: "resends = :seen",
		values: item{":next": number(task.Resends + 1), ":seen": number(task.Resends), ":now": moment(event.CreatedAt)},
	}
	return transact(ctx, s.DB, count.write(), putNew(s.Table, eventItem(event)))
}

// ClaimTask implements worker.Store. For leased and postponed tasks alike, only lease_until determines when the task
// can be claimed. A message that arrives earlier has no effect.
func (s Tasks) ClaimTask(ctx context.Context, tenant org.Tenant, id string, now,
	leaseUntil time.Time,
) (export.Task, error) {
	row, err := update(ctx, s.DB, leaseOf("generation").claim(change{
		table: s.Table, key: taskKey(tenant, id), set: ", due_at = :until",
		when:  "#status = :pending AND attribute_not_exists(waiting_since)",
		names: map[string]string{"#status": "status"}, values: item{":pending": text(string(export.Pending))},
	}, now, leaseUntil))
	if err != nil {
		return export.Task{}, err
	}
	return taskOf(row, tenant, id)
}

// ExtendTask implements worker.Store.
func (s Tasks) ExtendTask(ctx context.Context, task export.Task, leaseUntil time.Time) error {
	c, err := s.extending(task, leaseUntil)
	if err != nil {
		return err
	}
	_, err = update(ctx, s.DB, c)
	return err
}

// ReportTask implements worker.Store.
func (s Tasks) ReportTask(ctx context.Context, task export.Task, leaseUntil time.Time, event webhook.Event) error {
	c, err := s.extending(task, leaseUntil)
	if err != nil {
		return err
	}
	c.set += ", progress_at = :at, progress_sent = :sent"
	c.values[":at"] = moment(task.ProgressAt)
	c.values[":sent"] = number(task.ProgressSent)
	return transact(ctx, s.DB, c.write(), putNew(s.Table, eventItem(event)))
}

// ContinueTask implements worker.Store.
func (s Tasks) ContinueTask(ctx context.Context, task export.Task, leaseUntil time.Time) (export.Task, error) {
	c := leaseOf("generation").extend(s.fenced(task, ", generation = generation + :one, due_at = :until, "+
		"checkpoint = :checkpoint, setbacks = :none, progress = :progress"), leaseUntil)
	c.values[":one"] = number(1)
	c.values[":checkpoint"] = text(task.Checkpoint)
	c.values[":none"] = number(0)
	if err := c.values.setJSON(":progress", task.Progress); err != nil {
		return export.Task{}, err
	}
	row, err := update(ctx, s.DB, c)
	if err != nil {
		return export.Task{}, err
	}
	return taskOf(row, task.Tenant, task.ID)
}

// YieldTask implements worker.Store. YieldTask increments the generation, so that a late write by the same run, such as
// its heartbeat, can't shorten the wait.
func (s Tasks) YieldTask(ctx context.Context, task export.Task, until, dueAt time.Time) error {
	set := "SET generation = generation + :one, setbacks = :setbacks, checkpoint = :checkpoint, progress = :progress, " +
		"due_at = :due"
	if until.IsZero() {
		set += " REMOVE lease_until"
	} else {
		set += ", lease_until = :until, put_off = :next"
	}
	c := s.fenced(task, set)
	if !until.IsZero() {
		c.values[":until"] = moment(until)
		c.values[":next"] = number(task.Generation + 1)
	}
	c.values[":one"] = number(1)
	c.values[":setbacks"] = number(int64(task.Failures))
	c.values[":checkpoint"] = text(task.Checkpoint)
	c.values[":due"] = moment(dueAt)
	if err := c.values.setJSON(":progress", task.Progress); err != nil {
		return err
	}
	_, err := update(ctx, s.DB, c)
	return err
}

// FinishTask implements worker.Store. The task's row remains due until its files are deleted.
func (s Tasks) FinishTask(ctx context.Context, task export.Task, event webhook.Event) error {
	result := item{}
	for name, value := range map[string]any{
		":stats": task.Stats, ":outcome": task.Outcome, ":files": task.Files, ":scope": task.Scope,
		":progress": task.Progress, ":manifest": task.Manifest,
	} {
		if err := result.setJSON(name, value); err != nil {
			return err
		}
	}
	c := s.fenced(task, "SET #status = :status, finished_at = :finished, stats = :stats, outcome = :outcome, files = "+
		":files, manifest = :manifest, #scope = :scope, "+
		"progress = :progress, failure_reason = :reason, sent_at = :finished, files_until = :kept")
	c.names["#scope"] = "scope"
	maps.Copy(c.values, result)
	c.values[":status"] = text(string(task.Status))
	c.values[":finished"] = moment(task.FinishedAt)
	c.values[":reason"] = text(string(task.FailureReason))
	c.values[":kept"] = moment(task.FilesUntil)
	c.set += ", due_at = :kept REMOVE lease_until"
	return transact(ctx, s.DB, c.write(), putNew(s.Table, eventItem(event)))
}

// ExpireFiles implements export.Deletions. The row remains due so that the sweeper deletes the files.
func (s Tasks) ExpireFiles(ctx context.Context, task export.Task, now, lookAt time.Time) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: taskKey(task.Tenant, task.ID),
		set:  "SET files_until = :now, due_shard = :shard, due_at = :look",
		when: "#status = :success AND files_until > :now", names: map[string]string{"#status": "status"},
		values: item{
			":now": moment(now), ":look": moment(lookAt), ":shard": text(shardOf(task.ID)),
			":success": text(string(export.Success)),
		},
	})
	return err
}

// fenced returns an update of a pending task that fails unless the worker still holds the task at its current
// generation.
func (s Tasks) fenced(task export.Task, set string) change {
	return leaseOf("generation").held(change{
		table: s.Table, key: taskKey(task.Tenant, task.ID), set: set,
		when: "#status = :pending", names: map[string]string{"#status": "status"},
		values: item{":pending": text(string(export.Pending))},
	}, number(task.Generation))
}

func (s Tasks) extending(task export.Task, leaseUntil time.Time) (change, error) {
	c := leaseOf("generation").extend(s.fenced(task, ", due_at = :until, progress = :progress"), leaseUntil)
	return c, c.values.setJSON(":progress", task.Progress)
}
