package export

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/webhook"
)

func successEventID(task Task, number int64) string {
	return webhook.EventID(task.Tenant, webhook.ExportSucceeded, task.ID, number)
}

// succeed stores a task whose files are there and its event; fault.Conflict when the task is another worker's.
func (w Worker) succeed(ctx context.Context, task Task) error {
	now := w.Now()
	task.Status, task.FinishedAt, task.SentAt, task.FilesUntil = Success, now, now, now.Add(w.Retention)
	links := w.Links.Stored(task)
	data := webhook.ExportSuccess{
		DownloadLinks: links, OrgConnectionID: task.ConnectionID,
		TaskID: task.ID, OrgID: task.Tenant.OrgID, Stats: task.Stats, Shortfall: task.Shortfall(),
	}
	if w.SendDownloadLink {
		data.DownloadLink = &links[0]
	}
	event, err := webhook.NewEvent(task.Tenant, webhook.ExportSucceeded, task.ID, 0, now, data)
	if err != nil {
		return err
	}
	return w.finish(ctx, task, event)
}

// Fail returns the task as it has failed at a time, and the event that tells of it (spec section 6.2). The error is only
// that of encoding the event.
func (t Task) Fail(reason Reason, at time.Time) (Task, webhook.Event, error) {
	t.Status, t.FailureReason, t.FinishedAt, t.FilesUntil = Failed, reason, at, at.Add(lingers)
	event, err := webhook.NewEvent(t.Tenant, webhook.ExportFailed, t.ID, 0, at, webhook.ExportFailure{
		FailureReason: string(reason), OrgConnectionID: t.ConnectionID, TaskID: t.ID, OrgID: t.Tenant.OrgID,
	})
	return t, event, err
}

// fail ends the task with a reason and its event.
func (w Worker) fail(ctx context.Context, task Task, reason Reason) error {
	task, event, err := task.Fail(reason, w.Now())
	if err != nil {
		return err
	}
	if err := w.finish(ctx, task, event); !errors.Is(err, fault.Conflict) {
		return err
	}
	return nil
}

func (w Worker) finish(ctx context.Context, task Task, event webhook.Event) error {
	// A result that is ready is stored even when the run's time has just ended.
	ctx = context.WithoutCancel(ctx)
	if err := w.Store.FinishTask(ctx, task, event); err != nil {
		return fmt.Errorf("finish task: %w", err)
	}
	_ = w.Nudger.NudgeEvent(ctx, task.Tenant, event.ID)
	return nil
}
