package signin

import (
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/secret"
)

const (
	recoveryCodes = 10
	recoveryBytes = 10 // 80 random bits, encoded as 16 letters
	recoveryGroup = 4
	// recoveryAlphabet is Crockford's base 32 alphabet, which lacks I, L, O and U.
	recoveryAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// triesOfRecovery returns the limit on attempts with recovery codes.
func triesOfRecovery() ratelimit.Limit {
	return ratelimit.Limit{Name: "recovery", Quota: 10, Window: time.Hour}
}

const wrongRecoveryCode = "This recovery code is wrong or already used. Check it, or use another one."

// MakeRecoveryCodes replaces an account's recovery codes and returns the new codes. Only the codes' keyed hashes are
// stored. It returns fault.Conflict if the account has no second factor.
func (d RecoveryCodes) MakeRecoveryCodes(ctx context.Context, s account.Session) ([]secret.Text, error) {
	a, err := d.accounts.Account(ctx, s.AccountID)
	if err != nil {
		return nil, fmt.Errorf("read account: %w", err)
	}
	if !a.HasSecondFactor() {
		return nil, fault.New(fault.Conflict, fault.CodeConflict, "Add a passkey or an authenticator app first.")
	}
	codes, held, err := d.newCodes(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	if err := d.accounts.SaveRecoveryCodes(ctx, a.ID, held); err != nil {
		return nil, fmt.Errorf("save recovery codes: %w", err)
	}
	d.tell(ctx, a.Email, recoveryCodesMade(d.dashboard, d.now()))
	return codes, nil
}

// RecoveryCodesLeft returns the number of an account's unused recovery codes. An account without a second factor needs
// no recovery codes, so the result is zero.
func (d RecoveryCodes) RecoveryCodesLeft(ctx context.Context, a account.Account) (int, error) {
	if !a.HasSecondFactor() {
		return 0, nil
	}
	held, err := d.heldCodes(ctx, a.ID)
	return len(held.Marks), err
}

// ByRecoveryCode completes a sign-in that is waiting for its second factor. Each code is accepted only once, even if
// several requests submit it at the same time. If the session is already signed in, ByRecoveryCode returns
// fault.Invalid.
func (d RecoveryCodes) ByRecoveryCode(ctx context.Context, b Browser, s account.Session,
	typed string,
) (SignedIn, error) {
	if !s.Pending {
		return SignedIn{}, fault.BadRequest("A recovery code only completes a sign-in. Sign in again to use one.")
	}
	a, err := d.accounts.Account(ctx, s.AccountID)
	if err != nil {
		return SignedIn{}, fmt.Errorf("read account: %w", err)
	}
	now := d.now()
	decision, err := d.buckets.Take(ctx, "recovery-"+a.ID, triesOfRecovery(), now)
	if err != nil {
		return SignedIn{}, fmt.Errorf("count try: %w", err)
	}
	if !decision.Allowed {
		return SignedIn{}, fault.New(fault.Limited, fault.CodeRateLimited,
			"Too many attempts. Try again later.").After(decision.RetryAfter)
	}
	left, err := d.useCode(ctx, a, codeMessage(a.ID, typed))
	if err != nil {
		return SignedIn{}, err
	}
	d.tell(ctx, a.Email, recoveryCodeUsed(d.dashboard, left, now))
	return d.enterComplete(ctx, a, b)
}

// useCode removes the recovery code that produced message and returns the number of remaining codes. The concurrent use
// of another code doesn't cause an error.
func (d RecoveryCodes) useCode(ctx context.Context, a account.Account, message []byte) (int, error) {
	left := 0
	// The number of conflicts is limited, because each successful request uses a different code.
	err := retry.OnConflict(ctx, recoveryCodes, func() error {
		held, err := d.heldCodes(ctx, a.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(held.Marks, func(mark secret.Mark) bool { return d.hashing.Check(message, mark) })
		if i < 0 || !a.HasSecondFactor() {
			return fault.BadRequest(wrongRecoveryCode).About("code")
		}
		held.Marks = slices.Delete(held.Marks, i, i+1)
		if err = d.accounts.SaveRecoveryCodes(ctx, a.ID, held); err != nil {
			return fmt.Errorf("use recovery code: %w", err)
		}
		left = len(held.Marks)
		return nil
	})
	return left, err
}

// newCodes creates recovery codes, which replace the account's current codes when saved.
func (d RecoveryCodes) newCodes(ctx context.Context, accountID string) ([]secret.Text, account.RecoveryCodes, error) {
	held, err := d.heldCodes(ctx, accountID)
	if err != nil {
		return nil, account.RecoveryCodes{}, err
	}
	held.Marks, held.MadeAt = nil, d.now()
	codes := make([]secret.Text, recoveryCodes)
	for i := range codes {
		bits := make([]byte, recoveryBytes)
		if _, err := io.ReadFull(d.random, bits); err != nil {
			return nil, account.RecoveryCodes{}, fmt.Errorf("random recovery code: %w", err)
		}
		letters := base32.NewEncoding(recoveryAlphabet).WithPadding(base32.NoPadding).EncodeToString(bits)
		held.Marks = append(held.Marks, d.hashing.Sign(codeMessage(accountID, letters)))
		codes[i] = secret.New(grouped(letters))
	}
	return codes, held, nil
}

func (d RecoveryCodes) heldCodes(ctx context.Context, accountID string) (account.RecoveryCodes, error) {
	held, err := d.accounts.RecoveryCodes(ctx, accountID)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return account.RecoveryCodes{}, fmt.Errorf("read recovery codes: %w", err)
	}
	return held, nil
}

// dropCodesSince removes an account's recovery codes if they were created at or after since.
func (d RecoveryCodes) dropCodesSince(ctx context.Context, accountID string, since time.Time) error {
	held, err := d.heldCodes(ctx, accountID)
	if err != nil || len(held.Marks) == 0 || held.MadeAt.Before(since) {
		return err
	}
	held.Marks = nil
	if err := d.accounts.SaveRecoveryCodes(ctx, accountID, held); err != nil {
		return fmt.Errorf("drop recovery codes: %w", err)
	}
	return nil
}

// codeMessage returns the message for a recovery code's keyed hash. A code entered by hand may differ in grouping and
// case, and may contain letters that look like digits.
func codeMessage(accountID, typed string) []byte {
	letters := strings.NewReplacer("-", "", "O", "0", "I", "1", "L",
		"1").Replace(strings.ToUpper(strings.Join(strings.Fields(typed), "")))
	return []byte("recovery code\x00" + accountID + "\x00" + letters)
}

func grouped(letters string) string {
	groups := slices.Collect(slices.Chunk([]byte(letters), recoveryGroup))
	parts := make([]string, len(groups))
	for i, group := range groups {
		parts[i] = string(group)
	}
	return strings.Join(parts, "-")
}
