package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
)

// progressEvery is the minimum interval between a task's progress events. Progress events are sent only if a
// subscription requests them (docs/reference/deviations.md, "Exports").
const progressEvery = 30 * time.Second

// errSuperseded is the cancellation cause of a run whose task has been claimed by another worker or whose slot has been
// taken by another task.
var errSuperseded = errors.New("another worker has taken the task or its place over")

// progress holds a task's progress while this worker holds the task's lease. The run sets the progress, and the
// heartbeat stores it.
type progress struct {
	mu  sync.Mutex
	now webhook.Progress
}

func (p *progress) set(now webhook.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = now
}

func (p *progress) get() webhook.Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// heartbeat renews the leases of the task and its slot three times per lease duration, and stores the run's progress.
// If either lease is lost, heartbeat cancels the run. The returned channel is closed when the heartbeat ends.
func (w Worker) heartbeat(
	ctx context.Context, place share.Place, task export.Task, reached *progress, stop context.CancelCauseFunc,
) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(w.Lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			err := w.Share.Keep(ctx, place)
			if err == nil {
				err = w.beat(ctx, &task, reached.get())
			}
			if errors.Is(err, fault.Conflict) {
				stop(errSuperseded)
				return
			}
		}
	}()
	return ended
}

// beat renews the task's lease and stores the progress. If the progress has changed and the last progress event is at
// least progressEvery old, beat also creates a progress event. If a heartbeat fails, the next one tries again.
func (w Worker) beat(ctx context.Context, task *export.Task, reached webhook.Progress) error {
	now := w.Now()
	isNew := reached != task.Progress
	next := *task
	next.Progress = reached
	if !isNew || now.Sub(task.ProgressAt) < progressEvery {
		if err := w.Store.ExtendTask(ctx, next, now.Add(w.Lease)); err != nil {
			return fmt.Errorf("extend task: %w", err)
		}
		return nil
	}
	next.ProgressAt, next.ProgressSent = now, task.ProgressSent+1
	event, err := webhook.NewEvent(task.Tenant, webhook.ExportProgressed, task.ID, next.ProgressSent, now,
		webhook.ExportProgress{
			OrgConnectionID: task.ConnectionID, TaskID: task.ID, OrgID: task.Tenant.OrgID, Sequence: next.ProgressSent,
			Progress: reached,
		})
	if err != nil {
		return err
	}
	if err := w.Store.ReportTask(ctx, next, now.Add(w.Lease), event); err != nil {
		return fmt.Errorf("report progress: %w", err)
	}
	*task = next
	_ = w.Enqueuer.EnqueueEvent(ctx, task.Tenant, event.ID)
	return nil
}
