package webhookworker

import (
	"context"
	"fmt"
	"time"

	"recordbridge/shared/logx"
	"recordbridge/shared/webhook"
)

// Outbox stores notices. One that tells of a disabled webhook it sends before it returns, so that the mail comes before the
// change (docs/deviations.md, Webhooks); others are sent when their nudge comes.
type Outbox struct {
	webhook.Outbox

	Mailer Mailer
}

// mailsFirst is how long a webhook's disabling waits for its mail.
const mailsFirst = 5 * time.Second

// Notify implements webhook.Notices. A mail that cannot be sent stops nobody: it is tried again later.
func (o Outbox) Notify(ctx context.Context, n webhook.Notice) error {
	if n.Kind != webhook.NoticeDisabled {
		return o.Outbox.Notify(ctx, n)
	}
	if err := o.Rows.Notify(ctx, n); err != nil {
		return fmt.Errorf("store notice: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, mailsFirst)
	defer cancel()
	if err := o.Mailer.SendNotice(ctx, n.Tenant, n.ID); err != nil {
		logx.Fail(ctx, err)
	}
	return nil
}
