package seed

import (
	"context"
	"fmt"
	"strings"
	"time"

	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

// OwnerEmail is the email address of the first organisation's owner. Codes sent to this email address appear in the
// console's mailbox.
const OwnerEmail = "owner@alder.example"

// Owner adds an owner to an organisation as a person would, by creating an account and accepting an invitation.
func Owner(ctx context.Context, service members.Service, accounts store.Accounts, orgID string) error {
	owner := account.Account{ID: ids.Random(), Email: OwnerEmail, Epoch: 1, CreatedAt: time.Now()}
	if err := accounts.CreateAccount(ctx, owner); err != nil {
		return fmt.Errorf("seed the owner: %w", err)
	}
	mailbox := &reader{}
	service.Mailer = mailbox
	if _, err := service.Invite(ctx, members.Operator("runner"), orgID, OwnerEmail, account.Owner); err != nil {
		return fmt.Errorf("invite the owner: %w", err)
	}
	_, link, _ := strings.Cut(mailbox.text, "#/invitation/")
	token, _, _ := strings.Cut(link, "\n")
	if _, err := service.Accept(ctx, owner.ID, secret.New(token)); err != nil {
		return fmt.Errorf("accept for the owner: %w", err)
	}
	return nil
}

// reader receives the owner's mail during seeding, before the console exists.
type reader struct{ text string }

// Send implements verification.Mailer.
func (r *reader) Send(_ context.Context, _ []string, _, text, _ string) error {
	r.text = text
	return nil
}
