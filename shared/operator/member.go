package operator

import (
	"context"
	"fmt"

	"recordbridge/shared/account"
	"recordbridge/shared/account/members"
	"recordbridge/shared/fault"
	"recordbridge/shared/mailtext"
	"recordbridge/shared/org"
)

// Members changes who is a member of an organisation, and writes its audit rows (members.Service).
type Members interface {
	Invite(ctx context.Context, by members.By, orgID, email string, role account.Role) (account.Invitation, error)
	// Recover begins the recovery of an owner's account, and StopRecovery stops it.
	Recover(ctx context.Context, by members.By, orgID, email, reason string) (account.Recovery, error)
	StopRecovery(ctx context.Context, by members.By, orgID, accountID string) error
	// List lists an organisation's members.
	List(ctx context.Context, orgID string) ([]members.Member, error)
	// Tell mails a message to every member and to other addresses.
	Tell(ctx context.Context, orgID string, others []string, m mailtext.Message) error
}

// InviteOwner invites an organisation's first owner, or another one, by e-mail; what makes the invitation work is in that alone. Errors
// are fault.Invalid, fault.NotFound, fault.Conflict and fault.Unavailable.
func (o Organisations) InviteOwner(ctx context.Context, tenant org.Tenant, email string) (account.Invitation, error) {
	if err := o.checkOwner(ctx, tenant); err != nil {
		return account.Invitation{}, err
	}
	return o.deps.Members.Invite(ctx, members.Operator(o.deps.Actor), tenant.OrgID, email, account.Owner)
}

// Recover begins the recovery of an owner's account that has lost its second factors: they go three days later, unless the account or
// another owner stops it. Errors are fault.Invalid, fault.NotFound and fault.Conflict.
func (o Organisations) Recover(ctx context.Context, tenant org.Tenant, email, reason string) (account.Recovery, error) {
	if err := o.checkOwner(ctx, tenant); err != nil {
		return account.Recovery{}, err
	}
	return o.deps.Members.Recover(ctx, members.Operator(o.deps.Actor), tenant.OrgID, email, reason)
}

// StopRecovery stops the recovery of an owner's account. Errors are fault.NotFound and fault.Conflict.
func (o Organisations) StopRecovery(ctx context.Context, tenant org.Tenant, email string) error {
	all, err := o.deps.Members.List(ctx, tenant.OrgID)
	if err != nil {
		return fmt.Errorf("list members: %w", err)
	}
	for _, m := range all {
		if account.Fold(m.Email) == account.Fold(email) {
			return o.deps.Members.StopRecovery(ctx, members.Operator(o.deps.Actor), tenant.OrgID, m.AccountID)
		}
	}
	return fault.Missing("The organisation has no member of this address.").About("email")
}
