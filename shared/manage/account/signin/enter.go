package signin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/freemail"
	"recordbridge/shared/manage/account/totp"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/secret"
)

// ceremonyLife is the time within which a browser must respond to a passkey challenge.
const ceremonyLife = 5 * time.Minute

// codesFor returns the scope of sign-in codes, which separates them from all other codes.
func codesFor() org.Tenant { return org.Tenant{Mode: "dashboard", OrgID: "signin"} }

// SendCode sends a sign-in code by email. The response and the work done don't depend on whether the address has an
// account.
func (d CodeSignIn) SendCode(ctx context.Context, email string, b Browser) (verification.Sent, error) {
	to, err := corporate(email)
	if err != nil {
		return verification.Sent{}, err
	}
	device := ""
	if !b.Device.Empty() {
		hash := deviceHash(b.Device, to.String())
		known, err := d.sessions.IsDevice(ctx, hash, d.now())
		if err != nil {
			return verification.Sent{}, fmt.Errorf("look for device: %w", err)
		}
		if known {
			device = hash
		}
	}
	return d.codes.Send(ctx, verification.Request{
		Tenant: codesFor(), Organisation: product, From: maillimit.From{Account: "", Organisation: ""}, Email: to.String(),
		Language: "",
		Occasion: verification.SignIn, Device: device, Network: b.Network,
	})
}

// ByCode signs in a user who has entered the code sent to an email address. If the address has no account, it creates
// one.
func (d CodeSignIn) ByCode(ctx context.Context, b Browser, email, id, digits string) (SignedIn, error) {
	at, err := corporate(email)
	if err != nil {
		return SignedIn{}, err
	}
	if err = d.proveAddress(ctx, codesFor(), at, id, digits); err != nil {
		return SignedIn{}, err
	}
	a, err := d.accountAt(ctx, at)
	if err != nil {
		return SignedIn{}, err
	}
	a, outcome, err := d.applyRecovery(ctx, a)
	if err != nil {
		return SignedIn{}, err
	}
	entered, err := d.enter(ctx, a, b, a.HasSecondFactor())
	entered.Recovery = outcome
	return entered, err
}

// proveAddress returns nil if the entered code is the one sent to the address.
func (d codeProof) proveAddress(ctx context.Context, scope org.Tenant, at verification.Address, id,
	digits string,
) error {
	verified, err := d.checker.Check(ctx, scope, id, digits)
	if err != nil {
		return err
	}
	return d.proofs.Check(ctx, scope, verified.Token, at)
}

// accountAt returns the account of a verified email address, creating it if necessary. If two callers create the
// account at once, both get the same account.
func (d CodeSignIn) accountAt(ctx context.Context, at verification.Address) (account.Account, error) {
	var a account.Account
	err := retry.OnConflict(ctx, retry.Tries, func() error {
		place, err := d.accounts.AccountAt(ctx, at.String())
		now := d.now()
		switch {
		case err == nil && place.FormerUntil.IsZero():
			if a, err = d.accounts.Account(ctx, place.AccountID); err != nil {
				return fmt.Errorf("read account: %w", err)
			}
			return nil
		case err == nil && now.Before(place.FormerUntil):
			return fault.New(fault.Conflict, fault.CodeConflict,
				"Your account's address changed a few days ago. Sign in with the new address, or undo the change "+
					"with the link in our e-mail.")
		case err != nil && !errors.Is(err, fault.NotFound):
			return fmt.Errorf("find account: %w", err)
		}
		a = account.Account{ID: d.newID(), Email: at.String(), Epoch: 1, CreatedAt: now}
		if err := d.accounts.CreateAccount(ctx, a); err != nil {
			return fmt.Errorf("make account: %w", err)
		}
		a.Rev = 1
		return nil
	})
	return a, err
}

// AskPasskey begins a sign-in or the verification of a second factor with a passkey. The user chooses the passkey in
// the browser, so the challenge does not reveal an account.
func (d PasskeyFactor) AskPasskey(ctx context.Context) (account.Begun, error) {
	begun, err := d.party.Ask()
	if err != nil {
		return account.Begun{}, err
	}
	return begun, d.begin(ctx, begun, "")
}

func (d PasskeyFactor) begin(ctx context.Context, begun account.Begun, accountID string) error {
	c := account.Ceremony{AccountID: accountID, State: begun.State, ExpiresAt: d.now().Add(ceremonyLife)}
	if err := d.sessions.BeginCeremony(ctx, challengeHash(begun.Challenge), c); err != nil {
		return fmt.Errorf("begin ceremony: %w", err)
	}
	return nil
}

// take returns a ceremony and removes it, so that it can be used only once, whatever its outcome.
func (d PasskeyFactor) take(ctx context.Context, claim account.Claim, accountID string) (account.Ceremony, error) {
	c, err := d.sessions.TakeCeremony(ctx, challengeHash(claim.Challenge), d.now())
	if err == nil && c.AccountID != accountID {
		err = fault.NotFound
	}
	return c, refused(err, "This step has expired or is already complete. Start again.")
}

// ByPasskey signs in the owner of a passkey. A passkey counts as both factors.
func (d PasskeyFactor) ByPasskey(ctx context.Context, b Browser, answer []byte) (SignedIn, error) {
	claim, err := d.party.Claim(answer)
	if err != nil {
		return SignedIn{}, err
	}
	ceremony, err := d.take(ctx, claim, "")
	if err != nil {
		return SignedIn{}, err
	}
	const nothing = "The passkey could not be verified. Try again, or sign in another way."
	a, err := d.accounts.Account(ctx, claim.AccountID)
	if err != nil {
		return SignedIn{}, refused(err, nothing)
	}
	used, err := d.party.Prove(a, ceremony.State, answer)
	if err != nil {
		return SignedIn{}, err
	}
	i := slices.IndexFunc(a.Passkeys, func(k account.Passkey) bool { return k.ID == used.ID })
	if i < 0 {
		return SignedIn{}, fault.BadRequest(nothing)
	}
	a.Passkeys[i].Credential, a.Passkeys[i].UsedAt = used.Credential, d.now()
	if err := d.accounts.SaveAccount(ctx, a); err != nil {
		return SignedIn{}, fmt.Errorf("note the use of a passkey: %w", err)
	}
	return d.enterComplete(ctx, a, b)
}

// ByTOTP verifies a session's second factor or renews the proof, using a code from the account's authenticator app.
// Attempts are limited per account. Only a user who has verified the email address can use up the attempts.
func (d TOTPFactor) ByTOTP(ctx context.Context, b Browser, s account.Session, digits string) (SignedIn, error) {
	a, err := d.accounts.Account(ctx, s.AccountID)
	if err != nil {
		return SignedIn{}, fmt.Errorf("read account: %w", err)
	}
	if a.TOTP.Sealed == nil {
		return SignedIn{}, fault.BadRequest("The account has no authenticator app.")
	}
	if a.TOTP.Step, err = d.matchTOTP(ctx, a, a.TOTP.Sealed, a.TOTP.Step, digits); err != nil {
		return SignedIn{}, err
	}
	if err := d.accounts.SaveAccount(ctx, a); err != nil {
		return SignedIn{}, refused(err, wrongCode)
	}
	return d.enterComplete(ctx, a, b)
}

const wrongCode = "This is not the code that your authenticator app shows now. Wait for the next one and try again."

// triesOfTOTP returns the limit on attempts with authenticator codes. At any time, three of the million possible codes
// are valid.
func triesOfTOTP() ratelimit.Limit {
	return ratelimit.Limit{Name: "totp", Quota: 10, Window: time.Hour}
}

func (d TOTPFactor) matchTOTP(ctx context.Context, a account.Account, sealed []byte, after int64,
	typed string,
) (step int64, err error) {
	now := d.now()
	decision, err := d.buckets.Take(ctx, "totp-"+a.ID, triesOfTOTP(), now)
	if err != nil {
		return 0, fmt.Errorf("count try: %w", err)
	}
	if !decision.Allowed {
		return 0, fault.New(fault.Limited, fault.CodeRateLimited,
			"Too many attempts. Please wait, or use a passkey.").After(decision.RetryAfter)
	}
	key, err := d.vault.Open(ctx, org.Tenant{}, bindingOf(a), sealed)
	if err != nil {
		return 0, fmt.Errorf("open the generator's secret: %w", err)
	}
	step, ok := totp.Match(key, strings.Join(strings.Fields(typed), ""), now, after)
	if !ok {
		return 0, fault.BadRequest(wrongCode).About("code")
	}
	return step, nil
}

// bindingOf returns the data that binds an encrypted authenticator secret to its account.
func bindingOf(a account.Account) string { return "account/" + a.ID + "/totp" }

func challengeHash(challenge string) string { return account.Hash(secret.New(challenge)) }

// corporate parses an email address that may have an account. Email addresses at free or disposable domains are
// rejected, because they don't indicate that their owners belong to an organisation.
func corporate(email string) (verification.Address, error) {
	at, err := verification.ParseAddress(email)
	if err != nil {
		return verification.Address{}, err
	}
	if freemail.Is(at.Domain()) {
		return verification.Address{}, freemail.Refused()
	}
	return at, nil
}
