// Package exportworker handles messages from the export queue. Each message identifies a task or an organisation whose
// queued exports may start. The worker exports the patient's record and stores the result. If a worker runs out of
// time, it sends a follow-up message. Duplicate, late and forged messages have no effect, because they don't match any
// claimable task.
package exportworker

import (
	"context"
	"time"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Exports runs exports; worker.Worker implements it.
type Exports interface {
	Work(ctx context.Context, tenant org.Tenant, taskID string, deadline time.Time) error
	Admit(ctx context.Context, tenant org.Tenant) error
}

// New returns the message handler.
func New(exports Exports) func(context.Context, due.Item) error {
	return func(ctx context.Context, i due.Item) error {
		logx.Add(ctx, i.LogAttrs()...)
		switch i.Kind {
		case due.Task:
			deadline, _ := ctx.Deadline()
			return exports.Work(ctx, i.Tenant, i.ID, deadline)
		case due.Share:
			return exports.Admit(ctx, i.Tenant)
		case due.Event, due.Delivery, due.Connection, due.Notice, due.Attempt:
		}
		return nil // the message was sent manually to the wrong queue; the sweeper will resend it to the right one
	}
}
