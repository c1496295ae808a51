package members_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/version"
)

func TestChangeRejectsOutdatedRole(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.join(bob, account.Viewer)
	from := func(m account.Membership) version.Match {
		match, err := version.Parse(strconv.Quote(m.Version()))
		expect.NoError(t, err)
		return match
	}
	loaded, err := h.accounts.Membership(t.Context(), h.orgID, h.people[bob])
	expect.NoError(t, err)
	roles := []account.Role{account.Developer, account.Admin, account.Owner}
	admin := h.by(ada)
	won := expect.Winners(t, len(roles), func(ctx context.Context, i int) error {
		to := h.to(bob, roles[i])
		to.From = from(loaded)
		return h.Change(ctx, admin, h.orgID, to)
	})
	stored := h.by(bob).Role
	if won != 1 || stored == account.Viewer {
		t.Errorf("%d of %d concurrent changes were saved, and the role is %s", won, len(roles), stored)
	}
	to := h.to(bob, account.Viewer)
	to.From = from(loaded)
	if err = h.Change(t.Context(), admin, h.orgID, to); !errors.Is(err, fault.Conflict) || fault.IsStale(err) ||
		h.by(bob).Role != stored {
		t.Errorf("a change of an outdated role: %v, and the role is %s", err, h.by(bob).Role)
	}
	to.From = from(account.Membership{Role: stored})
	expect.NoError(t, h.Change(t.Context(), admin, h.orgID, to))
	rows, _, err := h.log.List(t.Context(), h.orgID, 0, 100)
	if err != nil || rows[1].Action != "member.made_"+string(stored) || strings.Contains(rows[2].Action, "member.made") {
		t.Errorf("audited %+v: %v, want one change before the last", rows, err)
	}
}

// racing calls meanwhile before the first write of a membership.
type racing struct {
	store.Accounts

	meanwhile *func()
}

func (r racing) SaveMembership(ctx context.Context, m account.Membership, was account.Role) error {
	if first := *r.meanwhile; first != nil {
		*r.meanwhile = nil
		first()
	}
	return r.Accounts.SaveMembership(ctx, m, was)
}

func TestChangeComparesRoleWithRowThatItReplaces(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.join(bob, account.Viewer)
	loaded, err := h.accounts.Membership(t.Context(), h.orgID, h.people[bob])
	expect.NoError(t, err)
	meanwhile := func() {
		theirs := loaded
		theirs.Role = account.Developer
		expect.NoError(t, h.accounts.SaveMembership(t.Context(), theirs, account.Viewer))
	}
	raced := h.Service
	raced.Rows = racing{Accounts: h.accounts, meanwhile: &meanwhile}
	to := h.to(bob, account.Admin)
	to.From, err = version.Parse(strconv.Quote(loaded.Version()))
	expect.NoError(t, err)
	if err := raced.Change(t.Context(), h.by(ada), h.orgID, to); !errors.Is(err, fault.Conflict) || fault.IsStale(err) ||
		h.by(bob).Role != account.Developer {
		t.Errorf("%v, and the role is %s, want a conflict that isn't retried", err, h.by(bob).Role)
	}
}
