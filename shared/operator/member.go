package operator

import (
	"context"

	"recordbridge/shared/account"
	"recordbridge/shared/account/members"
	"recordbridge/shared/mailtext"
	"recordbridge/shared/org"
)

// Members changes who is a member of an organisation, and writes its audit rows (members.Service).
type Members interface {
	Invite(ctx context.Context, by members.By, orgID, email string, role account.Role) (account.Invitation, error)
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
