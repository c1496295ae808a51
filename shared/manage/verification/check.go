package verification

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Checker verifies codes sent by email. All fields are required.
type Checker struct {
	Store  CheckStore
	Keys   secret.Keyring
	Random io.Reader
	Now    func() time.Time
}

// Verified holds the token issued for a correct code.
type Verified struct {
	Token     secret.Text // 43 characters
	ExpiresAt time.Time
}

// Check verifies the digits that a patient typed. It returns fault.Invalid if the digits are wrong and another attempt
// remains. It returns fault.NotFound if the patient needs a new code. A new code is needed if the code was used, has
// expired, was tried too often, belongs to another tenant or was never sent.
func (c Checker) Check(ctx context.Context, tenant org.Tenant, asked, typed string) (Verified, error) {
	digits := strings.Join(strings.Fields(typed), "")
	if len(digits) != 6 || strings.ContainsFunc(digits, func(r rune) bool { return !isDigit(r) }) {
		// Malformed input does not count as an attempt, because a malformed code can't be correct.
		return Verified{}, fault.BadRequest("code must have six digits.").About("code")
	}
	id, ok := ids.ParseUUID(asked)
	if !ok {
		return Verified{}, spent(nil)
	}
	now := c.Now()
	code, err := c.Store.TryCode(ctx, tenant, id, now, tries)
	if err != nil {
		return Verified{}, spent(err)
	}
	if !c.Keys.Check(codeText(tenant, id, digits), code.Mark) {
		if code.Tries >= tries {
			return Verified{}, spent(nil)
		}
		return Verified{}, fault.BadRequest("The code is wrong. Check it and try again.").About("code")
	}
	value := make([]byte, 32)
	if _, err := io.ReadFull(c.Random, value); err != nil {
		return Verified{}, fmt.Errorf("random token: %w", err)
	}
	v := Verified{Token: secret.New(base64.RawURLEncoding.EncodeToString(value)), ExpiresAt: now.Add(tokenLife)}
	token := Token{Hash: hash(v.Token.Reveal()), Tenant: tenant, Address: code.Address, ExpiresAt: v.ExpiresAt}
	if err := c.Store.ExchangeCode(ctx, code, token); err != nil {
		return Verified{}, spent(err)
	}
	return v, nil
}

// spent returns fault.NotFound if err means that a code is no longer valid. It wraps any other error as an internal
// error.
func spent(err error) error {
	if err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("use code: %w", err)
	}
	return fault.Missing("This code is no longer valid. Request a new one.").Because(err)
}
