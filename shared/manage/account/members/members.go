// Package members owns the members of an organisation, their roles, and the ways to become one: by invitation or by
// founding the organisation (docs/adr/0036-the-dashboard.md). It depends on no HTTP, no AWS and no store.
package members

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Service changes members. Every field is required except Mailer; Limits is not needed if only operators invite.
type Service struct {
	Rows      Rows
	Audit     Audit
	Mailer    verification.Mailer // nil: this stack sends no e-mails
	Limits    maillimit.Limiter   // of invitations; an operator's do not count
	Dashboard string              // its URL
	Random    io.Reader
	NewID     ids.Source
	Now       func() time.Time
}

// Rows stores memberships and invitations (store.Accounts).
type Rows interface {
	account.Rows
	account.RecoveryRows
	// Organisation reads an organisation; fault.NotFound.
	Organisation(ctx context.Context, tenant org.Tenant) (org.Organisation, error)
	// Members and Invitations return an organisation's members and invitations; Memberships returns an account's
	// memberships.
	Members(ctx context.Context, orgID string) ([]account.Membership, error)
	Invitations(ctx context.Context, orgID string) ([]account.Invitation, error)
	Memberships(ctx context.Context, accountID string) ([]account.Membership, error)
	// SaveMembership stores a membership, whose former role is was, and RemoveMembership removes one. Both return
	// fault.Conflict if the membership changed since it was read, or if no owner would remain.
	SaveMembership(ctx context.Context, m account.Membership, was account.Role) error
	RemoveMembership(ctx context.Context, m account.Membership) error
	// CreateInvitation stores an invitation; Invitation reads one or returns fault.NotFound. RemoveInvitation removes one
	// if it is unchanged since it was read; else fault.Conflict.
	CreateInvitation(ctx context.Context, i account.Invitation) error
	Invitation(ctx context.Context, orgID, id string) (account.Invitation, error)
	RemoveInvitation(ctx context.Context, i account.Invitation) error
	// AcceptInvitation consumes an invitation and creates a member, and claims a mail domain for the organisation if one
	// is given; fault.Conflict.
	AcceptInvitation(ctx context.Context, i account.Invitation, m account.Membership, domain string) error
	// Domain returns the organisation that has claimed a mail domain; fault.NotFound.
	Domain(ctx context.Context, name string) (orgID string, err error)
	// Found stores an organisation with its first owner; fault.Conflict.
	Found(ctx context.Context, o org.Organisation, m account.Membership, domain string) error
}

// Audit records changes and their actors (store.Audit).
type Audit interface {
	Append(ctx context.Context, tenant org.Tenant, at time.Time, id, actor, action, target string) error
}

// By identifies the actor of a change.
type By struct {
	Actor     string       // in audit rows
	AccountID string       // empty for an operator
	Role      account.Role // in the organisation; operators count as owners
}

// Operator returns the actor for an operator, who has an owner's permissions.
func Operator(actor string) By {
	return By{Actor: actor, AccountID: "", Role: account.Owner}
}

// may returns nil if the actor may grant and remove these roles.
func (b By) may(roles ...account.Role) error {
	for _, role := range roles {
		if !b.Role.May(role.Assign()) {
			return fault.New(fault.Forbidden, fault.CodeForbidden, "Only an owner can make somebody an owner, or change one.")
		}
	}
	return nil
}

// Member is a membership with the address of its account.
type Member struct {
	account.Membership

	Email      string
	RecoversAt time.Time // when an operator's recovery of an owner's account takes effect; zero for none
}

// readers is the number of accounts that are read concurrently.
const readers = 8

// List returns an organisation's members.
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

// OwnersSecured reports whether every owner of an organisation has a second factor, so that a code by e-mail
// alone signs none of them in.
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

// Change changes a member's role.
func (d Service) Change(ctx context.Context, by By, orgID, accountID string, role account.Role) error {
	m, err := d.member(ctx, orgID, accountID)
	if err != nil {
		return err
	}
	if err := by.may(m.Role, role); err != nil {
		return err
	}
	was := m.Role
	if was == role {
		return nil
	}
	if was == account.Owner {
		if err := d.leavesOwner(ctx, m); err != nil {
			return err
		}
	}
	m.Role = role
	if err := d.Rows.SaveMembership(ctx, m, was); err != nil {
		return fmt.Errorf("save membership: %w", err)
	}
	return d.record(ctx, by, orgID, "member.made_"+string(role), accountID)
}

// Remove ends a membership, effective from the account's next request.
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
	return d.record(ctx, by, orgID, "member.removed", accountID)
}

func (d Service) member(ctx context.Context, orgID, accountID string) (account.Membership, error) {
	m, err := d.Rows.Membership(ctx, orgID, accountID)
	if errors.Is(err, fault.NotFound) {
		return account.Membership{}, fault.Missing("There is no such member.").Because(err)
	}
	if err != nil {
		return account.Membership{}, fmt.Errorf("read membership: %w", err)
	}
	return m, nil
}

// leavesOwner explains a change that the store would refuse anyway because it leaves the organisation without an owner.
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
	return conflict("The last owner has to stay one. Make somebody else an owner first.")
}

// record writes the audit row of a completed change.
func (d Service) record(ctx context.Context, by By, orgID, action, target string) error {
	tenant := org.Tenant{Mode: org.Live, OrgID: orgID}
	if err := d.Audit.Append(ctx, tenant, d.Now(), d.NewID(), by.Actor, action, target); err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	return nil
}

func conflict(public string) error { return fault.New(fault.Conflict, fault.CodeConflict, public) }
