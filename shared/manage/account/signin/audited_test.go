package signin_test

import (
	"context"
	"slices"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/words/secret"
)

type auditRows struct{ rows []string }

func (b *auditRows) Append(_ context.Context, row audit.Row) error {
	b.rows = append(b.rows, row.Tenant.OrgID+" "+row.Actor+" "+row.Action+" "+row.Target)
	return nil
}

type memberOf struct{ signin.Accounts }

func (memberOf) Memberships(_ context.Context, accountID string) ([]account.Membership, error) {
	return []account.Membership{{OrgID: "alder", AccountID: accountID}, {OrgID: "birch", AccountID: accountID}}, nil
}

// TestAccountChangeIsAuditedInEachOrganisation checks that completed changes are recorded and that failed changes are
// not.
func TestAccountChangeIsAuditedInEachOrganisation(t *testing.T) {
	t.Parallel()
	h, log := newHouse(t), &auditRows{}
	h.deps.Accounts = memberOf{h.deps.Accounts}
	audited := signin.NewAudited(h.deps, log)
	begun := h.enter(ada, signin.Browser{}).Session
	if _, err := audited.RemoveTOTP(t.Context(), signin.Browser{}, begun); err == nil {
		t.Error("a generator that there is not was removed")
	}
	if err := audited.RestoreAddress(t.Context(), secret.New("x")); err == nil {
		t.Error("a link of nobody's works")
	}
	if len(log.rows) != 0 {
		t.Errorf("told of what did not work: %q", log.rows)
	}
	expect.NoError(t, audited.SignOutEverywhere(t.Context(), begun))
	row := " " + account.Actor(begun.AccountID) + " account.signed_out_everywhere " + begun.AccountID
	if want := []string{"alder" + row, "birch" + row}; !slices.Equal(log.rows, want) {
		t.Errorf("told %q, want %q", log.rows, want)
	}
}
