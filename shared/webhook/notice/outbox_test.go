package notice_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// looking is a mail sender that records whether the webhook was already disabled when each email was sent.
type looking struct {
	office   *office
	err      error
	disabled []bool
}

func (l *looking) Send(ctx context.Context, _ []string, _, _, _ string) error {
	all, err := l.office.rows.Subscriptions(ctx, tenant)
	for _, s := range all {
		l.disabled = append(l.disabled, s.Disabled)
	}
	return errors.Join(err, l.err)
}

func TestNotifyDisabledSucceedsWhenEmailFails(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]error{"the mail goes": nil, "the mail fails": errTrouble} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newOffice(t, address)
				expect.NoError(t, p.rows.CreateSubscription(t.Context(),
					webhook.Subscription{ID: hookID, Tenant: tenant, URL: "https://alder.example/hook"}))
				sender := &looking{office: p, err: trouble}
				p.mailer.Sender = sender
				p.id = notice.DisabledByHand(p.subscription(), time.Now()).ID
				owners := notice.Owners{Outbox: notice.Outbox{Rows: p.rows}, Mailer: p.mailer}
				expect.NoError(t, owners.NotifyDisabled(t.Context(), p.subscription(), webhook.ReasonGone,
					webhook.Health{}, time.Now()))
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

var errOutbox = errors.New("the outbox fails")

// steps is an outbox that records its steps and fails at a given step.
type steps struct {
	done []string
	fail string
}

func (s *steps) Notify(context.Context, notice.Notice) error { return s.step("store") }

func (s *steps) EnqueueNotice(context.Context, org.Tenant, string) error { return s.step("enqueue") }

func (s *steps) step(name string) error {
	s.done = append(s.done, name)
	if name == s.fail {
		return errOutbox
	}
	return nil
}

func TestNotifyStoresNoticeBeforeEnqueueing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fail string
		err  error
		done []string
	}{
		{"", nil, []string{"store", "enqueue"}},
		{"store", errOutbox, []string{"store"}},
		// If the message of a notice is lost, the sweeper handles the notice. The webhook is still disabled.
		{"enqueue", nil, []string{"store", "enqueue"}},
	} {
		s := &steps{fail: test.fail}
		err := notice.Outbox{Rows: s, Queue: s}.Notify(t.Context(), notice.Notice{})
		if !errors.Is(err, test.err) || !slices.Equal(s.done, test.done) {
			t.Errorf("failing at %q: %v after %q", test.fail, err, s.done)
		}
	}
}

type told struct{ ids map[string]int }

func (o *told) Notify(_ context.Context, n notice.Notice) error {
	o.ids[n.ID]++
	return nil
}

func (*told) EnqueueNotice(context.Context, org.Tenant, string) error { return nil }

// TestNoticeIDIsUniquePerOccasion checks that a notice repeated after a crash keeps its ID, and that notices for
// different occasions have different IDs.
func TestNoticeIDIsUniquePerOccasion(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	first, second := webhook.Subscription{ID: hookID, Tenant: tenant, CreatedAt: at, Rev: 1},
		webhook.Subscription{ID: hookID, Tenant: tenant, CreatedAt: at, Rev: 2}
	other := webhook.Subscription{ID: "f0000000-0000-4000-8000-000000000002", Tenant: tenant, CreatedAt: at, Rev: 1}
	rows := &told{ids: map[string]int{}}
	outbox := notice.Outbox{Rows: rows, Queue: rows}
	owners := notice.Owners{Outbox: outbox, Mailer: notice.Mailer{Store: noStore{}, Now: time.Now, Lease: lease}}
	run := webhook.Health{FailingSince: at, LastFailure: at.Add(day), Failures: 9, Warned: 1}
	warnedAgain, later, nextRun := run, run, run
	warnedAgain.Warned, nextRun.FailingSince = 2, at.Add(time.Hour)
	later.LastFailure, later.Failures = at.Add(2*day), 10
	for range 2 {
		for _, s := range []webhook.Subscription{first, other} {
			for _, h := range []webhook.Health{run, later, warnedAgain, nextRun} { // later repeats run's warning.
				expect.NoError(t, owners.NotifyFailing(t.Context(), s, h))
			}
			expect.NoError(t, outbox.Notify(t.Context(), notice.WebhookCreated(s)))
		}
		for _, s := range []webhook.Subscription{first, second, other} {
			expect.NoError(t, owners.NotifyDisabled(t.Context(), s, webhook.ReasonGone, run, at))
			expect.NoError(t, outbox.Notify(t.Context(), notice.SecretRotated(s, at)))
		}
	}
	if want := 2*(3+1) + 3*2; len(rows.ids) != want {
		t.Errorf("%d notices, want %d", len(rows.ids), want)
	}
}

type noStore struct{ notice.Store }

func (noStore) ClaimNotice(context.Context, org.Tenant, string, time.Time, time.Time) (notice.Notice, error) {
	return notice.Notice{}, fault.Stale()
}
