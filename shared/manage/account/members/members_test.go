package members_test

import (
	"context"
	"crypto/rand"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	ada = "ada@alder.example"
	bob = "bob@alder.example"
	eve = "eve@birch.example"
)

type house struct {
	members.Service

	t             *testing.T
	accounts      store.Accounts
	organisations store.Organisations
	log           audit.Log
	sending       sync.Mutex // guards mails and last, because members are notified concurrently
	mails         []string
	last          [3]string // subject, text and HTML of the latest email
	mailErr       error
	now           time.Time
	clock         func() time.Time
	orgID         string
	people        map[string]string // account IDs, keyed by email address
}

func newHouse(t *testing.T) *house {
	t.Helper()
	made := tables.New(t)
	h := &house{t: t, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), people: map[string]string{}}
	h.accounts = store.Accounts{DB: made.DB, Table: made.Name("ControlTable")}
	h.organisations = store.Organisations{DB: made.DB, Table: made.Name("ControlTable")}
	h.log = audit.Log{Rows: store.Audit{DB: made.DB, Table: made.Name("AuditTable")}}
	h.clock = func() time.Time { return h.now }
	keys, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	expect.NoError(t, err)
	h.Service = members.Service{
		Rows: h.accounts, Audit: h.log, Mailer: h, Dashboard: "https://dash.example/dashboard", Random: rand.Reader,
		NewID:  ids.Random,
		Limits: maillimit.Limiter{Buckets: store.Flow{DB: made.DB, Table: made.Name("FlowTable")}, Keys: keys, Now: h.clock},
		Now:    h.clock,
	}
	for _, email := range []string{ada, bob, eve} {
		a := account.Account{ID: ids.Random(), Email: email, CreatedAt: h.now}
		expect.NoError(t, h.accounts.CreateAccount(t.Context(), a))
		h.people[email] = a.ID
	}
	founded, err := h.Found(t.Context(), h.people[ada], "Alder")
	expect.NoError(t, err)
	h.orgID = founded.ID
	return h
}

func (h *house) Send(_ context.Context, to []string, subject, text, html string) error {
	h.sending.Lock()
	defer h.sending.Unlock()
	if h.mailErr == nil {
		h.last = [3]string{subject, text, html}
		h.mails = append(h.mails, strings.Join(to, " ")+"\n"+text)
	}
	return h.mailErr
}

// by returns a By with a person's current role.
func (h *house) by(email string) members.By {
	h.t.Helper()
	m, err := h.accounts.Membership(h.t.Context(), h.orgID, h.people[email])
	expect.NoError(h.t, err)
	return members.By{Actor: account.Actor(m.AccountID), AccountID: m.AccountID, Role: m.Role}
}

var link = regexp.MustCompile(`#/invitation/(\S+)`)

// invite sends an invitation and returns the token in its email.
func (h *house) invite(by members.By, email string, role account.Role) secret.Text {
	h.t.Helper()
	_, err := h.Invite(h.t.Context(), by, h.orgID, email, role)
	expect.NoError(h.t, err)
	return secret.New(link.FindStringSubmatch(h.mails[len(h.mails)-1])[1])
}

func (h *house) join(email string, role account.Role) {
	h.t.Helper()
	_, err := h.Accept(h.t.Context(), h.people[email], h.invite(h.by(ada), email, role))
	expect.NoError(h.t, err)
}

func TestInvitationIsSingleUseAndBoundToAddress(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token := h.invite(h.by(ada), "Bob@alder.example", account.Developer)
	if text := h.mails[0]; !strings.HasPrefix(text, "Bob@alder.example\n") ||
		!strings.Contains(text, "Alder invites you") || !strings.Contains(text, "developer") {
		t.Errorf("the mail says %s", text)
	}
	if _, err := h.Accept(t.Context(), h.people[eve], token); !errors.Is(err, fault.Forbidden) {
		t.Errorf("another address: %v", err)
	}
	m, err := h.Accept(t.Context(), h.people[bob], token)
	expect.NoError(t, err)
	if m.Role != account.Developer || m.OrgID != h.orgID || h.by(bob).Role != account.Developer {
		t.Errorf("joined as %+v", m)
	}
	if _, err = h.Accept(t.Context(), h.people[bob], token); !errors.Is(err, fault.NotFound) {
		t.Errorf("the second time: %v", err)
	}
	expect.NoError(t, h.Remove(t.Context(), h.by(ada), h.orgID, h.people[bob]))
	if _, err = h.Accept(t.Context(), h.people[bob], token); !errors.Is(err, fault.NotFound) {
		t.Errorf("after the member was removed: %v", err)
	}
	_, err = h.accounts.Membership(t.Context(), h.orgID, h.people[bob])
	expect.NotFound(t, "the removed membership", err)
}

func TestAcceptRejectsInvalidInvitation(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(h *house, token string) string{
		"nothing":           func(*house, string) string { return "" },
		"cut short":         func(_ *house, token string) string { return token[:len(token)-1] },
		"another secret":    func(_ *house, token string) string { return token[:43] + strings.Repeat("A", 43) },
		"only its places":   func(_ *house, token string) string { return token[:43] },
		"no base64":         func(_ *house, token string) string { return "!" + token[1:] },
		"after seven days":  func(h *house, token string) string { h.now = h.now.Add(7 * 24 * time.Hour); return token },
		"withdrawn":         func(h *house, token string) string { h.withdrawAll(h.by(ada)); return token },
		"its host has gone": func(h *house, token string) string { h.demote(""); return token },
		"its host may not invite any more": func(h *house, token string) string {
			h.demote(account.Viewer)
			return token
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.join(bob, account.Admin)
			token := h.invite(h.by(bob), eve, account.Viewer)
			if _, err := h.Accept(t.Context(), h.people[eve], secret.New(spoil(h, token.Reveal()))); !errors.Is(err,
				fault.NotFound) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// demote changes Bob's role or, if role is empty, removes Bob.
func (h *house) demote(role account.Role) {
	h.t.Helper()
	if role == "" {
		expect.NoError(h.t, h.Remove(h.t.Context(), h.by(ada), h.orgID, h.people[bob]))
		return
	}
	expect.NoError(h.t, h.Change(h.t.Context(), h.by(ada), h.orgID, h.to(bob, role)))
}

// to returns an unconditional change of a person's role.
func (h *house) to(email string, role account.Role) members.RoleChange {
	return members.RoleChange{AccountID: h.people[email], Role: role}
}

func TestMembersCannotRaiseTheirOwnRole(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.join(bob, account.Admin)
	admin := h.by(bob)
	tries := map[string]func() error{
		"an admin makes themselves an owner": func() error {
			return h.Change(t.Context(), admin, h.orgID, h.to(bob, account.Owner))
		},
		"an admin takes an owner's role": func() error {
			return h.Change(t.Context(), admin, h.orgID, h.to(ada, account.Viewer))
		},
		"an admin removes an owner": func() error { return h.Remove(t.Context(), admin, h.orgID, h.people[ada]) },
		"an admin invites an owner": func() error {
			_, err := h.Invite(t.Context(), admin, h.orgID, eve, account.Owner)
			return err
		},
		"an admin withdraws an owner's invitation": func() error {
			h.invite(h.by(ada), eve, account.Owner)
			asked, err := h.Invitations(t.Context(), h.orgID)
			expect.NoError(t, err)
			return h.Withdraw(t.Context(), admin, h.orgID, asked[0].ID)
		},
		"no role at all": func() error {
			return h.Change(t.Context(), members.By{}, h.orgID, h.to(bob, account.Viewer))
		},
	}
	for name, try := range tries {
		if err := try(); !errors.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h.by(ada).Role != account.Owner || h.by(bob).Role != account.Admin {
		t.Error("a role has changed")
	}
}

func TestLastOwnerCannotBeRemoved(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if err := h.Remove(t.Context(), h.by(ada), h.orgID, h.people[ada]); !errors.Is(err, fault.Conflict) {
		t.Errorf("removed: %v", err)
	}
	if err := h.Change(t.Context(), h.by(ada), h.orgID, h.to(ada, account.Admin)); !errors.Is(err, fault.Conflict) {
		t.Errorf("demoted: %v", err)
	}
	h.join(bob, account.Owner)
	var both [2]account.Membership // memberships of two owners who try to remove each other at the same time
	for i, email := range []string{ada, bob} {
		m, err := h.accounts.Membership(t.Context(), h.orgID, h.people[email])
		expect.NoError(t, err)
		both[i] = m
	}
	won := expect.Winners(t, 2, func(ctx context.Context,
		i int,
	) error {
		return h.accounts.RemoveMembership(ctx, both[i])
	})
	all, err := h.List(t.Context(), h.orgID)
	expect.NoError(t, err)
	if won != 1 || len(all) != 1 || all[0].Role != account.Owner {
		t.Errorf("%d of two owners removed each other, left are %+v", won, all)
	}
}

func TestEmailDomainBelongsToFirstOrganisation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if _, err := h.Found(t.Context(), h.people[bob], "Alder too"); !errors.Is(err, fault.Conflict) {
		t.Errorf("another of the domain founds: %v", err)
	}
	second, err := h.Found(t.Context(), h.people[ada], "Alder Labs")
	expect.NoError(t, err)
	other, err := h.Found(t.Context(), h.people[eve], "Birch")
	expect.NoError(t, err)
	if second.ID == h.orgID || other.Emails[0] != eve || other.VerifiedEmails[0] != eve ||
		other.FoundedBy != h.people[eve] || other.Plan != org.Free {
		t.Errorf("founded %+v and %+v", second, other)
	}
	h.join(bob, account.Admin)
	if _, err := h.Found(t.Context(), h.people[bob], "Alder too"); !errors.Is(err, fault.Conflict) {
		t.Errorf("an admin of the domain's founds: %v", err)
	}
}

func TestInviteDiscardsInvitationWhenEmailFails(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.mailErr = errors.New("SES is down")
	if _, err := h.Invite(t.Context(), h.by(ada), h.orgID, bob, account.Viewer); !errors.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	open, err := h.Invitations(t.Context(), h.orgID)
	expect.NoError(t, err)
	if len(open) != 0 {
		t.Errorf("open are %+v", open)
	}
	h.mailErr = nil
	for email, want := range map[string]error{
		"bob@gmail.com": fault.Invalid, "bob": fault.Invalid, ada: fault.Conflict,
		"ADA@alder.example": fault.Conflict,
	} {
		if _, err := h.Invite(t.Context(), h.by(ada), h.orgID, email, account.Viewer); !errors.Is(err, want) {
			t.Errorf("inviting %s: %v", email, err)
		}
	}
	h.invite(h.by(ada), bob, account.Viewer)
	if _, err := h.Invite(t.Context(), h.by(ada), h.orgID, bob, account.Admin); !errors.Is(err, fault.Conflict) {
		t.Errorf("inviting twice: %v", err)
	}
}

func TestOperatorInvitationOfFirstOwnerIsAudited(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token := h.invite(members.Operator("operator:root"), bob, account.Owner)
	_, err := h.Accept(t.Context(), h.people[bob], token)
	expect.NoError(t, err)
	expect.NoError(t, h.Change(t.Context(), h.by(bob), h.orgID, h.to(ada, account.Viewer)))
	expect.NoError(t, h.Remove(t.Context(), h.by(bob), h.orgID, h.people[ada]))
	h.invite(h.by(bob), eve, account.Viewer)
	h.withdrawAll(h.by(bob))
	rows, _, err := h.log.List(t.Context(), h.orgID, 0, 50)
	expect.NoError(t, err)
	var told []string
	for _, r := range rows {
		if len(r.Changes) != 1 {
			t.Fatalf("row %+v, want one change", r)
		}
		line := r.Action + ":" + r.Changes[0].Field + ":" + r.Changes[0].Old + ">" + r.Changes[0].New
		told = append([]string{line}, told...)
		if strings.Contains(r.Actor+r.Target+line, "@") || r.Actor == "" {
			t.Errorf("row %+v", r)
		}
	}
	want := "organisation.created:name:>Alder member.invited:role:>owner member.joined:role:>owner " +
		"member.made_viewer:role:owner>viewer member.removed:role:viewer> member.invited:role:>viewer " +
		"invitation.withdrawn:role:viewer>"
	if got := strings.Join(told, " "); got != want {
		t.Errorf("audited:\n%s\nwant:\n%s", got, want)
	}
}

func (h *house) withdrawAll(by members.By) {
	h.t.Helper()
	all, err := h.Invitations(h.t.Context(), h.orgID)
	expect.NoError(h.t, err)
	for _, i := range all {
		expect.NoError(h.t, h.Withdraw(h.t.Context(), by, h.orgID, i.ID))
	}
}
