package notice_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/org"
)

// noticesPerMailbox is the maximum number of notices that one sender can cause to be sent to one mailbox
// (docs/adr/0042-mail-is-not-a-relay.md).
const noticesPerMailbox = 50

// endless is a store that has a notice for every ID and counts the outcomes of notices.
type endless struct {
	notice.Store

	organisations map[string]org.Organisation
	postponed     int
}

func (e *endless) ClaimNotice(_ context.Context, tenant org.Tenant, id string, now,
	_ time.Time,
) (notice.Notice, error) {
	return notice.Notice{
		ID: id, Tenant: tenant, Kind: notice.KindCredentialCreated, PublicID: "public_test_1", At: now,
		Fence: 1,
	}, nil
}

func (e *endless) Organisation(_ context.Context, tenant org.Tenant) (org.Organisation, error) {
	return e.organisations[tenant.OrgID], nil
}

func (e *endless) FinishNotice(context.Context, notice.Notice, notice.Outcome, time.Time) error {
	return nil
}

func (e *endless) PostponeNotice(context.Context, notice.Notice, time.Time) error {
	e.postponed++
	return nil
}

type counting map[string]int

func (c counting) Send(_ context.Context, to []string, _, _, _ string) error {
	for _, one := range to {
		c[one]++
	}
	return nil
}

func TestNoticesAreSentDespiteHostileAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, sent := newOffice(t), counting{}
		store := &endless{organisations: map[string]org.Organisation{"honest": {
			ID: "honest", LiveAccess: org.LiveGranted,
			VerifiedEmails: []string{address},
		}}}
		for n := range 8 {
			id := fmt.Sprintf("hostile-%d", n)
			store.organisations[id] = org.Organisation{
				ID: id, LiveAccess: org.LiveNone, FoundedBy: "eve",
				VerifiedEmails: []string{"Ops+x@alder.example"},
			}
		}
		p.mailer.Store, p.mailer.Sender = store, sent
		p.mailer.Limits = maillimit.Limiter{Buckets: &memory.Buckets{}, Keys: p.keys, Now: time.Now}
		for n := range 10_000 {
			hostile := org.Tenant{Mode: org.Test, OrgID: fmt.Sprintf("hostile-%d", n%8)}
			expect.NoError(t, p.mailer.SendNotice(t.Context(), hostile, strconv.Itoa(n)))
		}
		if got := sent["Ops+x@alder.example"]; got != noticesPerMailbox || store.postponed != 10_000-noticesPerMailbox {
			t.Errorf("of 10,000 notices %d were sent and %d postponed, want %d sent", got, store.postponed, noticesPerMailbox)
		}
		for n := range noticesPerMailbox {
			expect.NoError(t, p.mailer.SendNotice(t.Context(), org.Tenant{Mode: org.Live, OrgID: "honest"}, strconv.Itoa(n)))
		}
		if got := sent[address]; got != noticesPerMailbox {
			t.Errorf("of %d honest notices to the same mailbox %d were sent", noticesPerMailbox, got)
		}
	})
}

// TestNoticeIsSentOnlyToVerifiedAddresses covers the attack described in ADR 42, in which notices about new credentials
// were sent 30 times to each of ten unverified addresses.
func TestNoticeIsSentOnlyToVerifiedAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newOffice(t, address)
		stored, err := p.rows.Organisation(t.Context(), tenant)
		expect.NoError(t, err)
		stored.Emails = append(stored.Emails, "victim@cedar.example")
		expect.NoError(t, p.rows.SaveOrganisation(t.Context(), stored))
		p.store()
		expect.NoError(t, p.send())
		p.wantDone(1, notice.Sent)
		if sent := p.cloud.SES().Sent(); !slices.Equal(sent[0].To, []string{address}) {
			t.Errorf("the notice went to %q", sent[0].To)
		}

		p = newOffice(t, address)
		stored, err = p.rows.Organisation(t.Context(), tenant)
		expect.NoError(t, err)
		stored.VerifiedEmails = nil
		expect.NoError(t, p.rows.SaveOrganisation(t.Context(), stored))
		p.store()
		expect.NoError(t, p.send())
		p.wantDone(0, notice.NoAddresses)
	})
}

func TestNoticeIsPostponedWhenLimitIsReached(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newOffice(t, address)
		mail := maillimit.Mail{Purpose: maillimit.Notice, From: maillimit.From{Organisation: tenant.OrgID}, To: address}
		for range noticesPerMailbox {
			expect.NoError(t, p.mailer.Limits.Take(t.Context(), mail))
		}
		p.store()
		expect.NoError(t, p.send())
		if line := p.log.String(); len(p.cloud.SES().Sent()) != 0 || strings.Contains(line, "alder") ||
			!strings.Contains(line, `"notice_outcome":"put_off"`) || !strings.Contains(line, `"mail_limited":"notice"`) ||
			!strings.Contains(line, `"notice_addresses_limited":1`) {
			t.Errorf("logged %s", line)
		}
		p.sweep(12)
		p.wantDone(1, notice.Sent)
	})
}

// TestSupportTicketsReachOperatorWithinLimit checks that support tickets, which anyone with a public ID can file, do
// not flood the operator's mailbox. Notices about tickets must not be lost.
func TestSupportTicketsReachOperatorWithinLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newOffice(t, address)
		all := make([]notice.Notice, 0, 30)
		for n := range cap(all) {
			filed := notice.SupportRequested(tenant, fmt.Sprintf("50000000-0000-4000-8000-%012d", n), time.Now())
			expect.NoError(t, p.rows.Notify(t.Context(), filed))
			expect.NoError(t, p.mailer.SendNotice(t.Context(), tenant, filed.ID))
			all = append(all, filed)
		}
		sent := p.cloud.SES().Sent()
		if len(sent) != 20 {
			t.Errorf("%d e-mails at once, want 20", len(sent))
		}
		<-time.After(24 * time.Hour)
		for _, filed := range all {
			expect.NoError(t, p.mailer.SendNotice(t.Context(), tenant, filed.ID))
		}
		sent = p.cloud.SES().Sent()
		for _, m := range sent {
			if !slices.Equal(m.To, []string{operators}) {
				t.Errorf("an e-mail went to %v", m.To)
			}
		}
		if len(sent) != 30 {
			t.Errorf("%d e-mails a day later, want 30", len(sent))
		}
	})
}

func TestSupportTicketIsNotEmailedWithoutSupportAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newOffice(t, address)
		p.mailer.Support = ""
		n := notice.SupportRequested(tenant, "50000000-0000-4000-8000-000000000001", time.Now())
		n.ID = noticeID
		expect.NoError(t, p.rows.Notify(t.Context(), n))
		expect.NoError(t, p.send())
		p.wantDone(0, notice.NoAddresses)
	})
}
