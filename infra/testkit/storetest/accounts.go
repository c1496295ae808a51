package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Accounts stores accounts, their email addresses and memberships.
type Accounts interface {
	signin.Accounts
	members.Rows
}

// AccountRows tests an implementation of Accounts.
func AccountRows(t *testing.T, open func(testing.TB) Accounts) {
	t.Helper()
	run(t, open, map[string]func(subject[Accounts]){
		"an account comes back as it was saved":                      accountComesBack,
		"recovery codes come back, and change by revision":           recoveryCodesComeBack,
		"a first factor is saved with its recovery codes":            firstFactorSaved,
		"of many accounts that are made at one address one is":       accountMadeByOne,
		"a former address is kept for its account, and taken back":   addressKeptAndTakenBack,
		"an address that another account has is not moved to":        addressNotTaken,
		"a membership is the same from both sides":                   membershipMirrored,
		"of owners who leave at once the last one stays":             lastOwnerStays,
		"an invitation comes back, and works once":                   invitationOnce,
		"a mail domain is one organisation's, and founding is whole": domainOfOne,
		"an organisation has room for so many":                       roomForSoMany,
	})
}

const (
	adaID = "ac000000-0000-4000-8000-00000000000a"
	bobID = "ac000000-0000-4000-8000-00000000000b"
	ada   = "Ada@alder.example"
)

func person(id, email string) account.Account {
	return account.Account{ID: id, Email: email, Epoch: 1, CreatedAt: now()}
}

func madeAccount(c subject[Accounts], id, email string) account.Account {
	c.t.Helper()
	a := person(id, email)
	expect.NoError(c.t, c.store.CreateAccount(c.t.Context(), a))
	a.Rev = 1
	return a
}

func recoveryCodesComeBack(c subject[Accounts]) {
	t, s := c.t, c.store
	_, err := s.RecoveryCodes(t.Context(), adaID)
	expect.NotFound(t, "recovery codes that nobody has made", err)
	codes := account.RecoveryCodes{Marks: []secret.Mark{
		{Version: 2, Sum: []byte("hash")},
		{Version: 3, Sum: []byte("other")},
	}, MadeAt: now()}
	expect.NoError(t, s.SaveRecoveryCodes(t.Context(), adaID, codes))
	expect.Conflict(t, "making them twice", s.SaveRecoveryCodes(t.Context(), adaID, codes))
	for _, marks := range [][]secret.Mark{codes.Marks, codes.Marks[1:], nil} {
		codes.Rev++
		codes.Marks = marks
		expect.NoError(t, s.SaveRecoveryCodes(t.Context(), adaID, codes))
		expect.Conflict(t, "saving an old revision", s.SaveRecoveryCodes(t.Context(), adaID, codes))
		got, failure := s.RecoveryCodes(t.Context(), adaID)
		expect.NoError(t, failure)
		if want := (account.RecoveryCodes{Marks: marks, MadeAt: now(), Rev: codes.Rev + 1}); !cmp.Equal(want, got) {
			t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
		}
	}
	_, err = s.RecoveryCodes(t.Context(), bobID)
	expect.NotFound(t, "another account's", err)
}

func firstFactorSaved(c subject[Accounts]) {
	t, s := c.t, c.store
	a := madeAccount(c, adaID, ada)
	a.TOTP.Sealed = []byte("sealed")
	codes := account.RecoveryCodes{Marks: []secret.Mark{{Version: 1, Sum: []byte("hash")}}, MadeAt: now()}
	old := a
	old.Rev = 7
	expect.Conflict(t, "an account that has changed", s.SaveFirstFactor(t.Context(), old, codes))
	expect.NoError(t, s.SaveFirstFactor(t.Context(), a, codes))
	a.Rev = 2
	expect.Conflict(t, "codes that have changed", s.SaveFirstFactor(t.Context(), a, codes))
	codes.Rev = 1
	expect.NoError(t, s.SaveFirstFactor(t.Context(), a, codes))
	a.Rev, codes.Rev = 3, 2
	got, err := s.Account(t.Context(), adaID)
	expect.NoError(t, err)
	held, err := s.RecoveryCodes(t.Context(), adaID)
	expect.NoError(t, err)
	if !cmp.Equal(a, got) || !cmp.Equal(codes, held) {
		t.Errorf("saved %s %s", cmp.Diff(a, got), cmp.Diff(codes, held))
	}
}

func accountComesBack(c subject[Accounts]) {
	t, s := c.t, c.store
	_, err := s.Account(t.Context(), adaID)
	expect.NotFound(t, "an account that nobody has made", err)
	_, err = s.AccountAt(t.Context(), ada)
	expect.NotFound(t, "its address", err)
	a := madeAccount(c, adaID, ada)
	a.TOTP = account.TOTP{Sealed: []byte("sealed"), Since: now(), Step: 7, Offer: []byte("offer")}
	a.Passkeys = []account.Passkey{{
		ID: "k", Name: "Telephone", Credential: []byte(`{"n":1}`), CreatedAt: now(),
		UsedAt: now(),
	}}
	a.Epoch = 3
	expect.NoError(t, s.SaveAccount(t.Context(), a))
	expect.Conflict(t, "saving what has changed since", s.SaveAccount(t.Context(), a))
	a.Rev = 2
	got, err := s.Account(t.Context(), adaID)
	expect.NoError(t, err)
	if diff := cmp.Diff(a, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	expect.Conflict(t, "saving an account that there is not",
		s.SaveAccount(t.Context(), account.Account{ID: bobID, Rev: 1}))
}

func accountMadeByOne(c subject[Accounts]) {
	t, s := c.t, c.store
	spelt := []string{ada, "ada@alder.example", "ADA@ALDER.EXAMPLE"}
	won := expect.Winners(t, 6, func(ctx context.Context, i int) error {
		return s.CreateAccount(ctx, person(fmt.Sprintf("ac000000-0000-4000-8000-%012d", i), spelt[i%len(spelt)]))
	})
	if won != 1 {
		t.Errorf("%d accounts were made at one address", won)
	}
}

func wantAt(c subject[Accounts], address string, want account.AddressOwner) {
	c.t.Helper()
	got, err := c.store.AccountAt(c.t.Context(), address)
	expect.NoError(c.t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		c.t.Errorf("at %s (-want +got):\n%s", address, diff)
	}
}

func addressKeptAndTakenBack(c subject[Accounts]) {
	t, s := c.t, c.store
	const next = "ada@birch.example"
	a := madeAccount(c, adaID, ada)
	until := now().Add(72 * time.Hour)
	moved := a
	moved.Email, moved.Former = next, account.Former{Email: ada, TokenHash: "hash", ChangedAt: now(), Until: until}
	expect.NoError(t, s.MoveAccount(t.Context(), moved))
	expect.Conflict(t, "moving what has changed since", s.MoveAccount(t.Context(), moved))
	wantAt(c, next, account.AddressOwner{AccountID: adaID})
	wantAt(c, ada, account.AddressOwner{AccountID: adaID, FormerUntil: until})
	early, late := person(bobID, ada), person(bobID, ada)
	early.CreatedAt, late.CreatedAt = until.Add(-time.Millisecond), until
	expect.Conflict(t, "an account at an address that is kept for another", s.CreateAccount(t.Context(), early))
	got, err := s.Account(t.Context(), adaID)
	expect.NoError(t, err)
	moved.Rev = 2
	if diff := cmp.Diff(moved, got); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
	back := moved
	back.Email, back.Former = ada, account.Former{}
	expect.NoError(t, s.MoveAccountBack(t.Context(), back, next))
	wantAt(c, ada, account.AddressOwner{AccountID: adaID})
	_, err = s.AccountAt(t.Context(), next)
	expect.NotFound(t, "the address that was left", err)
	expect.Conflict(t, "an account at an address that is its owner's again", s.CreateAccount(t.Context(), late))
}

func addressNotTaken(c subject[Accounts]) {
	t, s := c.t, c.store
	const taken = "bob@alder.example"
	a := madeAccount(c, adaID, ada)
	madeAccount(c, bobID, taken)
	moved := a
	moved.Email, moved.Former = taken, account.Former{
		Email: ada, TokenHash: "hash", ChangedAt: now(),
		Until: now().Add(time.Hour),
	}
	expect.Conflict(t, "moving to another's address", s.MoveAccount(t.Context(), moved))
	wantAt(c, ada, account.AddressOwner{AccountID: adaID})
	wantAt(c, taken, account.AddressOwner{AccountID: bobID})
	stranger := person(bobID, ada)
	stranger.Rev = 1
	expect.Conflict(t, "taking back an address that is another's", s.MoveAccountBack(t.Context(), stranger, taken))
}

// founded creates an organisation owned by adaID.
func founded(c subject[Accounts], domain string) org.Organisation {
	c.t.Helper()
	made := org.Organisation{ID: orgA, Name: "Alder", Plan: org.Free, Status: org.Active, CreatedAt: now()}
	expect.NoError(c.t, c.store.Found(c.t.Context(), made, member(adaID, account.Owner), domain))
	return made
}

func member(id string, role account.Role) account.Membership {
	return account.Membership{OrgID: orgA, AccountID: id, Role: role, Since: now(), Rev: 1}
}

// joined adds an account to orgA through an invitation.
func joined(c subject[Accounts], id string, role account.Role) error {
	c.t.Helper()
	i := account.Invitation{
		ID: id, OrgID: orgA, Email: id + "@alder.example", Role: role, SecretHash: "hash",
		CreatedAt: now(), ExpiresAt: now().Add(time.Hour), Rev: 1,
	}
	expect.NoError(c.t, c.store.CreateInvitation(c.t.Context(), i))
	return c.store.AcceptInvitation(c.t.Context(), i, member(id, role), "")
}

func wantMember(c subject[Accounts], accountID string, want ...account.Membership) {
	c.t.Helper()
	of, err := c.store.Memberships(c.t.Context(), accountID)
	expect.NoError(c.t, err)
	if diff := cmp.Diff(append([]account.Membership{}, want...), of); diff != "" {
		c.t.Errorf("the account's (-want +got):\n%s", diff)
	}
	all, err := c.store.Members(c.t.Context(), orgA)
	expect.NoError(c.t, err)
	mine := []account.Membership{}
	for _, m := range all {
		if m.AccountID == accountID {
			mine = append(mine, m)
		}
	}
	if diff := cmp.Diff(of, mine); diff != "" {
		c.t.Errorf("the organisation's (-account's +got):\n%s", diff)
	}
	for _, m := range want {
		one, err := c.store.Membership(c.t.Context(), orgA, accountID)
		expect.NoError(c.t, err)
		if diff := cmp.Diff(m, one); diff != "" {
			c.t.Errorf("one (-want +got):\n%s", diff)
		}
	}
}

func membershipMirrored(c subject[Accounts]) {
	t, s := c.t, c.store
	founded(c, "")
	wantMember(c, adaID, member(adaID, account.Owner))
	expect.NoError(t, joined(c, bobID, account.Viewer))
	expect.Conflict(t, "becoming a member again", joined(c, bobID, account.Admin))
	bob := member(bobID, account.Admin)
	expect.NoError(t, s.SaveMembership(t.Context(), bob, account.Viewer))
	expect.Conflict(t, "changing what has changed since", s.SaveMembership(t.Context(), bob, account.Viewer))
	bob.Rev = 2
	wantMember(c, bobID, bob)
	stale := bob
	stale.Rev = 1
	expect.Conflict(t, "removing what has changed since", s.RemoveMembership(t.Context(), stale))
	expect.NoError(t, s.RemoveMembership(t.Context(), bob))
	wantMember(c, bobID)
	_, err := s.Membership(t.Context(), orgA, bobID)
	expect.NotFound(t, "a membership that has ended", err)
}

func lastOwnerStays(c subject[Accounts]) {
	t, s := c.t, c.store
	founded(c, "")
	expect.NoError(t, joined(c, bobID, account.Owner))
	ids := []string{adaID, bobID}
	if won := expect.Winners(t, 2, func(ctx context.Context,
		i int,
	) error {
		return s.RemoveMembership(ctx, member(ids[i], account.Owner))
	}); won != 1 {
		t.Errorf("%d of two owners have left", won)
	}
	all, err := s.Members(t.Context(), orgA)
	expect.NoError(t, err)
	if len(all) != 1 || all[0].Role != account.Owner {
		t.Fatalf("left are %+v", all)
	}
	less := all[0]
	less.Role = account.Viewer
	expect.Conflict(t, "the last owner as a viewer", s.SaveMembership(t.Context(), less, account.Owner))
}
