// Package worker performs exports. A worker claims a task under a lease, runs the task using package collect, and
// records each run's result in the task's row. Every write is fenced by the task's generation, so a worker never
// modifies a task that another worker has claimed.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/collect"
	"recordbridge/shared/export/manifest"
	"recordbridge/shared/export/share"
	"recordbridge/shared/export/source"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
	"recordbridge/shared/words/org"
)

// Store stores a task while a worker processes it. Every write except ClaimTask is fenced by task.Generation and
// returns fault.Conflict if another worker has taken over the task.
type Store interface {
	// ClaimTask leases a pending task and increments the task's generation. It returns fault.Conflict if the task is in
	// line, leased or deferred.
	ClaimTask(ctx context.Context, tenant org.Tenant, id string, now, leaseUntil time.Time) (export.Task, error)
	// ExtendTask renews the task's lease and stores Progress.
	ExtendTask(ctx context.Context, task export.Task, leaseUntil time.Time) error
	// ReportTask renews the lease and stores Progress, ProgressAt, ProgressSent and the progress event, all in one
	// transaction.
	ReportTask(ctx context.Context, task export.Task, leaseUntil time.Time, event webhook.Event) error
	// ContinueTask stores Checkpoint, clears Failures and increments the generation of a task that the same worker will
	// continue.
	ContinueTask(ctx context.Context, task export.Task, leaseUntil time.Time) (export.Task, error)
	// YieldTask stores Checkpoint and Failures, increments the generation and releases the lease. Workers can claim the
	// task again at time until, or immediately if until is zero. The sweeper acts at dueAt.
	YieldTask(ctx context.Context, task export.Task, until, dueAt time.Time) error
	// FinishTask stores the task's result and event in one transaction.
	FinishTask(ctx context.Context, task export.Task, event webhook.Event) error
}

// Refreshes maintains tokens between exports (package refresh).
type Refreshes interface {
	// RefreshDue makes the tokens of an authorized connection due at time now and enqueues the connection. It returns
	// fault.Conflict if the connection is not authorized.
	RefreshDue(ctx context.Context, tenant org.Tenant, connectionID string, now time.Time) error
}

// Worker performs exports. All methods are idempotent, so a duplicate or late call has no effect.
type Worker struct {
	Store            Store
	Share            share.Share
	Source           source.Opener
	Refreshes        Refreshes
	Cache            collect.Cache
	Known            collect.Known // nil if nothing should be stored
	Files            export.Files
	Enqueuer         export.Enqueuer
	Links            export.Links
	Manifests        manifest.Keys // keys that sign manifests
	Release          string        // name of the service's release, which manifests contain
	Now              func() time.Time
	Lease            time.Duration
	Retention        time.Duration
	SendDownloadLink bool // whether to send the deprecated download_link after its removal date
	AddMetaSource    bool // whether to set an empty meta.source to the resource's origin
}

// firstClaim is a task's generation after its first claim.
const firstClaim = 1

// errTooLong means that a task failed because it was pending for longer than export.Budget.
var errTooLong = fault.Spot{Class: "over_time"}.Failed(errors.New("the export was pending for too long"))

// Work processes a task until it succeeds, fails, is deferred or must wait in its tenant's line. Near the deadline,
// Work hands over to a later call through the queue. If an AWS service fails, Work defers the task without counting a
// failure. Every returned error is an internal failure. After an internal failure, the task stays pending and the
// sweeper retries it.
func (w Worker) Work(ctx context.Context, tenant org.Tenant, taskID string, deadline time.Time) error {
	now := w.Now()
	task, err := w.Store.ClaimTask(ctx, tenant, taskID, now, now.Add(w.Lease))
	if errors.Is(err, fault.Conflict) {
		logSkipped(ctx)
		return nil
	}
	if err != nil {
		return fmt.Errorf("claim task: %w", err)
	}
	logx.Add(ctx, slog.String("connection_id", task.ConnectionID))
	if task.Generation == firstClaim {
		logx.Measure(ctx, metric.Count(metric.Exports, "started"))
	}
	if now.After(task.Ends()) {
		return w.fail(ctx, task, export.Result{Kind: export.Fatal, Reason: export.SuppressedPleaseContact, Cause: errTooLong})
	}
	place, isIn, err := w.Share.Enter(ctx, task)
	if err != nil {
		return fmt.Errorf("enter share: %w", err)
	}
	if !isIn {
		logWaiting(ctx)
		return nil
	}
	return w.workIn(ctx, place, task, deadline)
}

// Admit starts waiting exports if the tenant's share has free slots.
func (w Worker) Admit(ctx context.Context, tenant org.Tenant) error {
	if err := w.Share.Admit(ctx, tenant); err != nil {
		return fmt.Errorf("admit exports: %w", err)
	}
	return nil
}

// workIn works on a task in its slot. A task that continues immediately keeps its slot for the next run. After an
// internal failure, both the slot and the task remain leased until their leases expire.
func (w Worker) workIn(ctx context.Context, place share.Place, task export.Task, deadline time.Time) error {
	for {
		end, err := w.runOnce(ctx, place, task, deadline)
		if fault.Outage(err) {
			end, err = collect.End{Task: task, Result: export.AfterOutage(err)}, nil
		}
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		switch {
		case end.Result.Kind == export.Superseded:
			return nil // the slot belongs to the task, but another worker has claimed the task
		case end.Result.Kind != export.Save:
			if end.Result.Kind != export.Yield || end.Result.Wait > 0 {
				w.Share.Leave(ctx, place)
			}
			return w.record(context.WithoutCancel(ctx), end)
		}
		task, err = w.Store.ContinueTask(ctx, end.Task, w.Now().Add(w.Lease))
		if errors.Is(err, fault.Conflict) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("continue task: %w", err)
		}
	}
}

// runOnce processes the task from its checkpoint until the task ends or saves another checkpoint, while the heartbeat
// renews the leases of the task and its slot.
func (w Worker) runOnce(ctx context.Context, place share.Place, task export.Task,
	deadline time.Time,
) (collect.End, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	reached := &progress{now: task.Progress}
	beats := w.heartbeat(ctx, place, task, reached, stop)
	collector := collect.Collector{
		Source: w.Source, Cache: w.Cache, Files: w.Files, Known: w.Known, Now: w.Now,
		Manifests: w.Manifests, Release: w.Release, AddMetaSource: w.AddMetaSource,
	}
	end, err := collector.Run(ctx, task, deadline, reached.set)
	if err == nil && end.Result.Kind == export.Done {
		end, err = w.succeed(ctx, end)
	}
	if errors.Is(context.Cause(ctx), errSuperseded) {
		// errSuperseded takes precedence over any failure that cancellation causes
		end, err = collect.End{Result: export.Result{Kind: export.Superseded}}, nil
	}
	stop(nil)
	<-beats
	return end, err
}
