package webhookworker_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/functions/webhookworker"
	"recordbridge/shared/webhook"
)

// looking notes whether the webhook is disabled when a mail goes, and how that ends.
type looking struct {
	office   *office
	err      error
	disabled []bool
}

func (l *looking) Send(ctx context.Context, _ []string, _, _ string) error {
	all, err := l.office.rows.Subscriptions(ctx, tenant)
	for _, s := range all {
		l.disabled = append(l.disabled, s.Disabled)
	}
	return errors.Join(err, l.err)
}

func TestTheMailThatAWebhookIsDisabledGoesFirstAndHoldsNothingUp(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]error{"the mail goes": nil, "the mail fails": errTrouble} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newOffice(t, address)
				must(t, p.rows.CreateSubscription(t.Context(), webhook.Subscription{ID: hookID, Tenant: tenant, URL: "https://alder.example/hook"}))
				sender := &looking{office: p, err: trouble}
				p.mailer.Sender = sender
				outbox := webhookworker.Outbox{Outbox: webhook.Outbox{Rows: p.rows}, Mailer: p.mailer}
				must(t, outbox.Notify(t.Context(), webhook.Notice{
					ID: noticeID, Tenant: tenant, Kind: webhook.NoticeDisabled, SubscriptionID: hookID, Rev: 1, Reason: webhook.ReasonGone, At: time.Now(),
				}))
				if !slices.Equal(sender.disabled, []bool{false}) || !p.subscription().Disabled {
					t.Errorf("when the mail went, disabled was %v; afterwards it is %v", sender.disabled, p.subscription().Disabled)
				}
				if left := len(p.due()); (left == 0) != (trouble == nil) {
					t.Errorf("%d mails wait", left)
				}
			})
		})
	}
}
