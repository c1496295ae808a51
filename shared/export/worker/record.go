package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/collect"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
)

// afterWait is the delay between the end of a task's wait and the delivery of its message. The delay prevents early
// delivery if clocks differ.
const afterWait = time.Second

// errWait means that a task failed because its wait would exceed its time budget.
var errWait = errors.New("the wait would outlast the export's time")

// record stores the task's next state after a run.
func (w Worker) record(ctx context.Context, end collect.End) error {
	task, result := end.Task, end.Result
	switch result.Kind {
	case export.Done, export.Save, export.Superseded: // nothing more to store
		return nil
	case export.Yield:
		task.Failures = 0
		return w.yield(ctx, task, result)
	case export.Outage:
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

// succeed stores a task's success and its event, and then deletes the objects that its files replace. If the worker
// crashes before the deletion, these objects are deleted when the files expire.
func (w Worker) succeed(ctx context.Context, end collect.End) (collect.End, error) {
	task, now := end.Task, w.Now()
	task.Status, task.FinishedAt, task.SentAt, task.FilesUntil = export.Success, now, now, now.Add(w.Retention)
	links := w.Links.Stored(task)
	data := webhook.ExportSuccess{
		DownloadLinks: links, OrgConnectionID: task.ConnectionID,
		TaskID: task.ID, OrgID: task.Tenant.OrgID, Stats: task.Stats, Manifest: w.Links.StoredManifest(task),
		Shortfall: task.Shortfall(),
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
		return collect.End{Result: export.Result{Kind: export.Superseded}}, nil // another worker now owns the segments
	}
	if err != nil {
		return collect.End{}, err
	}
	logSuccess(ctx, task)
	// After the task has finished, the heartbeat may cancel the run, but this worker must still delete the replaced
	// objects.
	ctx = context.WithoutCancel(ctx)
	for _, key := range end.Replaced {
		_ = w.Files.Delete(ctx, key)
	}
	return end, nil
}

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
		logFailure(ctx, task, result)
	}
	return err
}

func (w Worker) finish(ctx context.Context, task export.Task, event webhook.Event) error {
	// Store the final result even if the run's context has just ended.
	ctx = context.WithoutCancel(ctx)
	if err := w.Store.FinishTask(ctx, task, event); err != nil {
		return fmt.Errorf("finish task: %w", err)
	}
	_ = w.Enqueuer.EnqueueEvent(ctx, task.Tenant, event.ID)
	return nil
}

// refused fails a task whose refresh token was refused or is missing, without changing the connection's status. The
// tokens are marked as due before the task fails, so the refresh is not lost if the worker crashes between the two
// steps.
func (w Worker) refused(ctx context.Context, task export.Task, result export.Result) error {
	err := w.Refreshes.RefreshDue(ctx, task.Tenant, task.ConnectionID, w.Now())
	if err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("make tokens due: %w", err)
	}
	return w.fail(ctx, task, result)
}

// yield defers a task until its wait is over. No worker can claim the task during the wait, so no request reaches the
// server too early. If the wait would exceed the task's time budget, yield fails the task immediately, to notify the
// organisation without delay.
func (w Worker) yield(ctx context.Context, task export.Task, result export.Result) error {
	now := w.Now()
	if now.Add(result.Wait).After(task.Ends()) {
		result = export.Result{Kind: export.Fatal, Reason: export.SuppressedPleaseContact, Cause: overTime(result.Cause)}
		return w.fail(ctx, task, result)
	}
	var until time.Time
	dueAt, delay := now.Add(w.Lease), time.Duration(0)
	if result.Wait > 0 {
		until, delay = now.Add(result.Wait), result.Wait+afterWait
		dueAt = until.Add(w.Lease)
	}
	if delay > due.LongestDelay {
		dueAt = until // the wait exceeds the maximum message delay, so the sweeper sends the message
	}
	logDeferred(ctx, task, result, now.Add(result.Wait))
	if err := w.Store.YieldTask(ctx, task, until, dueAt); err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("yield task: %w", err)
	}
	if delay <= due.LongestDelay {
		// If a message is lost, the sweeper sends it again.
		_ = w.Enqueuer.EnqueueTask(ctx, task.Tenant, task.ID, delay)
	}
	return nil
}

// overTime returns the error for a task that would exceed its time budget by waiting. The error includes the fault.Spot
// at which the wait was demanded.
func overTime(cause error) error {
	spot := fault.SpotOf(cause)
	spot.Class = "over_time"
	if cause == nil {
		return spot.Failed(errWait)
	}
	return spot.Failed(fmt.Errorf("%w: %w", errWait, cause))
}
