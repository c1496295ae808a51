package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/org"
)

func invitationOnce(c subject[Accounts]) {
	t, s := c.t, c.store
	founded(c, "")
	want := account.Invitation{
		ID: bobID, OrgID: orgA, Email: "bob@alder.example", Role: account.Developer, SecretHash: "hash", InvitedBy: adaID,
		CreatedAt: now(), ExpiresAt: now().Add(time.Hour), Rev: 1,
	}
	expect.NoError(t, s.CreateInvitation(t.Context(), want))
	expect.Conflict(t, "an invitation of the same id", s.CreateInvitation(t.Context(), want))
	got, err := s.Invitation(t.Context(), orgA, bobID)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err = s.Invitation(t.Context(), orgB, bobID)
	expect.NotFound(t, "another organisation's", err)
	guests := []string{bobID, adaID[:len(adaID)-1] + "c", adaID[:len(adaID)-1] + "d"}
	if won := expect.Winners(t, len(guests), func(ctx context.Context, i int) error {
		return s.AcceptInvitation(ctx, want, member(guests[i], account.Developer), "")
	}); won != 1 {
		t.Errorf("it worked %d times", won)
	}
	left, err := s.Invitations(t.Context(), orgA)
	if err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	expect.Conflict(t, "withdrawing what was accepted", s.RemoveInvitation(t.Context(), want))
}

func domainOfOne(c subject[Accounts]) {
	t, s := c.t, c.store
	_, err := s.Domain(t.Context(), "alder.example")
	expect.NotFound(t, "a domain that nobody has claimed", err)
	want := founded(c, "alder.example")
	for _, tenant := range want.Tenants() {
		got, failed := s.Organisation(t.Context(), tenant)
		if failed != nil || got.Name != want.Name || got.Rev != 1 {
			t.Errorf("in %s mode: %+v, %v", tenant.Mode, got, failed)
		}
	}
	other := org.Organisation{ID: orgB, Name: "Birch", CreatedAt: now()}
	owner := account.Membership{OrgID: orgB, AccountID: bobID, Role: account.Owner, Since: now(), Rev: 1}
	expect.Conflict(t, "a second organisation at the domain", s.Found(t.Context(), other, owner, "alder.example"))
	_, err = s.Organisation(t.Context(), org.Tenant{Mode: org.Test, OrgID: orgB})
	expect.NotFound(t, "a half of it", err)
	_, err = s.Membership(t.Context(), orgB, bobID)
	expect.NotFound(t, "its owner", err)
	if holder, err := s.Domain(t.Context(), "alder.example"); err != nil || holder != orgA {
		t.Errorf("the domain is %q's, %v", holder, err)
	}
}

func roomForSoMany(c subject[Accounts]) {
	founded(c, "")
	for i := range account.MaxMembers - 1 {
		expect.NoError(c.t, joined(c, fmt.Sprintf("ac000000-0000-4000-8000-%012d", i), account.Viewer))
	}
	expect.Conflict(c.t, "one more than there is room for", joined(c, bobID, account.Viewer))
	expect.NoError(c.t, c.store.RemoveMembership(c.t.Context(),
		member("ac000000-0000-4000-8000-000000000000", account.Viewer)))
	expect.NoError(c.t, joined(c, bobID[:len(bobID)-1]+"c", account.Viewer))
}
