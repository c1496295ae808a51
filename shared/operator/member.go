package operator

import (
	"context"

	"recordbridge/shared/account"
	"recordbridge/shared/account/members"
	"recordbridge/shared/org"
)

// Members reads and changes who is a member of an organisation, and writes its audit rows (members.Service).
type Members interface {
	Invite(ctx context.Context, by members.By, orgID, email string, role account.Role) (account.Invitation, error)
	// OwnersSecured reports whether every owner has a second factor.
	OwnersSecured(ctx context.Context, orgID string) (bool, error)
}

// InviteOwner invites an organisation's first owner, or another one, by e-mail; what makes the invitation work is in that alone. Errors
// are fault.Invalid, fault.NotFound, fault.Conflict and fault.Unavailable.
func (o Organisations) InviteOwner(ctx context.Context, tenant org.Tenant, email string) (account.Invitation, error) {
	if err := o.checkOwner(ctx, tenant); err != nil {
		return account.Invitation{}, err
	}
	return o.deps.Members.Invite(ctx, members.Operator(o.deps.Actor), tenant.OrgID, email, account.Owner)
}
