package inquiry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ses"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/adapters/mail"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	member = "member:ac000000-0000-4000-8000-000000000002"
	reply  = "Please ask your portal for a new password.\n\nWe call you tomorrow."
)

// counter holds an inbox, tables with one inquiry, and a mail server that can be made to fail.
type counter struct {
	*office

	inbox   inquiry.Inbox
	host    org.Organisation
	id      string
	trouble error
	during  func() // called while an email is being sent
}

func (c *counter) SendReplyTo(ctx context.Context, to []string, replyTo, subject, text, html string) error {
	if c.during != nil {
		c.during()
	}
	if c.trouble != nil {
		return c.trouble
	}
	return mail.Sender{Client: ses.NewFromConfig(c.tables.Config), From: "notices@recordbridge.example"}.SendReplyTo(ctx,
		to, replyTo, subject, text, html)
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	c := &counter{office: newOffice(t), host: org.Organisation{
		ID: alder.OrgID, Name: "Alder\r\nBcc: eve@example.com",
		VerifiedEmails: []string{"help@alder.example"},
	}}
	rows, isWork := c.recorder.Store.(store.Inquiries)
	if !isWork {
		t.Fatal("the store is another one")
	}
	limits := maillimit.Limiter{Buckets: &memory.Buckets{}, Keys: c.recorder.Keys, Now: time.Now}
	c.inbox = inquiry.Inbox{Rows: rows, Mailer: c, Limits: limits, Now: time.Now}
	expect.NoError(t, c.recorder.AskSupport(t.Context(), inquiry.From{Tenant: alder, Email: address}, help()))
	c.id = c.queue.told[0]
	return c
}

func (c *counter) answer(text string) (inquiry.Inquiry, bool, error) {
	return c.inbox.Answer(c.t.Context(), inquiry.Author{Host: c.host, By: member}, alder, c.id, text)
}

func (c *counter) sent() []string {
	texts := make([]string, 0, 1)
	for _, m := range c.tables.Cloud.SES().Sent() {
		texts = append(texts, m.Text)
	}
	return texts
}

func (c *counter) wantRefused(what string, err error, kind fault.Kind, words string) {
	c.t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(fault.Of(err).Public, words) {
		c.t.Errorf("%s: %v", what, err)
	}
}

// onInbox runs a test with a counter in a synctest bubble.
func onInbox(t *testing.T, test func(t *testing.T, c *counter)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newCounter(t)) })
}

func TestAnswerEmailsPatientWithOrganisationReplyTo(t *testing.T) {
	t.Parallel()
	onInbox(t, func(t *testing.T, c *counter) {
		t.Helper()
		i, isSent, err := c.answer(reply)
		expect.NoError(t, err)
		want := inquiry.Answer{At: time.Now(), By: member, Text: reply, Delivery: inquiry.Sent}
		if !isSent || i.Status != inquiry.Answered || len(i.Answers) != 1 || i.Answers[0] != want {
			t.Errorf("answered as %+v", i)
		}
		sent := c.tables.Cloud.SES().Sent()
		if len(sent) != 1 {
			t.Fatalf("%d mails", len(sent))
		}
		got := sent[0]
		if fmt.Sprint(got.To, got.ReplyTo) != "["+address+"] [help@alder.example]" ||
			got.From != "notices@recordbridge.example" ||
			got.Subject != "Reply from Alder Bcc: eve@example.com (test mode)" {
			t.Errorf("%v, reply to %v, from %q: %q", got.To, got.ReplyTo, got.From, got.Subject)
		}
		if wantText := "Alder Bcc: eve@example.com (test mode) replied to the question you asked while you connected " +
			"your health records:\n\n" +
			"Please ask your portal for a new password.\n\nWe call you tomorrow.\n\nTo write to Alder " +
			"Bcc: eve@example.com, reply to this email.\n\n" +
			"If you didn't ask a question, you can ignore this email.\n"; got.Text != wantText {
			t.Errorf("text %q", got.Text)
		}
		if !strings.Contains(got.HTML, "<p>We call you tomorrow.</p>") || strings.Contains(got.Text+got.HTML, "It says no") {
			t.Errorf("HTML %s", got.HTML)
		}
		kept, err := c.inbox.Show(t.Context(), alder, strings.ToUpper(c.id))
		if err != nil || kept.Status != inquiry.Answered || len(kept.Answers) != 1 || !kept.Answers[0].At.Equal(time.Now()) ||
			kept.Email != address || kept.Kind() != inquiry.KindHelp {
			t.Errorf("kept %+v (%v)", kept, err)
		}
	})
}

// TestAnswerEscapesMarkupInEmail checks that markup and header lines in a reply stay plain text.
func TestAnswerEscapesMarkupInEmail(t *testing.T) {
	t.Parallel()
	onInbox(t, func(t *testing.T, c *counter) {
		t.Helper()
		_, _, err := c.answer("<a href=\"https://evil.example\">x</a>\r\nBcc: eve@example.com\x00")
		expect.NoError(t, err)
		got := c.tables.Cloud.SES().Sent()[0]
		if strings.Contains(got.HTML, "evil.example\">") || !strings.Contains(got.Text, "‹a href") || len(got.To) != 1 ||
			strings.Contains(got.Text, "\x00") {
			t.Errorf("%v %s", got.To, got.HTML)
		}
		for _, text := range []string{"", " \n ", strings.Repeat("x", 10<<10+1)} {
			_, _, err := c.answer(text)
			c.wantRefused("a text", err, fault.Invalid, "text")
		}
	})
}

// TestAnswerIsIdempotentForSameText covers a request repeated after a lost response.
func TestAnswerIsIdempotentForSameText(t *testing.T) {
	t.Parallel()
	onInbox(t, func(t *testing.T, c *counter) {
		t.Helper()
		for n := range 3 {
			i, isSent, err := c.answer(reply + strings.Repeat("\n", n))
			if err != nil || isSent != (n == 0) || len(i.Answers) != 1 {
				t.Errorf("asked %d times: sent %t, %+v (%v)", n+1, isSent, i.Answers, err)
			}
		}
		if sent := c.sent(); len(sent) != 1 {
			t.Errorf("%d mails", len(sent))
		}
	})
}

// TestAnswerReturnsConflictWhenSendIsInProgress also checks that concurrent changes to the inquiry are kept.
func TestAnswerReturnsConflictWhenSendIsInProgress(t *testing.T) {
	t.Parallel()
	onInbox(t, func(t *testing.T, c *counter) {
		t.Helper()
		c.during = func() {
			c.during = nil
			_, _, err := c.answer(reply)
			c.wantRefused("at the same time", err, fault.Unavailable, "couldn't confirm")
			_, _, err = c.inbox.Move(t.Context(), alder, c.id, inquiry.Closed)
			expect.NoError(t, err)
			if _, _, err = c.answer("Another one."); err != nil {
				t.Error(err)
			}
		}
		i, isSent, err := c.answer(reply)
		if err != nil || !isSent || len(i.Answers) != 2 || i.Answers[0].Delivery != inquiry.Sent ||
			i.Answers[1].Delivery != inquiry.Sent || i.Status != inquiry.Answered {
			t.Errorf("sent %t, %+v (%v)", isSent, i, err)
		}
		if sent := c.sent(); len(sent) != 2 {
			t.Errorf("%d mails", len(sent))
		}
	})
}

// TestAnswerRetriesSendWithUnknownOutcome checks that a repeated request sends the email again after one minute.
func TestAnswerRetriesSendWithUnknownOutcome(t *testing.T) {
	t.Parallel()
	onInbox(t, func(t *testing.T, c *counter) {
		t.Helper()
		c.trouble = errors.New("no answer")
		_, _, err := c.answer(reply)
		c.wantRefused("no answer", err, fault.Unavailable, "couldn't confirm")
		c.trouble = nil
		<-time.After(59 * time.Second)
		_, _, err = c.answer(reply)
		c.wantRefused("soon after", err, fault.Unavailable, "couldn't confirm")
		<-time.After(time.Second)
		i, isSent, err := c.answer(reply)
		if err != nil || !isSent || len(i.Answers) != 1 || len(c.sent()) != 1 {
			t.Errorf("sent %t, %+v (%v)", isSent, i, err)
		}
	})
}

func TestAnswerRejectsUnanswerableInquiry(t *testing.T) {
	t.Parallel()
	onInbox(t, func(t *testing.T, c *counter) {
		t.Helper()
		c.trouble = fault.BadRequest("We can't send e-mail to this address.")
		_, _, err := c.answer(reply)
		c.wantRefused("an address that SES refuses", err, fault.Conflict, "We can't send e-mail")
		if i, failure := c.inbox.Show(t.Context(), alder, c.id); failure != nil || i.Status != inquiry.Open ||
			len(i.Answers) != 1 || i.Answers[0].Delivery != inquiry.Refused {
			t.Errorf("kept %+v (%v)", i, failure)
		}
		c.trouble = nil
		c.host.Emails, c.host.VerifiedEmails = []string{"help@alder.example"}, nil
		_, _, err = c.answer(reply)
		c.wantRefused("nowhere to reply", err, fault.Conflict, "verify it")
		c.host.VerifiedEmails = c.host.Emails
		c.inbox.Mailer = nil
		_, _, err = c.answer(reply)
		c.wantRefused("no e-mails", err, fault.Unavailable, "not set up")
		c.inbox.Mailer, c.inbox.Rows = c, nameless{c.inbox.Rows}
		_, _, err = c.answer(reply)
		c.wantRefused("no address", err, fault.Conflict, "left no e-mail address")
		if sent := c.sent(); len(sent) != 0 {
			t.Errorf("sent %q", sent)
		}
	})
}

// nameless is a store that returns inquiries without an email address.
type nameless struct{ inquiry.InboxRows }

func (n nameless) Inquiry(ctx context.Context, tenant org.Tenant, id string) (inquiry.Inquiry, error) {
	i, err := n.InboxRows.Inquiry(ctx, tenant, id)
	i.Email = ""
	return i, err
}

func TestAnswersAreRateLimited(t *testing.T) {
	t.Parallel()
	onInbox(t, func(t *testing.T, c *counter) {
		t.Helper()
		for n := range 20 {
			if n > 0 && n%5 == 0 {
				_, _, err := c.answer("one more today")
				c.wantRefused("a sixth of a day", err, fault.Limited, "5 replies")
				<-time.After(24 * time.Hour)
			}
			_, _, err := c.answer(fmt.Sprintf("answer %d", n))
			expect.NoError(t, err)
		}
		<-time.After(48 * time.Hour)
		_, _, err := c.answer("the last one")
		c.wantRefused("a twenty-first", err, fault.Conflict, "20 replies")
		if len(c.sent()) != 20 {
			t.Errorf("%d mails", len(c.sent()))
		}
	})
}

// TestAnswersPerTenantAreLimitedDaily checks that every email counts towards the tenant's daily limit, regardless of
// the patient.
func TestAnswersPerTenantAreLimitedDaily(t *testing.T) {
	t.Parallel()
	onInbox(t, func(t *testing.T, c *counter) {
		t.Helper()
		rows := c.inbox.Rows
		for range 100 {
			expect.NoError(t, rows.CountAnswer(t.Context(), alder, time.Now(), 100))
		}
		_, _, err := c.answer(reply)
		c.wantRefused("the next", err, fault.Limited, "100 replies")
		expect.NoError(t, rows.CountAnswer(t.Context(), birch, time.Now(), 100))
		<-time.After(24 * time.Hour)
		if _, isSent, err := c.answer(reply); err != nil || !isSent {
			t.Errorf("on the next day: %t, %v", isSent, err)
		}
	})
}

func TestMoveRejectsInquiryFromAnotherTenant(t *testing.T) {
	t.Parallel()
	onInbox(t, func(t *testing.T, c *counter) {
		t.Helper()
		for _, to := range []inquiry.Status{inquiry.Closed, inquiry.Answered, inquiry.Open} {
			for n := range 2 {
				i, isMoved, err := c.inbox.Move(t.Context(), alder, c.id, to)
				if err != nil || i.Status != to || isMoved != (n == 0) {
					t.Errorf("to %s: %t %+v (%v)", to, isMoved, i, err)
				}
			}
		}
		for _, of := range []org.Tenant{birch, {Mode: org.Live, OrgID: alder.OrgID}} {
			_, _, err := c.inbox.Move(t.Context(), of, c.id, inquiry.Closed)
			expect.NotFound(t, "another's", err)
			_, _, err = c.inbox.Answer(t.Context(), inquiry.Author{Host: c.host, By: member}, of, c.id, reply)
			expect.NotFound(t, "another's", err)
		}
		_, err := c.inbox.Show(t.Context(), alder, "x")
		expect.NotFound(t, "no id", err)
	})
}
