// Package webhookworker handles messages from the delivery queue. Each message identifies an event to fan out to
// subscriptions, a due delivery, or a notice to send by email. Duplicate, late and forged messages have no effect,
// because no claimable work matches them.
package webhookworker

import (
	"context"
	"sync"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Webhooks delivers events; webhook.Worker implements it.
type Webhooks interface {
	DeliverEvent(ctx context.Context, tenant org.Tenant, id string) error
	RetryDelivery(ctx context.Context, tenant org.Tenant, id string) error
}

// Notices sends emails; notice.Mailer implements it.
type Notices interface {
	SendNotice(ctx context.Context, tenant org.Tenant, id string) error
}

// New returns the message handler.
func New(webhooks Webhooks, notices Notices) func(context.Context, due.Item) error {
	return func(ctx context.Context, i due.Item) error {
		logx.Add(ctx, i.LogAttrs()...)
		switch i.Kind {
		case due.Event:
			return webhooks.DeliverEvent(ctx, i.Tenant, i.ID)
		case due.Delivery:
			return webhooks.RetryDelivery(ctx, i.Tenant, i.ID)
		case due.Notice:
			return notices.SendNotice(ctx, i.Tenant, i.ID)
		case due.Task, due.Share, due.Connection, due.Attempt:
		}
		return nil // the message was sent manually to the wrong queue; the sweeper will resend it to the right one
	}
}

// Planner plans the deliveries of several events at once; webhook.Worker implements it.
type Planner interface {
	PlanTogether(ctx context.Context, references []webhook.Reference) (map[webhook.Reference]webhook.Plan, error)
	Deliver(ctx context.Context, plan webhook.Plan) error
}

// Together returns a function that plans all of a batch's events at once. single handles the messages without a plan.
// If reading the events fails, all event messages are retried.
func Together(
	planner Planner, single func(context.Context, due.Item) error,
) func(context.Context, []due.Item) func(context.Context, due.Item) error {
	return func(ctx context.Context, batch []due.Item) func(context.Context, due.Item) error {
		of, err := planner.PlanTogether(ctx, references(batch))
		plans := plans{of: of}
		return func(ctx context.Context, i due.Item) error {
			plan, isPlanned := plans.take(i)
			if !isPlanned && (err == nil || i.Kind != due.Event) {
				return single(ctx, i)
			}
			logx.Add(ctx, i.LogAttrs()...)
			if err != nil {
				return err
			}
			return planner.Deliver(ctx, plan)
		}
	}
}

// references returns the distinct events to which a batch's messages refer.
func references(batch []due.Item) []webhook.Reference {
	var all []webhook.Reference
	known := map[webhook.Reference]bool{}
	for _, i := range batch {
		r := webhook.Reference{Tenant: i.Tenant, ID: i.ID}
		if i.Kind != due.Event || known[r] {
			continue
		}
		known[r] = true
		all = append(all, r)
	}
	return all
}

// plans stores a batch's plans until the batch's messages use them. It is safe for concurrent use.
type plans struct {
	mu sync.Mutex
	of map[webhook.Reference]webhook.Plan
}

// take removes and returns the plan for a message's event. If a batch contains several messages about an event, only
// the first gets the plan.
func (p *plans) take(i due.Item) (plan webhook.Plan, ok bool) {
	if i.Kind != due.Event {
		return webhook.Plan{}, false
	}
	r := webhook.Reference{Tenant: i.Tenant, ID: i.ID}
	p.mu.Lock()
	defer p.mu.Unlock()
	plan, ok = p.of[r]
	delete(p.of, r)
	return plan, ok
}
