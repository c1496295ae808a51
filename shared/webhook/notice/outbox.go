package notice

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Rows stores notices (store.Notices). A notice that exists is not stored again.
type Rows interface {
	Notify(ctx context.Context, n Notice) error
}

// Queue asks the webhook worker to send a notice. The sweeper makes up for lost messages.
type Queue interface {
	EnqueueNotice(ctx context.Context, tenant org.Tenant, id string) error
}

// Outbox stores notices and has them sent promptly.
type Outbox struct {
	Rows  Rows
	Queue Queue
}

// Notify stores a notice and enqueues it. A failure to enqueue is not an error, because the reported change must
// proceed.
func (o Outbox) Notify(ctx context.Context, n Notice) error {
	if err := o.store(ctx, n); err != nil {
		return err
	}
	if err := o.Queue.EnqueueNotice(ctx, n.Tenant, n.ID); err != nil {
		logx.Add(ctx, slog.Bool("notice_not_nudged", true))
	}
	return nil
}

func (o Outbox) store(ctx context.Context, n Notice) error {
	if err := o.Rows.Notify(ctx, n); err != nil {
		return fmt.Errorf("store notice: %w", err)
	}
	return nil
}

// Owners notifies the owners of subscriptions of problems that deliveries reveal.
type Owners struct {
	Outbox Outbox
	Mailer Mailer
}

// disabledFirst is the time that disabling a webhook waits for its e-mail.
const disabledFirst = 5 * time.Second

// NotifyFailing implements webhook.Owners.
func (o Owners) NotifyFailing(ctx context.Context, s webhook.Subscription, h webhook.Health) error {
	return o.Outbox.Notify(ctx, failing(s, h))
}

// NotifyDisabled implements webhook.Owners. It sends the e-mail before it returns, so that the mail precedes the change
// (docs/reference/deviations.md, Webhooks). A failure to send is not an error: the mail is retried later.
func (o Owners) NotifyDisabled(ctx context.Context, s webhook.Subscription, reason webhook.Reason, h webhook.Health,
	at time.Time,
) error {
	n := disabled(s, reason, h, at)
	if err := o.Outbox.store(ctx, n); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, disabledFirst)
	defer cancel()
	if err := o.Mailer.SendNotice(ctx, n.Tenant, n.ID); err != nil {
		logx.Fail(ctx, err)
	}
	return nil
}
