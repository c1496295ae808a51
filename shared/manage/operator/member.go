package operator

import (
	"context"
	"fmt"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Members invites owners and recovers their accounts. The embedded Membership writes the audit rows.
type Members struct {
	rows       OrganisationReader
	membership Membership
	actor      string
}

// Membership changes an organisation's members and writes the corresponding audit rows. members.Service implements it.
type Membership interface {
	Invite(ctx context.Context, by members.By, orgID, email string, role account.Role) (account.Invitation, error)
	// Recover starts the recovery of an owner's account. StopRecovery stops the recovery of an account.
	Recover(ctx context.Context, by members.By, orgID, email, reason string) (account.Recovery, error)
	StopRecovery(ctx context.Context, by members.By, orgID, accountID string) error
	// List returns all members of an organisation.
	List(ctx context.Context, orgID string) ([]members.Member, error)
}

// NewMembers returns a Members that records actor in its audit rows.
func NewMembers(rows OrganisationReader, membership Membership, actor string) Members {
	return Members{rows: rows, membership: membership, actor: actor}
}

// InviteOwner invites an owner to an organisation by email. The invitation secret appears only in the email.
// InviteOwner returns fault.Invalid, fault.NotFound, fault.Conflict or fault.Unavailable on failure.
func (o Members) InviteOwner(ctx context.Context, tenant org.Tenant, email string) (account.Invitation, error) {
	if err := checkOwner(ctx, o.rows, tenant); err != nil {
		return account.Invitation{}, err
	}
	return o.membership.Invite(ctx, members.Operator(o.actor), tenant.OrgID, email, account.Owner)
}

// Recover starts account recovery for an owner who has lost their second factors. The factors are removed three days
// later, unless the account holder or another owner stops the recovery. Recover returns fault.Invalid, fault.NotFound
// or fault.Conflict on failure.
func (o Members) Recover(ctx context.Context, tenant org.Tenant, email, reason string) (account.Recovery, error) {
	if err := checkOwner(ctx, o.rows, tenant); err != nil {
		return account.Recovery{}, err
	}
	return o.membership.Recover(ctx, members.Operator(o.actor), tenant.OrgID, email, reason)
}

// StopRecovery stops the recovery of an owner's account. It returns fault.NotFound or fault.Conflict on failure.
func (o Members) StopRecovery(ctx context.Context, tenant org.Tenant, email string) error {
	all, err := o.membership.List(ctx, tenant.OrgID)
	if err != nil {
		return fmt.Errorf("list members: %w", err)
	}
	for _, m := range all {
		if account.Fold(m.Email) == account.Fold(email) {
			return o.membership.StopRecovery(ctx, members.Operator(o.actor), tenant.OrgID, m.AccountID)
		}
	}
	return fault.Missing("The organisation has no member with this address.").About("email")
}
