// Package exportworker takes the messages of the export queue: each tells it to look at a task, or at an organisation's
// share of the workers. It collects the patient's record and stores the result, or hands over to a next message when
// its time ends. Duplicate, late and forged messages find nothing to claim and change nothing.
package exportworker

import (
	"context"
	"time"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Exports carries exports out (worker.Worker).
type Exports interface {
	Work(ctx context.Context, tenant org.Tenant, taskID string, deadline time.Time) error
	Admit(ctx context.Context, tenant org.Tenant) error
}

// New returns the handler of one message.
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
		return nil // sent to the wrong queue by hand; the sweeper knows where it belongs
	}
}
