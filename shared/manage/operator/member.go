package operator

import (
	"context"
	"fmt"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Members invites owners and recovers their accounts. Membership writes the audit rows.
type Members struct {
	rows       OrganisationReader
	membership Membership
	actor      string
}

// Membership changes an organisation's members and writes the audit rows of the changes (members.Service).
type Membership interface {
	Invite(ctx context.Context, by members.By, orgID, email string, role account.Role) (account.Invitation, error)
	// Recover starts the recovery of an owner's account, and StopRecovery stops it.
	Recover(ctx context.Context, by members.By, orgID, email, reason string) (account.Recovery, error)
	StopRecovery(ctx context.Context, by members.By, orgID, accountID string) error
	// List returns an organisation's members.
	List(ctx context.Context, orgID string) ([]members.Member, error)
}

// NewMembers returns a Members whose audit rows name actor.
func NewMembers(rows OrganisationReader, membership Membership, actor string) Members {
	return Members{rows: rows, membership: membership, actor: actor}
}

// InviteOwner invites an organisation's first or an additional owner by e-mail, which alone contains the invitation's
// secret. Errors are fault.Invalid, fault.NotFound, fault.Conflict and fault.Unavailable.
func (o Members) InviteOwner(ctx context.Context, tenant org.Tenant, email string) (account.Invitation, error) {
	if err := checkOwner(ctx, o.rows, tenant); err != nil {
		return account.Invitation{}, err
	}
	return o.membership.Invite(ctx, members.Operator(o.actor), tenant.OrgID, email, account.Owner)
}

// Recover starts the recovery of an owner's account that has lost its second factors: they are removed three days later
// unless the account or another owner stops it. Errors are fault.Invalid, fault.NotFound and fault.Conflict.
func (o Members) Recover(ctx context.Context, tenant org.Tenant, email, reason string) (account.Recovery, error) {
	if err := checkOwner(ctx, o.rows, tenant); err != nil {
		return account.Recovery{}, err
	}
	return o.membership.Recover(ctx, members.Operator(o.actor), tenant.OrgID, email, reason)
}

// StopRecovery stops the recovery of an owner's account. Errors are fault.NotFound and fault.Conflict.
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
	return fault.Missing("The organisation has no member of this address.").About("email")
}
