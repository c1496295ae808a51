package verification_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Limits from docs/adr/0042-mail-is-not-a-relay.md.
const (
	patientCodesPerSender  = 200
	patientCodesPerMailbox = 10 // per sender
	noticeCodesPerSender   = 20
	noticeCodesPerMailbox  = 3 // per sender
)

// noSendings is a store without send history, so only the limits across all tenants apply.
type noSendings struct{}

func (noSendings) Sendings(context.Context, org.Tenant, string) (verification.Sendings, error) {
	return verification.Sendings{}, nil
}

func (noSendings) CreateCode(context.Context, verification.Code, verification.Sendings) error {
	return nil
}

// attempt requests a verification code and reports whether it was sent. Any error except fault.Limited fails the test.
func (o *office) attempt(r verification.Request) bool {
	o.t.Helper()
	before := len(o.post.sent)
	_, err := o.sender.Send(o.t.Context(), r)
	if err != nil && (!errors.Is(err, fault.Limited) || strings.Contains(err.Error(), "cedar")) {
		o.t.Fatal(err)
	}
	if (err == nil) != (len(o.post.sent) == before+1) {
		o.t.Fatalf("%d e-mails were sent, and the error is %v", len(o.post.sent)-before, err)
	}
	return err == nil
}

// hostile requests 10,000 codes from a single account, half of them for one mailbox, and returns the number of emails
// sent.
func (o *office) hostile(occasion verification.Occasion, account string) (sent int) {
	o.t.Helper()
	for n := range 10_000 {
		to := fmt.Sprintf("victim+%d@cedar.example", n)
		if n%2 == 1 {
			to = fmt.Sprintf("victim%d@cedar.example", n)
		}
		if o.attempt(verification.Request{
			Tenant: org.Tenant{Mode: org.Test, OrgID: fmt.Sprintf("hostile-%d", n%8)},
			From:   maillimit.From{Account: account, Organisation: "hostile"},
			Email:  to, Network: fmt.Sprintf("198.51.100.%d", n%256), Occasion: occasion,
		}) {
			sent++
		}
	}
	return sent
}

func TestPatientCodesAreSentDespiteHostileAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.sender.Store, o.sender.Limits = noSendings{},
			maillimit.Limiter{Buckets: &memory.Buckets{}, Keys: o.sender.Keys, Now: time.Now}
		if sent := o.hostile(verification.Form, ""); sent != patientCodesPerSender {
			t.Errorf("of 10,000 codes %d were sent, want %d", sent, patientCodesPerSender)
		}
		approved := verification.Request{
			Tenant: alder, Organisation: "Alder App",
			From: maillimit.From{Organisation: alder.OrgID}, Email: "victim@cedar.example",
		}
		waiting := verification.Request{
			Tenant: birch, From: maillimit.From{Organisation: birch.OrgID},
			Email: "victim@cedar.example",
		}
		for n := range patientCodesPerMailbox {
			if !o.attempt(approved) || !o.attempt(waiting) {
				t.Errorf("honest code %d to the same mailbox was refused", n)
			}
		}
		if o.attempt(waiting) {
			t.Error("an organisation that is not approved exceeded its share of a mailbox")
		}
	})
}

func TestNoticeAddressCodesAreSentDespiteHostileAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.sender.Store, o.sender.Limits = noSendings{},
			maillimit.Limiter{Buckets: &memory.Buckets{}, Keys: o.sender.Keys, Now: time.Now}
		if sent := o.hostile(verification.NoticeAddress, "eve"); sent != noticeCodesPerSender {
			t.Errorf("of 10,000 codes %d were sent, want %d", sent, noticeCodesPerSender)
		}
		honest := verification.Request{
			Tenant: alder, From: maillimit.From{Account: "ada", Organisation: alder.OrgID}, Email: "victim@cedar.example",
			Occasion: verification.NoticeAddress,
		}
		for n := range noticeCodesPerMailbox {
			if !o.attempt(honest) {
				t.Errorf("honest code %d to the same mailbox was refused", n)
			}
		}
	})
}

// TestRejectedCodeDoesNotCountTowardsMailboxLimit checks that a code request rejected by an organisation's own limits
// does not count towards the limits across all organisations.
func TestRejectedCodeDoesNotCountTowardsMailboxLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		hostile := verification.Request{
			Tenant: alder, From: maillimit.From{Organisation: alder.OrgID},
			Email: "victim@cedar.example",
		}
		if !o.attempt(hostile) {
			t.Fatal("the first code was refused")
		}
		for range 100 {
			if o.attempt(hostile) {
				t.Fatal("a second code was sent within 30 seconds")
			}
		}
		<-time.After(30 * time.Second)
		if !o.attempt(hostile) {
			t.Error("refused codes were counted as sent")
		}
	})
}

func TestMailNamesServiceUnlessOrganisationIsApproved(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for language, want := range map[string]string{
		"en": "Recordbridge wants to confirm that this is your email address.",
		"es": "Recordbridge quiere confirmar que este correo es suyo.",
	} {
		if m := o.mailIn(language, "", org.Live); !strings.HasPrefix(m.text, want) ||
			!strings.HasSuffix(m.subject, " Recordbridge") {
			t.Errorf("in %q: subject %q, text %q", language, m.subject, m.text)
		}
	}
}

func TestNoticeAddressMailOmitsOrganisationText(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	if !o.attempt(verification.Request{
		Tenant: org.Tenant{Mode: "notices", OrgID: alder.OrgID}, Email: "ops@cedar.example",
		Occasion: verification.NoticeAddress,
	}) {
		t.Fatal("no code was sent")
	}
	m := o.post.sent[0]
	if m.subject != "Confirm this address for notices from Recordbridge" || strings.Contains(m.text+m.html, "://") ||
		!strings.Contains(m.text, "Someone wants an organisation's notices from Recordbridge to be sent to this email "+
			"address.") {
		t.Errorf("subject %q, text %q", m.subject, m.text)
	}
}
