package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/collect"
	"recordbridge/shared/fault"
	"recordbridge/shared/webhook"
)

// longestYield is after how long a task is looked at again at the latest, whatever the other side has asked for.
const longestYield = 15 * time.Minute

// record turns the end of a run into the task's next state.
func (w Worker) record(ctx context.Context, end collect.End) error {
	task, result := end.Task, end.Result
	switch result.Kind {
	case export.Done, export.Save, export.Superseded: // nothing is left to store
		return nil
	case export.Yield:
		task.Failures = 0
		return w.yield(ctx, task, result)
	case export.Retryable:
		if !task.CanFailAgain() {
			return w.fail(ctx, task, result)
		}
		task.Failures++
		result.Wait = max(result.Wait, time.Duration(task.Failures)*15*time.Second)
		return w.yield(ctx, task, result)
	case export.Fatal:
		if result.TokensRefused {
			return w.refused(ctx, task, result)
		}
	}
	return w.fail(ctx, task, result)
}

// succeed stores a task whose files are there, and its event, and then deletes what the files have replaced. What a crash leaves
// behind goes with the files, when their time is over.
func (w Worker) succeed(ctx context.Context, end collect.End) (collect.End, error) {
	task, now := end.Task, w.Now()
	task.Status, task.FinishedAt, task.SentAt, task.FilesUntil = export.Success, now, now, now.Add(w.Retention)
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
		return collect.End{}, err
	}
	err = w.finish(ctx, task, event)
	if errors.Is(err, fault.Conflict) {
		return collect.End{Result: export.Result{Kind: export.Superseded}}, nil // the segments are the other worker's now
	}
	if err != nil {
		return collect.End{}, err
	}
	tellSuccess(ctx, task)
	// The heartbeat may find the task finished and cancel the run; what is left over is ours all the same.
	ctx = context.WithoutCancel(ctx)
	for _, key := range end.Replaced {
		_ = w.Files.Delete(ctx, key)
	}
	return end, nil
}

// fail ends the task with a reason and its event.
func (w Worker) fail(ctx context.Context, task export.Task, result export.Result) error {
	task, event, err := task.Fail(result.Reason, w.Now())
	if err != nil {
		return err
	}
	err = w.finish(ctx, task, event)
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	if err == nil {
		tellFailure(ctx, task, result)
	}
	return err
}

func (w Worker) finish(ctx context.Context, task export.Task, event webhook.Event) error {
	// A result that is ready is stored even when the run's time has just ended.
	ctx = context.WithoutCancel(ctx)
	if err := w.Store.FinishTask(ctx, task, event); err != nil {
		return fmt.Errorf("finish task: %w", err)
	}
	_ = w.Enqueuer.EnqueueEvent(ctx, task.Tenant, event.ID)
	return nil
}

// refused fails a task whose refresh token was refused, or that never had one. What that means for the connection is not
// decided here: its tokens become due, before the task fails, so that a crash in between loses nothing.
func (w Worker) refused(ctx context.Context, task export.Task, result export.Result) error {
	err := w.Refreshes.RefreshDue(ctx, task.Tenant, task.ConnectionID, w.Now())
	if err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("make tokens due: %w", err)
	}
	return w.fail(ctx, task, result)
}

func (w Worker) yield(ctx context.Context, task export.Task, result export.Result) error {
	wait := min(result.Wait, longestYield)
	tellPutOff(ctx, task, result, w.Now().Add(wait))
	if err := w.Store.YieldTask(ctx, task, w.Now().Add(wait+w.Lease)); err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("yield task: %w", err)
	}
	// Lost messages are made up for by the sweeper.
	_ = w.Enqueuer.EnqueueTask(ctx, task.Tenant, task.ID, wait)
	return nil
}
