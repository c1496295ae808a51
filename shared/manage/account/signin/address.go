package signin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// restoreLife is the period during which the holder of the former address can revert a change of email address. The
// email address can't be changed again during this period, so an intruder can't use a second change to invalidate the
// owner's link.
const restoreLife = 72 * time.Hour

// addressFor returns the scope of codes that verify an account's new email address. The scope separates these codes
// from all others.
func addressFor(accountID string) org.Tenant { return org.Tenant{Mode: "dashboard", OrgID: accountID} }

// RequestAddressChange sends a code to the account's intended email address. It does not reveal whether another account
// uses that address.
func (d Addresses) RequestAddressChange(ctx context.Context, b Browser, s account.Session,
	email string,
) (verification.Sent, error) {
	to, err := corporate(email)
	if err != nil {
		return verification.Sent{}, err
	}
	a, err := d.accounts.Account(ctx, s.AccountID)
	if err != nil {
		return verification.Sent{}, fmt.Errorf("read account: %w", err)
	}
	if err := d.changeable(a); err != nil {
		return verification.Sent{}, err
	}
	return d.codes.Send(ctx, verification.Request{
		Tenant: addressFor(s.AccountID), Organisation: product, From: maillimit.From{Account: s.AccountID, Organisation: ""},
		Email:    to.String(),
		Language: "", Occasion: verification.NewAddress, Device: "", Network: b.Network,
	})
}

// ChangeAddress changes an account's email address to the address that received the code. The former address is
// notified first, and nothing changes if the notification fails. All other sessions end, and a new session replaces the
// current one.
func (d Addresses) ChangeAddress(ctx context.Context, b Browser, s account.Session, email, id,
	digits string,
) (SignedIn, error) {
	to, err := corporate(email)
	if err != nil {
		return SignedIn{}, err
	}
	if err = d.proveAddress(ctx, addressFor(s.AccountID), to, id, digits); err != nil {
		return SignedIn{}, err
	}
	a, err := d.accounts.Account(ctx, s.AccountID)
	if err != nil {
		return SignedIn{}, fmt.Errorf("read account: %w", err)
	}
	if err = d.changeable(a); err != nil {
		return SignedIn{}, err
	}
	if account.Fold(a.Email) == account.Fold(to.String()) {
		return SignedIn{}, fault.BadRequest("The account already has this address.").About("email")
	}
	value, err := account.NewToken(d.random)
	if err != nil {
		return SignedIn{}, fmt.Errorf("make token: %w", err)
	}
	now := d.now()
	a.Former = account.Former{Email: a.Email, TokenHash: account.Hash(value), ChangedAt: now, Until: now.Add(restoreLife)}
	if err := d.mail(ctx, a.Former.Email, addressChanges(d.dashboard, to.String(), a.ID+"."+value.Reveal(),
		a.Former.Until)); err != nil {
		return SignedIn{}, err
	}
	a.Email = to.String()
	a.Epoch++
	if err := d.accounts.MoveAccount(ctx, a); err != nil {
		if errors.Is(err, fault.Conflict) {
			return SignedIn{}, fault.New(fault.Conflict, fault.CodeConflict, "This address already has an "+
				"account.").Because(err)
		}
		return SignedIn{}, fmt.Errorf("move account: %w", err)
	}
	d.tell(ctx, a.Email, addressGiven(d.dashboard, now))
	if !b.Device.Empty() { // The device is remembered for the old address but not for the new one.
		if err := d.sessions.RememberDevice(ctx, deviceHash(b.Device, a.Email), now.Add(DeviceLife)); err != nil {
			return SignedIn{}, fmt.Errorf("know device: %w", err)
		}
	}
	return d.enter(ctx, a, b, false)
}

func (d Addresses) changeable(a account.Account) error {
	if d.now().Before(a.Former.Until) {
		return fault.New(fault.Conflict, fault.CodeConflict,
			"The address was changed within the last three days. Try again after that.")
	}
	return nil
}

// RestoreAddress reverts a change of email address for the holder of the link that was sent to the former address. All
// sessions end, which locks out the person who made the change. Passkeys, recovery codes and the authenticator app are
// removed if they were added since the change.
func (d Addresses) RestoreAddress(ctx context.Context, token secret.Text) error {
	const unknown = "This link is no longer valid."
	id, value, _ := strings.Cut(token.Reveal(), ".")
	id, ok := ids.ParseUUID(id)
	if !ok {
		return fault.Missing(unknown)
	}
	a, err := d.accounts.Account(ctx, id)
	if errors.Is(err, fault.NotFound) {
		return fault.Missing(unknown).Because(err)
	}
	if err != nil {
		return fmt.Errorf("read account: %w", err)
	}
	now := d.now()
	if !now.Before(a.Former.Until) || !secret.New(a.Former.TokenHash).Equal(secret.New(account.Hash(secret.New(value)))) {
		return fault.Missing(unknown)
	}
	left, since := a.Email, a.Former.ChangedAt
	a.Email, a.Former = a.Former.Email, account.Former{}
	a.Passkeys = slices.DeleteFunc(a.Passkeys, func(k account.Passkey) bool { return !k.CreatedAt.Before(since) })
	if !a.TOTP.Since.Before(since) {
		a.TOTP = account.TOTP{}
	}
	a.TOTP.Offer = nil
	a.Epoch++
	if err := d.recovery.dropCodesSince(ctx, a.ID, since); err != nil {
		return err
	}
	if err := d.accounts.MoveAccountBack(ctx, a, left); err != nil {
		return fmt.Errorf("move account back: %w", err)
	}
	d.tell(ctx, a.Email, addressBack(d.dashboard, now))
	return nil
}
