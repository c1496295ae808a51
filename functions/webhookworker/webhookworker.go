// Package webhookworker takes the messages of the delivery queue: each tells it to look at an event, which it fans out
// to the subscriptions, at a delivery that is due, which it attempts, or at a notice, which it sends as an e-mail.
// Duplicate, late and forged messages find nothing to claim and change nothing.
package webhookworker

import (
	"context"

	"recordbridge/shared/due"
	"recordbridge/shared/logx"
	"recordbridge/shared/org"
)

// Webhooks delivers events (webhook.Worker).
type Webhooks interface {
	DeliverEvent(ctx context.Context, tenant org.Tenant, id string) error
	RetryDelivery(ctx context.Context, tenant org.Tenant, id string) error
}

// Notices sends e-mails (notice.Mailer).
type Notices interface {
	SendNotice(ctx context.Context, tenant org.Tenant, id string) error
}

// New returns the handler of one message.
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
		return nil // sent to the wrong queue by hand; the sweeper knows where it belongs
	}
}
