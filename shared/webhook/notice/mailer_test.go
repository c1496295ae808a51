package notice_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ses"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/adapters/mail"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	day      = 24 * time.Hour
	lease    = time.Minute
	noticeID = "90000000-0000-4000-8000-000000000001"
	hookID   = "f0000000-0000-4000-8000-000000000001"
	address  = "ops@alder.example"

	operators = "support@recordbridge.example"
)

var (
	tenant     = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	errTrouble = errors.New("trouble on our side")
)

// office holds the tables from template.yaml, a simulated SES, and the test bubble's clock.
type office struct {
	t      *testing.T
	cloud  *aws.Cloud
	rows   store.Mailings
	mailer notice.Mailer
	keys   secret.Keyring
	id     string
	log    bytes.Buffer // the mailer's log lines since the last notice
}

func newOffice(t *testing.T, emails ...string) *office {
	t.Helper()
	made := tables.New(t)
	keys, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	expect.NoError(t, err)
	p := &office{t: t, keys: keys, id: noticeID, cloud: made.Cloud, rows: store.NewMailings(
		store.Work{DB: made.DB, Table: made.Name("WorkTable")},
		store.Control{DB: made.DB, Table: made.Name("ControlTable")},
	)}
	p.mailer = notice.Mailer{
		Store: p.rows, Sender: mail.Sender{Client: ses.NewFromConfig(made.Config), From: "notices@example.com"},
		Dashboard: "https://dash.example/dashboard", Support: operators,
		Limits: maillimit.Limiter{Buckets: &memory.Buckets{}, Keys: keys, Now: time.Now}, Now: time.Now, Lease: lease,
	}
	expect.NoError(t, p.rows.CreateOrganisation(t.Context(),
		org.Organisation{ID: tenant.OrgID, Name: "Alder App", Emails: emails, VerifiedEmails: emails, CreatedAt: time.Now()}))
	return p
}

func (p *office) store() {
	p.t.Helper()
	expect.NoError(p.t, p.rows.Notify(p.t.Context(), notice.Notice{
		ID: noticeID, Tenant: tenant, Kind: notice.KindFailing, SubscriptionID: hookID, URL: "https://alder.example/hook",
		Failures: 7, FailingSince: time.Now().Add(-24 * time.Hour), At: time.Now(),
	}))
}

// send processes one message about the notice.
func (p *office) send() error {
	p.t.Helper()
	ctx, line := logx.Begin(p.t.Context())
	err := p.mailer.SendNotice(ctx, tenant, noticeID)
	if err != nil {
		logx.Fail(ctx, err)
	}
	p.log.Reset()
	line.Emit(ctx, slog.New(slog.NewJSONHandler(&p.log, nil)), "webhookworker.message")
	return err
}

// due returns the times at which notices are due for the sweeper.
func (p *office) due() []time.Time {
	p.t.Helper()
	var all []time.Time
	for shard := range store.DueShards {
		items, err := store.Timers(p.rows.Notices).Due(p.t.Context(), shard,
			time.Now().Add(1000*time.Hour))
		expect.NoError(p.t, err)
		for _, i := range items {
			if i.Kind != due.Notice || i.ID != p.id || i.Tenant != tenant {
				p.t.Errorf("%+v is due", i)
			}
			all = append(all, i.At)
		}
	}
	return all
}

// wantDone checks that the given number of emails was sent, that no work remains, and that the log contains the outcome
// but no email address.
func (p *office) wantDone(mails int, outcome notice.Outcome) {
	p.t.Helper()
	if got := len(p.cloud.SES().Sent()); got != mails {
		p.t.Errorf("%d mails were sent, want %d", got, mails)
	}
	if left := p.due(); len(left) != 0 {
		p.t.Errorf("the notice is due at %v", left)
	}
	if line := p.log.String(); !strings.Contains(line, `"notice_outcome":"`+string(outcome)+`"`) ||
		strings.Contains(line, address) {
		p.t.Errorf("logged %s, want %s", line, outcome)
	}
}

func TestNoticeIsSentOnceDespiteDuplicateMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newOffice(t, address, "on-call@alder.example")
		p.store()
		var messages sync.WaitGroup
		for range 5 {
			messages.Go(func() {
				if err := p.mailer.SendNotice(t.Context(), tenant, noticeID); err != nil {
					t.Error(err)
				}
			})
		}
		messages.Wait()
		for range 3 {
			<-time.After(10 * time.Minute)
			expect.NoError(t, p.send())
		}
		p.store() // A caller stores the notice again if it crashed after storing it.
		expect.NoError(t, p.send())
		sent := p.cloud.SES().Sent()
		if len(sent) != 1 || !slices.Equal(sent[0].To, []string{address, "on-call@alder.example"}) || len(p.due()) != 0 {
			t.Errorf("sent %+v, want one mail to both, and nothing is due", sent)
		}
	})
}

func TestMessageForUnknownNoticeIsIgnored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newOffice(t, address)
		expect.NoError(t, p.send())
		if len(p.cloud.SES().Sent()) != 0 || len(p.due()) != 0 {
			t.Error("a notice was made")
		}
	})
}

func TestNoticeWithoutRecipientsIsMarkedFinished(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newOffice(t)
		p.store()
		expect.NoError(t, p.send())
		p.wantDone(0, notice.NoAddresses)
		p = newOffice(t, address)
		p.mailer.Sender = nil
		p.store()
		expect.NoError(t, p.send())
		p.wantDone(0, notice.NoSender)
	})
}

var errCrash = errors.New("crashed")

// crashing is a store or sender that simulates a worker crash at one step.
type crashing struct {
	notice.Store
	notice.Sender

	at   string
	done bool
}

func (c *crashing) Send(ctx context.Context, to []string, subject, text, html string) error {
	if c.dies("before the mail") {
		return errCrash
	}
	return c.Sender.Send(ctx, to, subject, text, html)
}

func (c *crashing) FinishNotice(ctx context.Context, n notice.Notice, outcome notice.Outcome, at time.Time) error {
	if c.dies("before the mark") {
		return errCrash
	}
	return c.Store.FinishNotice(ctx, n, outcome, at)
}

func (c *crashing) PostponeNotice(context.Context, notice.Notice, time.Time) error { return errCrash }

func (c *crashing) dies(at string) bool {
	if c.at != at || c.done {
		return false
	}
	c.done = true
	return true
}

func TestNoticeIsSentAfterCrashWhenLeaseExpires(t *testing.T) {
	t.Parallel()
	for at, mails := range map[string]int{"before the mail": 1, "before the mark": 2} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newOffice(t, address)
				worker := &crashing{Store: p.rows, Sender: p.mailer.Sender, at: at}
				p.mailer.Store, p.mailer.Sender = worker, worker
				p.store()
				if err := p.send(); !errors.Is(err, errCrash) {
					t.Fatalf("got %v", err)
				}
				before := len(p.cloud.SES().Sent())
				<-time.After(lease - time.Second)
				expect.NoError(t, p.send())
				if len(p.cloud.SES().Sent()) != before {
					t.Error("a mail was sent under the lease of another")
				}
				if left := p.due(); len(left) != 1 || time.Until(left[0]) != time.Second {
					t.Fatalf("due at %v, want when the lease ends", left)
				}
				<-time.After(2 * time.Second)
				expect.NoError(t, p.send())
				p.wantDone(mails, notice.Sent)
			})
		})
	}
}

// failing simulates an SES whose calls fail at a location.
type failing struct {
	at    fault.Spot
	calls []time.Time
}

func (f *failing) Send(context.Context, []string, string, string, string) error {
	f.calls = append(f.calls, time.Now())
	return f.at.Failed(errTrouble)
}

// sweep simulates the sweeper until the notice is no longer due, for at most the given number of runs.
func (p *office) sweep(times int) {
	p.t.Helper()
	for range times {
		left := p.due()
		if len(left) == 0 {
			return
		}
		<-time.After(time.Until(left[0]))
		if err := p.send(); err != nil && !errors.Is(err, errTrouble) {
			p.t.Fatal(err)
		}
	}
}

func TestFailedEmailIsRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newOffice(t, address)
		down, works := &failing{}, p.mailer.Sender
		p.mailer.Sender = down
		p.store()
		started := time.Now()
		if err := p.send(); !errors.Is(err, errTrouble) {
			t.Fatalf("got %v", err)
		}
		p.sweep(12)
		got := make([]time.Duration, 0, len(down.calls))
		for i, at := range down.calls[1:] {
			got = append(got, at.Sub(down.calls[i]))
		}
		want := []time.Duration{
			time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, 64 * time.Minute,
			128 * time.Minute, 256 * time.Minute, 6 * time.Hour, 6 * time.Hour, 6 * time.Hour,
		}
		if !slices.Equal(got, want) || !down.calls[0].Equal(started) {
			t.Errorf("waited %v, want %v", got, want)
		}
		p.mailer.Sender = works
		p.sweep(1)
		p.wantDone(1, notice.Sent)
	})
}

func TestMailerWaitsAtMostFiveMinutesWhenSESFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newOffice(t, address)
		down := &failing{at: fault.Spot{Dependency: "SES", Operation: "SendEmail", Class: "no_answer"}}
		p.mailer.Sender = down
		p.store()
		p.sweep(8)
		for i, at := range down.calls[1:] {
			if wait := at.Sub(down.calls[i]); wait > 5*time.Minute || i > 2 && wait < 5*time.Minute {
				t.Errorf("wait %d is %v", i, wait)
			}
		}
	})
}

func TestMailerStopsRetryingNoticeAfterFifteenDays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newOffice(t, address)
		down := &failing{}
		p.mailer.Sender = down
		p.store()
		started := time.Now()
		p.sweep(1000)
		last := down.calls[len(down.calls)-1].Sub(started)
		if last > 15*24*time.Hour || last < 14*24*time.Hour+18*time.Hour {
			t.Errorf("tried last after %v", last)
		}
		p.wantDone(0, notice.GivenUp)
	})
}

func TestSendNoticeDisablesReportedSubscription(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newOffice(t, address)
		expect.NoError(t, p.rows.CreateSubscription(t.Context(),
			webhook.Subscription{ID: hookID, Tenant: tenant, URL: "https://alder.example/hook"}))
		// A worker stored this notice but crashed before sending it.
		expect.NoError(t, p.rows.Notify(t.Context(), notice.Notice{
			ID: noticeID, Tenant: tenant, Kind: notice.KindDisabled, SubscriptionID: hookID, Rev: 1, Reason: webhook.ReasonGone,
			At: time.Now(),
		}))
		works := p.mailer.Sender
		p.mailer.Sender = &failing{}
		if err := p.send(); !errors.Is(err, errTrouble) {
			t.Fatalf("got %v", err)
		}
		sub := p.subscription()
		if !sub.Disabled || sub.DisabledFor != webhook.ReasonGone {
			t.Fatalf("the webhook is %+v, want disabled although no mail can be sent", sub)
		}
		// The owner enables the subscription before the email is sent, so the notice must not disable it again.
		expect.NoError(t, p.rows.EnableSubscription(t.Context(), sub))
		p.mailer.Sender = works
		p.sweep(1)
		p.wantDone(1, notice.Sent)
		if sub = p.subscription(); sub.Disabled {
			t.Error("an old notice has disabled the webhook again")
		}
	})
}

func (p *office) subscription() webhook.Subscription {
	p.t.Helper()
	all, err := p.rows.Subscriptions(p.t.Context(), tenant)
	expect.NoError(p.t, err)
	if len(all) != 1 {
		p.t.Fatalf("%d webhooks", len(all))
	}
	return all[0]
}
