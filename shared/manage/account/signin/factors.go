package signin

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/totp"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	maxPasskeys = 10
	maxName     = 60 // maximum length of a passkey's name, in characters
)

// Offer holds a new authenticator secret, which the dashboard shows once.
type Offer struct {
	Secret secret.Text // secret to type into the app
	URI    secret.Text // URI to show as a QR code
}

// OfferTOTP creates a secret for an authenticator app. The current authenticator stays valid until a code confirms the
// new secret.
func (d TOTPFactor) OfferTOTP(ctx context.Context, s account.Session) (Offer, error) {
	key := make([]byte, totp.Size)
	if _, err := io.ReadFull(d.random, key); err != nil {
		return Offer{}, fmt.Errorf("random secret: %w", err)
	}
	a, err := d.accounts.Account(ctx, s.AccountID)
	if err != nil {
		return Offer{}, fmt.Errorf("read account: %w", err)
	}
	if a.TOTP.Offer, err = d.vault.Seal(ctx, org.Tenant{}, bindingOf(a), key); err != nil {
		return Offer{}, fmt.Errorf("seal secret: %w", err)
	}
	if err := d.accounts.SaveAccount(ctx, a); err != nil {
		return Offer{}, fmt.Errorf("save account: %w", err)
	}
	return Offer{Secret: secret.New(totp.Base32(key)), URI: secret.New(totp.URI(key, product, a.Email))}, nil
}

// ConfirmTOTP activates the offered authenticator secret if digits is a valid code. All other sessions end, and a new
// session replaces the current one.
func (d TOTPFactor) ConfirmTOTP(ctx context.Context, b Browser, s account.Session, digits string) (SignedIn, error) {
	return d.recovery.addFactor(ctx, b, s, generatorFactor(), func(a *account.Account) error {
		if a.TOTP.Offer == nil {
			return fault.BadRequest("Request a secret for the authenticator app first.")
		}
		step, err := d.matchTOTP(ctx, *a, a.TOTP.Offer, 0, digits)
		a.TOTP = account.TOTP{Sealed: a.TOTP.Offer, Since: d.now(), Step: step, Offer: nil}
		return err
	})
}

// RemoveTOTP removes an account's authenticator app.
func (d TOTPFactor) RemoveTOTP(ctx context.Context, b Browser, s account.Session) (SignedIn, error) {
	a, err := d.change(ctx, s.AccountID, func(a *account.Account) error {
		if a.TOTP.Sealed == nil {
			return fault.Missing("The account has no authenticator app.")
		}
		a.TOTP = account.TOTP{Sealed: nil, Since: a.TOTP.Since, Step: a.TOTP.Step, Offer: nil}
		return nil
	})
	if err != nil {
		return SignedIn{}, err
	}
	d.tell(ctx, a.Email, factorRemoved(d.dashboard, generatorFactor(), d.now()))
	return d.enter(ctx, a, b, false)
}

// RegisterPasskey begins the registration of a new passkey for an account.
func (d PasskeyFactor) RegisterPasskey(ctx context.Context, s account.Session) (account.Begun, error) {
	a, err := d.accounts.Account(ctx, s.AccountID)
	if err != nil {
		return account.Begun{}, fmt.Errorf("read account: %w", err)
	}
	if len(a.Passkeys) >= maxPasskeys {
		return account.Begun{}, fault.New(fault.Conflict, fault.CodeConflict,
			fmt.Sprintf("The account has %d passkeys. Remove one first.", maxPasskeys))
	}
	begun, err := d.party.Register(a)
	if err != nil {
		return account.Begun{}, err
	}
	return begun, d.begin(ctx, begun, a.ID)
}

// AddPasskey completes the registration of a passkey. All other sessions end, and a new session replaces the current
// one.
func (d PasskeyFactor) AddPasskey(ctx context.Context, b Browser, s account.Session, name string,
	answer []byte,
) (SignedIn, error) {
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > maxName {
		return SignedIn{},
			fault.BadRequest(fmt.Sprintf("A passkey's name can have at most %d characters.", maxName)).About("name")
	}
	claim, err := d.party.Claim(answer)
	if err != nil {
		return SignedIn{}, err
	}
	ceremony, err := d.take(ctx, claim, s.AccountID)
	if err != nil {
		return SignedIn{}, err
	}
	return d.recovery.addFactor(ctx, b, s, passkeyFactor(), func(a *account.Account) error {
		made, failed := d.party.Registered(*a, ceremony.State, answer)
		if failed != nil {
			return failed
		}
		made.Name, made.CreatedAt = name, d.now()
		a.Passkeys = append(a.Passkeys, made)
		return nil
	})
}

// addFactor adds a second factor and ends all other sessions. Adding an account's first factor also creates recovery
// codes, in the same write.
func (d RecoveryCodes) addFactor(ctx context.Context, b Browser, s account.Session, f factor,
	add func(*account.Account) error,
) (SignedIn, error) {
	a, err := d.accounts.Account(ctx, s.AccountID)
	if err != nil {
		return SignedIn{}, fmt.Errorf("read account: %w", err)
	}
	isFirst := !a.HasSecondFactor()
	if err = add(&a); err != nil {
		return SignedIn{}, err
	}
	a.Epoch++
	var codes []secret.Text
	if isFirst {
		var held account.RecoveryCodes
		if codes, held, err = d.newCodes(ctx, a.ID); err == nil {
			err = d.accounts.SaveFirstFactor(ctx, a, held)
		}
	} else {
		err = d.accounts.SaveAccount(ctx, a)
	}
	if err != nil {
		return SignedIn{}, fmt.Errorf("save account: %w", err)
	}
	d.tell(ctx, a.Email, factorAdded(d.dashboard, f, d.now()))
	entered, err := d.enter(ctx, a, b, false)
	entered.RecoveryCodes = codes
	return entered, err
}

// RemovePasskey removes one of an account's passkeys.
func (d PasskeyFactor) RemovePasskey(ctx context.Context, b Browser, s account.Session, id string) (SignedIn, error) {
	a, err := d.change(ctx, s.AccountID, func(a *account.Account) error {
		before := len(a.Passkeys)
		a.Passkeys = slices.DeleteFunc(a.Passkeys, func(k account.Passkey) bool { return k.ID == id })
		if len(a.Passkeys) == before {
			return fault.Missing("Passkey not found.")
		}
		return nil
	})
	if err != nil {
		return SignedIn{}, err
	}
	d.tell(ctx, a.Email, factorRemoved(d.dashboard, passkeyFactor(), d.now()))
	return d.enter(ctx, a, b, false)
}
