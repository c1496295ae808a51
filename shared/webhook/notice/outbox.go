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

// Rows stores notices; store.Notices implements it. An existing notice is not stored again.
type Rows interface {
	Notify(ctx context.Context, n Notice) error
}

// Queue queues notices for the webhook worker. If a message is lost, the sweeper processes its notice.
type Queue interface {
	EnqueueNotice(ctx context.Context, tenant org.Tenant, id string) error
}

// Outbox stores notices and queues them for sending.
type Outbox struct {
	Rows  Rows
	Queue Queue
}

// Notify stores and queues a notice. Notify ignores queueing errors, because the sweeper also processes the notice.
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

// Owners notifies subscriptions' owners about problems with deliveries.
type Owners struct {
	Outbox Outbox
	Mailer Mailer
}

// disabledFirst is the maximum time that disabling a webhook waits for the email to be sent.
const disabledFirst = 5 * time.Second

// NotifyFailing implements webhook.Owners.
func (o Owners) NotifyFailing(ctx context.Context, s webhook.Subscription, h webhook.Health) error {
	return o.Outbox.Notify(ctx, failing(s, h))
}

// NotifyDisabled implements webhook.Owners. NotifyDisabled sends the email before it returns, so that the email
// precedes the change (docs/reference/deviations.md, Webhooks). Errors in sending are ignored, because the email is
// retried later.
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
