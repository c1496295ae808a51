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

// Rows stores notices (store.Notices). A notice that is there already is stored no second time.
type Rows interface {
	Notify(ctx context.Context, n Notice) error
}

// Queue tells the webhook worker to send a notice. What is lost of it the sweeper makes up for.
type Queue interface {
	EnqueueNotice(ctx context.Context, tenant org.Tenant, id string) error
}

// Outbox stores notices and has them sent soon.
type Outbox struct {
	Rows  Rows
	Queue Queue
}

// Notify stores a notice and enqueues it. That it cannot be enqueued stops nobody: what it tells of has to go on.
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

// Owners tells the owners of subscriptions what deliveries find out about them.
type Owners struct {
	Outbox Outbox
	Mailer Mailer
}

// disabledFirst is how long a webhook's disabling waits for its e-mail.
const disabledFirst = 5 * time.Second

// TellFailing implements webhook.Owners.
func (o Owners) TellFailing(ctx context.Context, s webhook.Subscription, h webhook.Health) error {
	return o.Outbox.Notify(ctx, failing(s, h))
}

// TellDisabled implements webhook.Owners. The e-mail goes before it returns, so that it comes before the change
// (docs/reference/deviations.md, Webhooks). One that cannot be sent stops nobody: it is tried again later.
func (o Owners) TellDisabled(ctx context.Context, s webhook.Subscription, reason webhook.Reason, h webhook.Health,
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
