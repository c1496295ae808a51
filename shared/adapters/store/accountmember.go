package store

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/org"
)

// Membership implements account.Rows.
func (s Accounts) Membership(ctx context.Context, orgID, accountID string) (account.Membership, error) {
	row, err := get(ctx, s.DB, s.Table, membershipKey(accountID, orgID))
	if err != nil {
		return account.Membership{}, err
	}
	return membershipOf(orgID, accountID, row), nil
}

// Memberships implements signin.Accounts.
func (s Accounts) Memberships(ctx context.Context, accountID string) ([]account.Membership, error) {
	rows, err := list(ctx, s.DB, s.Table, membershipsPartition(accountID), organisationPrefix)
	all := make([]account.Membership, 0, len(rows))
	for _, row := range rows {
		all = append(all, membershipOf(strings.TrimPrefix(row.text("sk"), organisationPrefix), accountID, row))
	}
	return all, err
}

// Members implements members.Rows.
func (s Accounts) Members(ctx context.Context, orgID string) ([]account.Membership, error) {
	rows, err := list(ctx, s.DB, s.Table, membersPartition(orgID), memberPrefix)
	all := make([]account.Membership, 0, len(rows))
	for _, row := range rows {
		all = append(all, membershipOf(orgID, strings.TrimPrefix(row.text("sk"), memberPrefix), row))
	}
	return all, err
}

// SaveMembership implements members.Rows.
func (s Accounts) SaveMembership(ctx context.Context, m account.Membership, was account.Role) error {
	writes := []types.TransactWriteItem{
		putOver(s.Table, membershipItem(membershipKey(m.AccountID, m.OrgID), m), m.Rev),
		putOver(s.Table, membershipItem(memberKey(m.OrgID, m.AccountID), m), m.Rev),
	}
	switch {
	case m.Role == account.Owner && was != account.Owner:
		writes = append(writes, s.count(m.OrgID, 1, 0))
	case m.Role != account.Owner && was == account.Owner:
		writes = append(writes, s.count(m.OrgID, -1, 0))
	}
	return transact(ctx, s.DB, writes...)
}

// RemoveMembership implements members.Rows.
func (s Accounts) RemoveMembership(ctx context.Context, m account.Membership) error {
	owners := int64(0)
	if m.Role == account.Owner {
		owners = -1
	}
	return transact(ctx, s.DB, removal(s.Table, membershipKey(m.AccountID, m.OrgID), m.Rev),
		removal(s.Table, memberKey(m.OrgID, m.AccountID), m.Rev), s.count(m.OrgID, owners, -1))
}

// Invitations implements members.Rows.
func (s Accounts) Invitations(ctx context.Context, orgID string) ([]account.Invitation, error) {
	rows, err := list(ctx, s.DB, s.Table, membersPartition(orgID), invitationPrefix)
	all := make([]account.Invitation, 0, len(rows))
	for _, row := range rows {
		all = append(all, invitationOf(orgID, strings.TrimPrefix(row.text("sk"), invitationPrefix), row))
	}
	return all, err
}

// Invitation implements members.Rows.
func (s Accounts) Invitation(ctx context.Context, orgID, id string) (account.Invitation, error) {
	row, err := get(ctx, s.DB, s.Table, invitationKey(orgID, id))
	if err != nil {
		return account.Invitation{}, err
	}
	return invitationOf(orgID, id, row), nil
}

// CreateInvitation implements members.Rows.
func (s Accounts) CreateInvitation(ctx context.Context, i account.Invitation) error {
	row := newItem(invitationKey(i.OrgID, i.ID))
	row.setText("email", i.Email)
	row.setText("role", string(i.Role))
	row.setText("secret_hash", i.SecretHash)
	row.setText("invited_by", i.InvitedBy)
	row.setTime("created_at", i.CreatedAt)
	row.setTime("expires_at", i.ExpiresAt)
	row.setInt("rev", 1)
	return create(ctx, s.DB, s.Table, row)
}

// RemoveInvitation implements members.Rows.
func (s Accounts) RemoveInvitation(ctx context.Context, i account.Invitation) error {
	return transact(ctx, s.DB, removal(s.Table, invitationKey(i.OrgID, i.ID), i.Rev))
}

// AcceptInvitation implements members.Rows.
func (s Accounts) AcceptInvitation(ctx context.Context, i account.Invitation, m account.Membership,
	domain string,
) error {
	writes := append(s.join(m), removal(s.Table, invitationKey(i.OrgID, i.ID), i.Rev))
	if domain != "" {
		writes = append(writes, s.claim(domain, m.OrgID))
	}
	return transact(ctx, s.DB, writes...)
}

// Domain implements members.Rows.
func (s Accounts) Domain(ctx context.Context, name string) (string, error) {
	row, err := get(ctx, s.DB, s.Table, domainKey(name))
	return row.text("org_id"), err
}

// Found implements members.Rows.
func (s Accounts) Found(ctx context.Context, o org.Organisation, m account.Membership, domain string) error {
	var writes []types.TransactWriteItem
	for _, tenant := range o.Tenants() {
		row, err := organisationItem(tenant, o)
		if err != nil {
			return err
		}
		row.setInt("rev", 1)
		writes = append(writes, putNew(s.Table, row), putNew(s.Table, newItem(directoryKey(tenant))))
	}
	writes = append(writes, s.join(m)...)
	if domain != "" {
		writes = append(writes, s.claim(domain, o.ID))
	}
	return transact(ctx, s.DB, writes...)
}

// Organisation implements members.Rows.
func (s Accounts) Organisation(ctx context.Context, tenant org.Tenant) (org.Organisation, error) {
	return Organisations(s).Organisation(ctx, tenant)
}

func (s Accounts) join(m account.Membership) []types.TransactWriteItem {
	owners := int64(0)
	if m.Role == account.Owner {
		owners = 1
	}
	at, of := membershipItem(membershipKey(m.AccountID, m.OrgID), m), membershipItem(memberKey(m.OrgID, m.AccountID), m)
	at.setInt("rev", 1)
	of.setInt("rev", 1)
	return []types.TransactWriteItem{putNew(s.Table, at), putNew(s.Table, of), s.count(m.OrgID, owners, 1)}
}

// count updates an organisation's owner and member counts. The last owner can't leave, even if several owners leave
// concurrently.
func (s Accounts) count(orgID string, owners, members int64) types.TransactWriteItem {
	u := change{
		table: s.Table, key: membersKey(orgID), set: "ADD owners :owners, members :members",
		when: "attribute_not_exists(pk) OR members <= :most", values: item{
			":owners": number(owners), ":members": number(members), ":most": number(account.MaxMembers - members),
		},
	}
	if owners < 0 {
		u.when = "owners > :one"
		u.values[":one"] = number(1)
		delete(u.values, ":most")
	}
	return u.write()
}

// claim assigns an email domain to an organisation. The transaction fails if the domain belongs to another
// organisation.
func (s Accounts) claim(domain, orgID string) types.TransactWriteItem {
	row := newItem(domainKey(domain))
	row.setText("org_id", orgID)
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &s.Table, Item: row, ConditionExpression: aws.String(absent + " OR org_id = :org"),
		ExpressionAttributeValues: item{":org": text(orgID)},
	}}
}

func membershipItem(k key, m account.Membership) item {
	row := newItem(k)
	row.setText("role", string(m.Role))
	row.setTime("since", m.Since)
	return row
}

func membershipOf(orgID, accountID string, row item) account.Membership {
	return account.Membership{
		OrgID: orgID, AccountID: accountID, Role: account.Role(row.text("role")), Since: row.time("since"),
		Rev: row.int("rev"),
	}
}

func invitationOf(orgID, id string, row item) account.Invitation {
	return account.Invitation{
		ID: id, OrgID: orgID, Email: row.text("email"), Role: account.Role(row.text("role")),
		SecretHash: row.text("secret_hash"),
		InvitedBy:  row.text("invited_by"), CreatedAt: row.time("created_at"), ExpiresAt: row.time("expires_at"),
		Rev: row.int("rev"),
	}
}
