package dashboardorg_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ses"

	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/adapters/mail"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	emailsRoute = oneRoute + "/emails"
	emailsPath  = onePath + "/emails"
	own         = "Admin@alder.example"
	victim      = "victim@cedar.example"
)

type people struct{}

func (people) Account(_ context.Context, id string) (account.Account, error) {
	return account.Account{ID: id, Email: own}, nil
}

func notices(s *managed.Stack) operator.NoticeAddresses {
	keys, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	if err != nil {
		panic(err)
	}
	flow := s.Flow()
	return operator.NewNoticeAddresses(store.Organisations(s.Control()), verification.Sender{
		Store: flow, Mailer: mail.Sender{Client: ses.NewFromConfig(s.AWS), From: "notices@recordbridge.example"}, Keys: keys,
		Random: rand.Reader,
		NewID:  ids.Random, Now: keyedtest.Moment, PerHour: 5,
		Limits: maillimit.Limiter{Buckets: flow, Keys: keys, Now: keyedtest.Moment},
	}, verification.Checker{Store: flow, Keys: keys, Random: rand.Reader, Now: keyedtest.Moment},
		verification.Proofs{Store: flow, Keys: keys, Now: keyedtest.Moment}, operator.NewJournal(
			s.Audit, keyedtest.Moment, ids.Random, "operator",
		))
}

var sixDigits = regexp.MustCompile(`\b[0-9]{6}\b`)

func TestNoticeAddressIsVerifiedByCode(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	h := handler(s)
	change := membertest.Exchange{
		Method: "PATCH", Path: onePath, As: membertest.Admin,
		Body: `{"emails":["admin@alder.example","ops@alder.example.org","New@cedar.example"]}`,
	}
	got := data[shown](t, change.Send(t, oneRoute, h))
	if want := []string{"admin@alder.example", "ops@alder.example.org"}; !slices.Equal(got.Verified, want) ||
		len(got.Emails) != 3 {
		t.Fatalf("after the change %q of %q are verified, want %q", got.Verified, got.Emails, want)
	}
	if sent := s.Mail(); len(sent) != 0 {
		t.Fatalf("the change alone sent %+v", sent)
	}
	ask := membertest.Exchange{
		Method: "POST", Path: emailsPath, As: membertest.Admin,
		Body: `{"email":"new@cedar.example"}`,
	}
	code := data[struct {
		ID string `json:"verification_id"`
	}](t, ask.Send(t, emailsRoute, h))
	sent := s.Mail()
	if len(sent) != 1 || !slices.Equal(sent[0].To, []string{"New@cedar.example"}) ||
		strings.Contains(sent[0].Text+sent[0].Subject, "Maple") {
		t.Fatalf("sent %+v", sent)
	}
	digits := sixDigits.FindString(sent[0].Text)
	verify := func(email, id, digits string) (int, []string) {
		body := `{"email":"` + email + `","verification_id":"` + id + `","code":"` + digits + `"}`
		w := membertest.Exchange{Method: "PUT", Path: emailsPath, As: membertest.Admin, Body: body}.Send(t, emailsRoute, h)
		if w.Code != http.StatusOK {
			return w.Code, nil
		}
		return w.Code, data[shown](t, w).Verified
	}
	for what, status := range map[[3]string]int{
		{"new@cedar.example", code.ID, "x"}:                                   http.StatusBadRequest,
		{"new@cedar.example", "none", digits}:                                 http.StatusNotFound,
		{"another@cedar.example", code.ID, digits}:                            http.StatusNotFound,
		{"ops@alder.example.org", code.ID, digits}:                            http.StatusConflict,
		{"new@cedar.example", "0a000000-0000-4000-8000-00000000000a", digits}: http.StatusNotFound,
	} {
		if got, _ := verify(what[0], what[1], what[2]); got != status {
			t.Errorf("%q: %d, want %d", what, got, status)
		}
	}
	status, verified := verify("new@cedar.example", code.ID, digits)
	if status != http.StatusOK || !slices.Contains(verified, "New@cedar.example") || len(verified) != 3 {
		t.Errorf("with the right code: %d, %q are verified", status, verified)
	}
	if rows := s.Audited(t, membertest.OrgA); !slices.Contains(rows,
		account.Actor(membertest.AccountOf(membertest.Admin))+" organisation.email_verified "+membertest.OrgA) {
		t.Errorf("audited %q", rows)
	}
	if w := ask.Send(t, emailsRoute, h); w.Code != http.StatusConflict {
		t.Errorf("a code for a verified address: %d %s", w.Code, w.Body)
	}
}

// TestNoticeAddressCodeIsBoundToOrganisationAndAddress checks that a code verifies only the address that received it,
// and only in the organisation that requested it.
func TestNoticeAddressCodeIsBoundToOrganisationAndAddress(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	c, a, b := notices(s), managed.Tenant(membertest.OrgA, org.Live), managed.Tenant(membertest.OrgB, org.Live)
	for _, of := range []org.Tenant{a, b} {
		if _, err := s.Operator.Organisations.Change(t.Context(), of,
			operator.OrganisationChange{Emails: []string{victim, own}}); err != nil {
			t.Fatal(err)
		}
	}
	sent, err := c.Send(t.Context(), a, operator.NoticeCode{Email: own, AccountID: "ac"})
	if err != nil {
		t.Fatal(err)
	}
	digits := sixDigits.FindString(s.Mail()[0].Text)
	if _, err := c.Verify(t.Context(), b, own, sent.ID, digits); err == nil {
		t.Error("another organisation's address was verified")
	}
	if _, err := c.Verify(t.Context(), a, victim, sent.ID, digits); err == nil {
		t.Error("another address was verified")
	}
}

// TestNoticesAreNotSentToUnverifiedAddresses covers the attack described in ADR 42: ten notice addresses were changed
// 30 times, and notices reached 460 recipients.
func TestNoticesAreNotSentToUnverifiedAddresses(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	h := handler(s)
	limited := 0
	for round := range 30 {
		emails := make([]string, 0, 10)
		for n := range 10 {
			emails = append(emails, string(rune('a'+n))+sixDigits.FindString("100000")[:3]+string(rune('a'+round%26))+
				"@cedar.example")
		}
		body := `{"emails":["` + strings.Join(emails, `","`) + `"]}`
		if w := (membertest.Exchange{Method: "PATCH", Path: onePath, As: membertest.Admin, Body: body}).Send(t, oneRoute,
			h); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		for _, email := range emails {
			w := membertest.Exchange{
				Method: "POST", Path: emailsPath, As: membertest.Admin,
				Body: `{"email":"` + email + `"}`,
			}.Send(t, emailsRoute, h)
			if w.Code == http.StatusTooManyRequests {
				limited++
			}
		}
	}
	if sent := len(s.Mail()); sent != 20 || limited != 280 {
		t.Errorf("%d e-mails were sent and %d refused, want 20 and 280", sent, limited)
	}
}

// TestReaddedNoticeAddressReceivesAtMostThreeCodes checks that removing and re-adding an address restarts its
// verification. Codes sent before the removal must still count against the limits.
func TestReaddedNoticeAddressReceivesAtMostThreeCodes(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	h := handler(s)
	for range 10 {
		for _, body := range []string{`{"emails":["` + victim + `"]}`, `{"emails":[]}`} {
			if w := (membertest.Exchange{Method: "PATCH", Path: onePath, As: membertest.Admin, Body: body}).Send(t, oneRoute,
				h); w.Code != http.StatusOK {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			membertest.Exchange{
				Method: "POST", Path: emailsPath, As: membertest.Admin,
				Body: `{"email":"` + victim + `"}`,
			}.Send(t, emailsRoute, h)
		}
	}
	if sent := len(s.Mail()); sent != 1 { // a second code requires a 30-second wait, but time does not advance
		t.Errorf("%d codes were sent, want 1", sent)
	}
	found, err := s.Operator.Organisations.Show(t.Context(), managed.Tenant(membertest.OrgA, org.Live))
	if err != nil || len(found.VerifiedEmails) != 0 {
		t.Errorf("verified are %q (%v)", found.VerifiedEmails, err)
	}
}
