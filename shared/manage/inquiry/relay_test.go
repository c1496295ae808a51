package inquiry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// The limits are defined in docs/adr/0042-mail-is-not-a-relay.md.
const (
	answersPerSender  = 100
	answersPerMailbox = 10 // limit per sender
)

// asked is a store that returns an open inquiry for every ID. email returns the email address of the inquiry with the
// given ID.
type asked struct{ email func(id string) string }

func (a asked) Inquiry(_ context.Context, tenant org.Tenant, id string) (inquiry.Inquiry, error) {
	return inquiry.Inquiry{ID: id, Tenant: tenant, Email: a.email(id), Status: inquiry.Open}, nil
}

func (asked) SaveInquiry(context.Context, inquiry.Inquiry) error { return nil }

func (asked) CountAnswer(context.Context, org.Tenant, time.Time, int64) error { return nil }

type sent struct{ mails int }

func (s *sent) SendReplyTo(context.Context, []string, string, string, string, string) error {
	s.mails++
	return nil
}

func TestAnswerSucceedsDespiteHostileAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keys, post := newOffice(t).recorder.Keys, &sent{}
		inbox := inquiry.Inbox{
			Rows: asked{func(id string) string {
				if strings.HasSuffix(id, "1") {
					return "victim+" + id + "@cedar.example"
				}
				return "victim" + id + "@cedar.example"
			}},
			Mailer: post, Limits: maillimit.Limiter{Buckets: &memory.Buckets{}, Keys: keys, Now: time.Now}, Now: time.Now,
		}
		answer := func(orgID, member string, n int) bool {
			host := org.Organisation{
				ID: orgID, Name: "Birch", VerifiedEmails: []string{"help@birch.example"},
				LiveAccess: org.LiveNone,
			}
			tenant := org.Tenant{Mode: org.Live, OrgID: orgID}
			_, isSent, err := inbox.Answer(t.Context(), inquiry.Author{Host: host, By: member}, tenant,
				fmt.Sprintf("00000000-0000-4000-8000-%012d", n), reply)
			if err != nil && (!errors.Is(err, fault.Limited) || strings.Contains(err.Error(), "cedar")) {
				t.Fatal(err)
			}
			return isSent
		}
		for n := range 10_000 {
			answer(fmt.Sprintf("hostile-%d", n%8), "member:eve", n)
		}
		if post.mails != answersPerSender {
			t.Errorf("of 10,000 answers %d were sent, want %d", post.mails, answersPerSender)
		}
		for n := range answersPerMailbox {
			if !answer("honest", "member:ada", 10*n+1) {
				t.Errorf("honest answer %d to the same mailbox was refused", n)
			}
		}
		if answer("honest", "member:ada", 101) || answer("honest", "member:bob", 101) {
			t.Error("an organisation exceeded its share of a mailbox")
		}
	})
}
