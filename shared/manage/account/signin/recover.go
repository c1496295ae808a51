package signin

import (
	"context"
	"fmt"

	"recordbridge/shared/manage/account"
)

// Effects that a sign-in has on an operator's recovery of an account, as named in audit rows.
const (
	Recovered = "account.recovered"
	Stopped   = "account.recovery_stopped"
)

// applyRecovery completes an operator's recovery of the account if it is due: it removes the account's second factors
// and ends its sessions. The user has already verified the account's email address.
func (d CodeSignIn) applyRecovery(ctx context.Context, a account.Account) (account.Account, string, error) {
	if !a.HasSecondFactor() {
		return a, "", nil
	}
	now := d.now()
	r, err := account.OpenRecovery(ctx, d.accounts, a.ID)
	if err != nil || !r.IsDue(now) {
		return a, "", err
	}
	a.TOTP, a.Passkeys, r.EndedAt = account.TOTP{}, nil, now
	a.Epoch++
	if err := d.accounts.SaveRecovered(ctx, a, r); err != nil {
		return a, "", fmt.Errorf("recover account: %w", err)
	}
	a.Rev++
	d.tell(ctx, a.Email, recovered(d.dashboard, now))
	return a, Recovered, nil
}

// enterComplete starts a session for a user who has verified the second factor. A verified second factor stops an
// operator's recovery of the account, because the user has not lost it.
func (d entrance) enterComplete(ctx context.Context, a account.Account, b Browser) (SignedIn, error) {
	r, err := account.OpenRecovery(ctx, d.accounts, a.ID)
	if err != nil {
		return SignedIn{}, err
	}
	outcome := ""
	if r.IsOpen() {
		r.EndedAt, outcome = d.now(), Stopped
		if err = d.accounts.SaveRecovery(ctx, r); err != nil {
			return SignedIn{}, fmt.Errorf("stop recovery: %w", err)
		}
	}
	entered, err := d.enter(ctx, a, b, false)
	entered.Recovery = outcome
	return entered, err
}
