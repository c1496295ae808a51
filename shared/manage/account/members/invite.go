package members

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/freemail"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/platform/mailtext"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	invitationLife = 7 * 24 * time.Hour
	maxInvitations = 50
	mailTime       = 6 * time.Second
)

// Invite invites the owner of an email address to become a member. The invitation secret appears only in the email.
func (d Service) Invite(ctx context.Context, by By, orgID, email string,
	role account.Role,
) (account.Invitation, error) {
	if err := by.may(role); err != nil {
		return account.Invitation{}, err
	}
	to, err := verification.ParseAddress(email)
	if err != nil {
		return account.Invitation{}, err
	}
	if freemail.Is(to.Domain()) {
		return account.Invitation{}, freemail.Refused()
	}
	if err = d.invitable(ctx, orgID, to.String()); err != nil {
		return account.Invitation{}, err
	}
	host, err := d.Rows.Organisation(ctx, org.Tenant{Mode: org.Live, OrgID: orgID})
	if err != nil {
		return account.Invitation{}, fmt.Errorf("read organisation: %w", err)
	}
	if err = d.count(ctx, by, host, to.String()); err != nil {
		return account.Invitation{}, err
	}
	value, err := account.NewToken(d.Random)
	if err != nil {
		return account.Invitation{}, fmt.Errorf("make invitation: %w", err)
	}
	now := d.Now()
	made := account.Invitation{
		ID: d.NewID(), OrgID: orgID, Email: to.String(), Role: role, SecretHash: account.Hash(value), InvitedBy: by.AccountID,
		CreatedAt: now, ExpiresAt: now.Add(invitationLife), Rev: 1,
	}
	if err := d.Rows.CreateInvitation(ctx, made); err != nil {
		return account.Invitation{}, fmt.Errorf("store invitation: %w", err)
	}
	if err := d.mail(ctx, made, invitation(d.Dashboard, host.Name, made, tokenOf(made, value))); err != nil {
		return account.Invitation{}, errors.Join(err, d.Rows.RemoveInvitation(context.WithoutCancel(ctx), made))
	}
	return made, d.record(ctx, by, orgID, "member.invited", made.ID, roleChange("", role))
}

// count counts an invitation email towards the limits, even if the invitation is later withdrawn. An operator's
// invitations are not limited.
func (d Service) count(ctx context.Context, by By, host org.Organisation, to string) error {
	if by.AccountID == "" {
		return nil
	}
	from := maillimit.From{Account: by.AccountID, Organisation: host.MailSender()}
	if err := d.Limits.Take(ctx, maillimit.Mail{Purpose: maillimit.Invitation, From: from, To: to}); err != nil {
		return fmt.Errorf("count invitation: %w", err)
	}
	return nil
}

// invitable returns nil if an address can be invited. Expired invitations do not count.
func (d Service) invitable(ctx context.Context, orgID, email string) error {
	members, err := d.List(ctx, orgID)
	if err != nil {
		return err
	}
	for _, m := range members {
		if account.Fold(m.Email) == account.Fold(email) {
			return conflict("This address already belongs to a member.")
		}
	}
	invited, err := d.Rows.Invitations(ctx, orgID)
	if err != nil {
		return fmt.Errorf("list invitations: %w", err)
	}
	open := 0
	for _, i := range invited {
		switch {
		case !d.Now().Before(i.ExpiresAt):
			if err := d.Rows.RemoveInvitation(ctx, i); err != nil && !errors.Is(err, fault.Conflict) {
				return fmt.Errorf("remove invitation: %w", err)
			}
		case account.Fold(i.Email) == account.Fold(email):
			return conflict("This address has already been invited. Withdraw that invitation to send another one.")
		default:
			open++
		}
	}
	if open >= maxInvitations || len(members) >= account.MaxMembers {
		return conflict(fmt.Sprintf("An organisation can have at most %d members and %d open "+
			"invitations.", account.MaxMembers,
			maxInvitations))
	}
	return nil
}

// Invitations returns an organisation's invitations that can still be accepted.
func (d Service) Invitations(ctx context.Context, orgID string) ([]account.Invitation, error) {
	all, err := d.Rows.Invitations(ctx, orgID)
	if err != nil {
		return nil, fmt.Errorf("list invitations: %w", err)
	}
	open := make([]account.Invitation, 0, len(all))
	for _, i := range all {
		if d.Now().Before(i.ExpiresAt) {
			open = append(open, i)
		}
	}
	return open, nil
}

// Withdraw withdraws an invitation to an organisation.
func (d Service) Withdraw(ctx context.Context, by By, orgID, id string) error {
	found, err := d.Rows.Invitation(ctx, orgID, id)
	if errors.Is(err, fault.NotFound) {
		return fault.Missing("Invitation not found.").Because(err)
	}
	if err != nil {
		return fmt.Errorf("read invitation: %w", err)
	}
	if err := by.may(found.Role); err != nil {
		return err
	}
	if err := d.Rows.RemoveInvitation(ctx, found); err != nil {
		return fmt.Errorf("remove invitation: %w", err)
	}
	return d.record(ctx, by, orgID, "invitation.withdrawn", id, roleChange(found.Role, ""))
}

// Accept makes an account a member, using the token from the invitation email. The account must have the invited
// address, and the inviter must still be permitted to invite members.
func (d Service) Accept(ctx context.Context, accountID string, token secret.Text) (account.Membership, error) {
	unknown := fault.Missing("This invitation is no longer valid. Ask for another one.")
	orgID, id, value, ok := readToken(token)
	if !ok {
		return account.Membership{}, unknown
	}
	found, err := d.Rows.Invitation(ctx, orgID, id)
	if errors.Is(err, fault.NotFound) {
		return account.Membership{}, unknown.Because(err)
	}
	if err != nil {
		return account.Membership{}, fmt.Errorf("read invitation: %w", err)
	}
	right := secret.New(found.SecretHash).Equal(secret.New(account.Hash(value)))
	if !right || !d.Now().Before(found.ExpiresAt) {
		return account.Membership{}, unknown
	}
	guest, err := d.Rows.Account(ctx, accountID)
	if err != nil {
		return account.Membership{}, fmt.Errorf("read account: %w", err)
	}
	if account.Fold(guest.Email) != account.Fold(found.Email) {
		return account.Membership{}, fault.New(fault.Forbidden, fault.CodeForbidden,
			"This invitation is for another address. Sign in with that address.")
	}
	if err := d.checkInviter(ctx, found); err != nil {
		return account.Membership{}, err
	}
	return d.join(ctx, guest, found)
}

// checkInviter returns nil if the inviter is still permitted to invite members.
func (d Service) checkInviter(ctx context.Context, i account.Invitation) error {
	if i.InvitedBy == "" {
		return nil
	}
	host, err := d.Rows.Membership(ctx, i.OrgID, i.InvitedBy)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return fmt.Errorf("read membership: %w", err)
	}
	if err != nil || !host.Role.May(i.Role.Assign()) {
		return fault.Missing("This invitation is no longer valid. Ask for another one.").Because(err)
	}
	return nil
}

func (d Service) join(ctx context.Context, guest account.Account, i account.Invitation) (account.Membership, error) {
	_, err := d.Rows.Membership(ctx, i.OrgID, guest.ID)
	if err == nil {
		return account.Membership{}, conflict("You are already a member of this organisation.")
	}
	if !errors.Is(err, fault.NotFound) {
		return account.Membership{}, fmt.Errorf("read membership: %w", err)
	}
	if err = d.hasRoom(ctx, guest.ID); err != nil {
		return account.Membership{}, err
	}
	domain := ""
	if i.Role == account.Owner {
		if domain, err = d.unclaimed(ctx, guest); err != nil {
			return account.Membership{}, err
		}
	}
	m := account.Membership{OrgID: i.OrgID, AccountID: guest.ID, Role: i.Role, Since: d.Now(), Rev: 1}
	if err := d.Rows.AcceptInvitation(ctx, i, m, domain); err != nil {
		return account.Membership{}, fmt.Errorf("accept invitation: %w", err)
	}
	return m, d.record(ctx, By{Actor: account.Actor(guest.ID), AccountID: guest.ID, Role: i.Role}, i.OrgID,
		"member.joined", guest.ID, roleChange("", m.Role))
}

// unclaimed returns the domain of an account's email address, or "" if an organisation has claimed it.
func (d Service) unclaimed(ctx context.Context, a account.Account) (string, error) {
	at, err := verification.ParseAddress(a.Email)
	if err != nil {
		return "", err
	}
	_, err = d.Rows.Domain(ctx, at.Domain())
	if errors.Is(err, fault.NotFound) {
		return at.Domain(), nil
	}
	if err != nil {
		return "", fmt.Errorf("read mail domain: %w", err)
	}
	return "", nil
}

func (d Service) mail(ctx context.Context, i account.Invitation, l mailtext.Message) error {
	if d.Mailer == nil {
		return fault.New(fault.Unavailable, fault.CodeUnavailable, "This service is not set up to send e-mail.")
	}
	ctx, cancel := context.WithTimeout(ctx, mailTime)
	defer cancel()
	if err := d.Mailer.Send(ctx, []string{i.Email}, l.Subject, l.Text(), l.HTML()); err != nil {
		return fault.New(fault.Unavailable, fault.CodeUnavailable,
			"The invitation could not be sent. Please try again in a minute.").Because(err)
	}
	return nil
}

func invitation(dashboard, host string, i account.Invitation, token string) mailtext.Message {
	name := mailtext.Plain(host)
	return mailtext.Message{
		Language: "en", Subject: "Recordbridge: invitation from " + name,
		Opening: []string{name + " invites you to join its dashboard."},
		Facts: []mailtext.Fact{
			{Name: "Role", Value: string(i.Role)},
			{Name: "Address", Value: i.Email},
			{Name: "Expires", Value: i.ExpiresAt.UTC().Format("2006-01-02 15:04 UTC")},
		},
		Link: mailtext.Link{Label: "Accept", Address: dashboard + "#/invitation/" + token},
		Closing: []string{"To accept the invitation, sign in with this address. The invitation works once. If you didn't " +
			"expect an invitation, you can ignore this email."},
	}
}

// tokenOf returns the token that identifies an invitation in its email. It encodes the organisation ID, the invitation
// ID and the secret.
func tokenOf(i account.Invitation, value secret.Text) string {
	orgID, _ := uuid.Parse(i.OrgID)
	id, _ := uuid.Parse(i.ID)
	return base64.RawURLEncoding.EncodeToString(append(orgID[:], id[:]...)) + value.Reveal()
}

// places is the number of characters at the start of a token that encode the two IDs.
const places = 43

func readToken(token secret.Text) (orgID, id string, value secret.Text, ok bool) {
	text := token.Reveal()
	if len(text) <= places {
		return "", "", secret.Text{}, false
	}
	bytes, err := base64.RawURLEncoding.DecodeString(text[:places])
	if err != nil {
		return "", "", secret.Text{}, false
	}
	return uuid.UUID(bytes[:16]).String(), uuid.UUID(bytes[16:]).String(), secret.New(text[places:]), true
}
