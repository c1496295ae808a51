package members

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Found creates an organisation whose first owner is the given account. The first organisation founded from an email
// domain claims the domain. Once a domain is claimed, accounts at the domain need an invitation unless they already own
// an organisation there.
func (d Service) Found(ctx context.Context, accountID, name string) (org.Organisation, error) {
	name, err := org.ParseName(name)
	if err != nil {
		return org.Organisation{}, err
	}
	founder, err := d.Rows.Account(ctx, accountID)
	if err != nil {
		return org.Organisation{}, fmt.Errorf("read account: %w", err)
	}
	if err = d.hasRoom(ctx, accountID); err != nil {
		return org.Organisation{}, err
	}
	domain, err := d.claimable(ctx, founder)
	if err != nil {
		return org.Organisation{}, err
	}
	now := d.Now()
	made := org.Organisation{
		ID: d.NewID(), Name: name, Plan: org.Free, Status: org.Active, LiveAccess: org.LiveNone,
		Emails:         []string{founder.Email},
		VerifiedEmails: []string{founder.Email}, FoundedBy: accountID, CreatedAt: now,
	}
	m := account.Membership{OrgID: made.ID, AccountID: accountID, Role: account.Owner, Since: now, Rev: 1}
	if err := d.Rows.Found(ctx, made, m, domain); err != nil {
		return org.Organisation{}, fmt.Errorf("store organisation: %w", err)
	}
	return made, d.record(ctx, By{Actor: account.Actor(accountID), AccountID: accountID, Role: account.Owner}, made.ID,
		"organisation.created", made.ID, audit.Change{Field: "name", New: made.Name, Old: ""})
}

// claimable returns the domain that an organisation claims through its founder. It returns "" if one of the founder's
// organisations has already claimed the domain.
func (d Service) claimable(ctx context.Context, founder account.Account) (string, error) {
	at, err := verification.ParseAddress(founder.Email)
	if err != nil {
		return "", err
	}
	holder, err := d.Rows.Domain(ctx, at.Domain())
	if errors.Is(err, fault.NotFound) {
		return at.Domain(), nil
	}
	if err != nil {
		return "", fmt.Errorf("read mail domain: %w", err)
	}
	m, err := d.Rows.Membership(ctx, holder, founder.ID)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return "", fmt.Errorf("read membership: %w", err)
	}
	if err != nil || m.Role != account.Owner {
		return "", conflict("Your e-mail domain already has an organisation. Ask one of its owners to invite you.")
	}
	return "", nil
}

// hasRoom returns an error if the account already belongs to the maximum number of organisations.
func (d Service) hasRoom(ctx context.Context, accountID string) error {
	all, err := d.Rows.Memberships(ctx, accountID)
	if err != nil {
		return fmt.Errorf("list memberships: %w", err)
	}
	if len(all) >= account.MaxOrganisations {
		return conflict(fmt.Sprintf("An account can belong to at most %d organisations.", account.MaxOrganisations))
	}
	return nil
}
