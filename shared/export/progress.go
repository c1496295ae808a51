package export

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/webhook"
)

// progressEvery is how far apart the progress events of a task are at least. They are off unless a subscription asks for them
// (decisions section 6).
const progressEvery = 30 * time.Second

// hold is how far a task has come while this worker has it: the collector tells, the heartbeat stores it.
type hold struct {
	mu  sync.Mutex
	now webhook.Progress
}

func (h *hold) set(p webhook.Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = p
}

func (h *hold) get() webhook.Progress {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// tell lets the heartbeat know how far the run is.
func (c *collector) tell() { c.hold.set(c.progress()) }

func (c *collector) progress() webhook.Progress {
	s := c.state
	left := len(s.Queries) + len(s.Refs) + len(s.Binaries) + len(s.Attachments) + s.Later.size()
	p := webhook.Progress{QueriesDone: s.Done, QueriesPlanned: s.Done + left, Resources: s.stats().TotalResources}
	for _, segment := range s.Segments {
		p.Bytes += segment.Bytes
	}
	if c.out != nil {
		p.Bytes += c.out.bytes
	}
	return p
}

// heartbeat extends the lease at a third of its length, stores how far the run is, and cancels the run once the task is
// another worker's. The returned channel closes when it has ended.
func (w Worker) heartbeat(ctx context.Context, task Task, hold *hold, stop context.CancelCauseFunc) <-chan struct{} {
	ended := make(chan struct{})
	hold.set(task.Progress)
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
			err := w.beat(ctx, &task, hold.get())
			if errors.Is(err, fault.Conflict) {
				stop(errTakenOver)
				return
			}
		}
	}()
	return ended
}

// beat extends the lease once. It makes a progress event when there is something new to tell and the last one was a while
// ago. One that fails is made up for by the next.
func (w Worker) beat(ctx context.Context, task *Task, progress webhook.Progress) error {
	now := w.Now()
	isNew := progress != task.Progress
	next := *task
	next.Progress = progress
	if !isNew || now.Sub(task.ProgressAt) < progressEvery {
		if err := w.Store.ExtendTask(ctx, next, now.Add(w.Lease)); err != nil {
			return fmt.Errorf("extend task: %w", err)
		}
		return nil
	}
	next.ProgressAt, next.ProgressSent = now, task.ProgressSent+1
	event, err := webhook.NewEvent(task.Tenant, webhook.ExportProgressed, task.ID, next.ProgressSent, now, webhook.ExportProgress{
		OrgConnectionID: task.ConnectionID, TaskID: task.ID, OrgID: task.Tenant.OrgID, Sequence: next.ProgressSent, Progress: progress,
	})
	if err != nil {
		return err
	}
	if err := w.Store.ReportTask(ctx, next, now.Add(w.Lease), event); err != nil {
		return fmt.Errorf("report progress: %w", err)
	}
	*task = next
	_ = w.Nudger.NudgeEvent(ctx, task.Tenant, event.ID)
	return nil
}
