// Package members changes the members of organisations and their roles. People become members by accepting an
// invitation or founding an organisation (docs/adr/0036-the-dashboard.md).
package members

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/version"
)

// Service changes the members of an organisation. Mailer is optional, and Limits is optional if only operators invite
// members. All other fields are required.
type Service struct {
	Rows      Rows
	Audit     Audit
	Mailer    verification.Mailer // nil if this stack does not send email
	Limits    maillimit.Limiter   // limits on invitations; invitations by operators are exempt
	Dashboard string              // URL of the dashboard
	Random    io.Reader
	NewID     ids.Source
	Now       func() time.Time
}

// Rows stores memberships and invitations. store.Accounts implements it.
type Rows interface {
	account.Rows
	account.RecoveryRows
	// Organisation reads an organisation. It returns fault.NotFound if the organisation does not exist.
	Organisation(ctx context.Context, tenant org.Tenant) (org.Organisation, error)
	// Members and Invitations return an organisation's members and invitations. Memberships returns an account's
	// memberships.
	Members(ctx context.Context, orgID string) ([]account.Membership, error)
	Invitations(ctx context.Context, orgID string) ([]account.Invitation, error)
	Memberships(ctx context.Context, accountID string) ([]account.Membership, error)
	// SaveMembership stores a membership; was is the account's former role. RemoveMembership removes a membership. Both
	// methods return fault.Conflict if the membership has changed since it was read, or if the organisation would have
	// no owner.
	SaveMembership(ctx context.Context, m account.Membership, was account.Role) error
	RemoveMembership(ctx context.Context, m account.Membership) error
	// CreateInvitation stores an invitation. Invitation returns an invitation, or fault.NotFound if it does not exist.
	// RemoveInvitation removes an invitation. It returns fault.Conflict if the invitation has changed since it was
	// read.
	CreateInvitation(ctx context.Context, i account.Invitation) error
	Invitation(ctx context.Context, orgID, id string) (account.Invitation, error)
	RemoveInvitation(ctx context.Context, i account.Invitation) error
	// AcceptInvitation deletes an invitation and creates a member. If domain is not empty, it is claimed for the
	// organisation. AcceptInvitation returns fault.Conflict if a row has changed in the meantime.
	AcceptInvitation(ctx context.Context, i account.Invitation, m account.Membership, domain string) error
	// Domain returns the ID of the organisation that has claimed an email domain. It returns fault.NotFound if the
	// domain is unclaimed.
	Domain(ctx context.Context, name string) (orgID string, err error)
	// Found stores an organisation with its first owner. It returns fault.Conflict if the organisation already exists
	// or the domain belongs to another organisation.
	Found(ctx context.Context, o org.Organisation, m account.Membership, domain string) error
}

// Audit records changes and their actors. audit.Log implements it.
type Audit interface {
	Append(ctx context.Context, row audit.Row) error
}

// By identifies the actor of a change.
type By struct {
	Actor     string       // name recorded in audit rows
	AccountID string       // ID of the actor's account; empty for an operator
	Role      account.Role // role in the organisation; operators have the permissions of owners
}

// Operator returns a By for an operator, who has an owner's permissions.
func Operator(actor string) By {
	return By{Actor: actor, AccountID: "", Role: account.Owner}
}

// may returns nil if the actor may grant and remove all given roles.
func (b By) may(roles ...account.Role) error {
	for _, role := range roles {
		if !b.Role.May(role.Assign()) {
			return fault.New(fault.Forbidden, fault.CodeForbidden, "Only an owner can grant the owner role or change "+
				"an owner.")
		}
	}
	return nil
}

// Member is a membership with the account's email address.
type Member struct {
	account.Membership

	Email      string
	RecoversAt time.Time // when an operator's recovery of the account takes effect; zero if there is no recovery
}

// readers is the number of accounts that are read concurrently.
const readers = 8

// List returns all members of an organisation.
func (d Service) List(ctx context.Context, orgID string) ([]Member, error) {
	found, err := d.Rows.Members(ctx, orgID)
	if err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	all := make([]Member, len(found))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, m := range found {
		group.Go(func() error {
			a, err := d.Rows.Account(ctx, m.AccountID)
			if err != nil {
				return fmt.Errorf("read account: %w", err)
			}
			all[i] = Member{Membership: m, Email: a.Email}
			if m.Role != account.Owner {
				return nil
			}
			r, err := account.OpenRecovery(ctx, d.Rows, m.AccountID)
			all[i].RecoversAt = r.AppliesAt
			return err
		})
	}
	return all, group.Wait() //nolint:wrapcheck // its functions have wrapped it
}

// OwnersSecured reports whether every owner of an organisation has a second factor, so no owner can sign in with an
// emailed code alone.
func (d Service) OwnersSecured(ctx context.Context, orgID string) (bool, error) {
	all, err := d.Rows.Members(ctx, orgID)
	if err != nil {
		return false, fmt.Errorf("list members: %w", err)
	}
	isAny := false
	for _, m := range all {
		if m.Role != account.Owner {
			continue
		}
		owner, err := d.Rows.Account(ctx, m.AccountID)
		if err != nil {
			return false, fmt.Errorf("read account: %w", err)
		}
		if !owner.HasSecondFactor() {
			return false, nil
		}
		isAny = true
	}
	return isAny, nil
}

// RoleChange gives a member a role.
type RoleChange struct {
	AccountID string
	Role      account.Role
	From      version.Match // versions of the membership that may be changed
}

// Change changes the role of a member. It returns fault.Conflict if the membership's version doesn't match.
func (d Service) Change(ctx context.Context, by By, orgID string, to RoleChange) error {
	var was account.Role
	err := retry.OnConflict(ctx, retry.Tries, func() (err error) {
		was, err = d.assign(ctx, by, orgID, to)
		return err
	})
	if err != nil || was == to.Role {
		return err
	}
	return d.record(ctx, by, orgID, "member.made_"+string(to.Role), to.AccountID, roleChange(was, to.Role))
}

// Remove ends a membership. The account loses access at its next request.
func (d Service) Remove(ctx context.Context, by By, orgID, accountID string) error {
	m, err := d.member(ctx, orgID, accountID)
	if err != nil {
		return err
	}
	if err := by.may(m.Role); err != nil {
		return err
	}
	if m.Role == account.Owner {
		if err := d.leavesOwner(ctx, m); err != nil {
			return err
		}
	}
	if err := d.Rows.RemoveMembership(ctx, m); err != nil {
		return fmt.Errorf("remove membership: %w", err)
	}
	return d.record(ctx, by, orgID, "member.removed", accountID, roleChange(m.Role, ""))
}

// assign stores a member's role and returns the previous role.
func (d Service) assign(ctx context.Context, by By, orgID string, to RoleChange) (account.Role, error) {
	m, err := d.member(ctx, orgID, to.AccountID)
	if err != nil {
		return "", err
	}
	if err := by.may(m.Role, to.Role); err != nil {
		return "", err
	}
	if err := to.From.Check("role", m.Version()); err != nil {
		return "", err
	}
	was := m.Role
	if was == to.Role {
		return was, nil
	}
	if was == account.Owner {
		if err := d.leavesOwner(ctx, m); err != nil {
			return "", err
		}
	}
	m.Role = to.Role
	if err := d.Rows.SaveMembership(ctx, m, was); err != nil {
		return "", fmt.Errorf("save membership: %w", err)
	}
	return was, nil
}

func (d Service) member(ctx context.Context, orgID, accountID string) (account.Membership, error) {
	m, err := d.Rows.Membership(ctx, orgID, accountID)
	if errors.Is(err, fault.NotFound) {
		return account.Membership{}, fault.Missing("Member not found.").Because(err)
	}
	if err != nil {
		return account.Membership{}, fmt.Errorf("read membership: %w", err)
	}
	return m, nil
}

// leavesOwner returns an error that explains the problem if a change would leave the organisation without an owner. The
// store would reject the change anyway.
func (d Service) leavesOwner(ctx context.Context, leaving account.Membership) error {
	all, err := d.Rows.Members(ctx, leaving.OrgID)
	if err != nil {
		return fmt.Errorf("list members: %w", err)
	}
	for _, m := range all {
		if m.Role == account.Owner && m.AccountID != leaving.AccountID {
			return nil
		}
	}
	return conflict("The last owner must remain an owner. Make another member an owner first.")
}

// record writes the audit row for a completed change.
func (d Service) record(ctx context.Context, by By, orgID, action, target string, changes ...audit.Change) error {
	row := audit.Row{
		At: d.Now(), ID: d.NewID(), Tenant: org.Tenant{Mode: org.Live, OrgID: orgID}, Actor: by.Actor, Action: action,
		Target: target, Changes: changes,
	}
	if err := d.Audit.Append(ctx, row); err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	return nil
}

// roleChange describes a role's change in an audit row. An empty role means that there is no membership or invitation.
func roleChange(was, is account.Role) audit.Change {
	return audit.Change{Field: "role", New: string(is), Old: string(was)}
}

func conflict(public string) error { return fault.New(fault.Conflict, fault.CodeConflict, public) }
