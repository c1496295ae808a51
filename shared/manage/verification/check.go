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

// Checker takes codes. Every field is needed.
type Checker struct {
	Store  CheckStore
	Keys   secret.Keyring
	Random io.Reader
	Now    func() time.Time
}

// Verified is what a right code is worth.
type Verified struct {
	Token     secret.Text // 43 characters
	ExpiresAt time.Time
}

// Check takes the digits that a patient has typed. fault.Invalid when they are wrong and another try is left;
// fault.NotFound when a new code is needed: it was used, has ended, was tried too often, is another tenant's or
// was never sent, all alike.
func (c Checker) Check(ctx context.Context, tenant org.Tenant, asked, typed string) (Verified, error) {
	digits := strings.Join(strings.Fields(typed), "")
	if len(digits) != 6 || strings.ContainsFunc(digits, func(r rune) bool { return !isDigit(r) }) {
		return Verified{}, fault.BadRequest("code must have six digits.").About("code") // is no try: it cannot be right
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

// spent tells a code that does not work any more from a failure of our own.
func spent(err error) error {
	if err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("use code: %w", err)
	}
	return fault.Missing("This code is no longer valid. Request a new one.").Because(err)
}
