package members_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// The limits are defined in docs/adr/0042-mail-is-not-a-relay.md.
const (
	invitationsPerSender  = 50
	invitationsPerMailbox = 3
)

const victim = "victim@cedar.example"

// inviteAndWithdraw invites an address, withdraws the invitation, and reports whether the invitation email was sent.
// Errors other than fault.Limited fail the test.
func (h *house) inviteAndWithdraw(by members.By, orgID, email string) bool {
	h.t.Helper()
	made, err := h.Invite(h.t.Context(), by, orgID, email, account.Viewer)
	if errors.Is(err, fault.Limited) {
		return false
	}
	expect.NoError(h.t, err)
	expect.NoError(h.t, h.Withdraw(h.t.Context(), by, orgID, made.ID))
	return true
}

// found creates an organisation without live mode and returns its owner.
func (h *house) found(email, name string) (members.By, string) {
	h.t.Helper()
	made, err := h.Found(h.t.Context(), h.people[email], name)
	expect.NoError(h.t, err)
	stored, err := h.accounts.Organisation(h.t.Context(), org.Tenant{Mode: org.Live, OrgID: made.ID})
	expect.NoError(h.t, err)
	stored.LiveAccess = org.LiveNone
	expect.NoError(h.t, h.organisations.SaveOrganisation(h.t.Context(), stored))
	return members.By{Actor: account.Actor(h.people[email]), AccountID: h.people[email], Role: account.Owner}, made.ID
}

// TestInviteCountsWithdrawnInvitations covers the attack described in ADR 42: inviting one address 60 times and
// withdrawing each invitation before the next.
func TestInviteCountsWithdrawnInvitations(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	sent := 0
	for range 60 {
		if h.inviteAndWithdraw(h.by(ada), h.orgID, victim) {
			sent++
		}
	}
	if sent != invitationsPerMailbox || len(h.mails) != sent {
		t.Errorf("%d invitations were sent in %d e-mails, want %d", sent, len(h.mails), invitationsPerMailbox)
	}
	_, err := h.Invite(t.Context(), h.by(ada), h.orgID, "Victim+1@CEDAR.example", account.Viewer)
	if !errors.Is(err, fault.Limited) || fault.Of(err).RetryAfter <= 0 || strings.Contains(err.Error(), "cedar") {
		t.Errorf("another spelling of the mailbox: %v", err)
	}
	h.now = h.now.Add(24 * time.Hour)
	if !h.inviteAndWithdraw(h.by(ada), h.orgID, victim) {
		t.Error("no invitation is possible on the next day")
	}
}

// TestInviteLimitsAccountAcrossOrganisations covers the attack described in ADR 42, in which eight tenants of one
// account send email to the same mailbox.
func TestInviteLimitsAccountAcrossOrganisations(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	sent := 0
	for n := range 8 {
		by, orgID := h.found(eve, fmt.Sprintf("Birch %d", n))
		for range 10 {
			if h.inviteAndWithdraw(by, orgID, victim) {
				sent++
			}
		}
	}
	if sent != invitationsPerMailbox {
		t.Errorf("%d invitations were sent, want %d", sent, invitationsPerMailbox)
	}
}

// noInvitations stores no invitations and has a single member, so that thousands of attempts are fast.
type noInvitations struct{ members.Rows }

func (noInvitations) Members(context.Context, string) ([]account.Membership, error) { return nil, nil }

func (noInvitations) Invitations(context.Context, string) ([]account.Invitation, error) {
	return nil, nil
}

func (noInvitations) CreateInvitation(context.Context, account.Invitation) error { return nil }

func (noInvitations) Organisation(_ context.Context, of org.Tenant) (org.Organisation, error) {
	return org.Organisation{ID: of.OrgID, Name: "Birch", LiveAccess: org.LiveNone}, nil
}

func (noInvitations) Append(context.Context, audit.Row) error { return nil }

func TestInviteSucceedsDespiteHostileAccount(t *testing.T) {
	t.Parallel()
	attempts := 20 * invitationsPerSender
	if os.Getenv("RECORDBRIDGE_SOAK") != "" {
		attempts = 10_000
	}
	h := newHouse(t)
	h.Rows, h.Audit, h.Limits.Buckets = noInvitations{}, noInvitations{}, &memory.Buckets{}
	invite := func(account, orgID, email string) error {
		by := members.By{Actor: "member:" + account, AccountID: account, Role: "owner"}
		_, err := h.Invite(t.Context(), by, orgID, email, "viewer")
		return err
	}
	for n := range attempts {
		to := victim
		if n%2 == 0 {
			to = fmt.Sprintf("victim%d@cedar.example", n)
		}
		orgID := fmt.Sprintf("hostile-%d", n%8)
		if err := invite("hostile", orgID, to); err != nil && !errors.Is(err, fault.Limited) {
			t.Fatal(err)
		}
	}
	if sent := len(h.mails); sent != invitationsPerSender {
		t.Errorf("of %d invitations %d were sent, want %d", attempts, sent, invitationsPerSender)
	}
	for n := range invitationsPerMailbox {
		if err := invite("honest", h.orgID, victim); err != nil {
			t.Errorf("honest invitation %d to the same mailbox: %v", n, err)
		}
	}
}

func TestFoundOrganisationRejectsInvalidName(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, name := range []string{"", "Birch.example Clinic", "https://birch", "Birch\nClinic", "Birch\u202e"} {
		if _, err := h.Found(t.Context(), h.people[eve], name); !errors.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestOperatorInvitationsAreNotRateLimited(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range invitationsPerMailbox + 1 {
		if !h.inviteAndWithdraw(members.Operator("ops"), h.orgID, victim) {
			t.Error("an operator's invitation was refused")
		}
	}
}
