package operator_test

import (
	"context"
	"errors"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
)

// recovering simulates an organisation with one member and records the account whose recovery was stopped.
type recovering struct {
	operator.Membership

	stopped string
}

func (r *recovering) List(context.Context, string) ([]members.Member, error) {
	return []members.Member{{Membership: account.Membership{AccountID: "account-1"}, Email: "Ada@example.com"}}, nil
}

func (r *recovering) StopRecovery(_ context.Context, _ members.By, _, accountID string) error {
	r.stopped = accountID
	return nil
}

func TestStopRecoveryIgnoresCaseOfEmail(t *testing.T) {
	t.Parallel()
	membership := &recovering{}
	of := operator.NewMembers(nil, membership, "ops")
	if err := of.StopRecovery(t.Context(), owner, "bob@example.com"); !errors.Is(err, fault.NotFound) {
		t.Errorf("of a stranger: %v", err)
	}
	expect.NoError(t, of.StopRecovery(t.Context(), owner, "ADA@example.com"))
	if membership.stopped != "account-1" {
		t.Errorf("stopped the recovery of %q", membership.stopped)
	}
}
