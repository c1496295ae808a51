// Package cursor owns the sealed cursors of lists: a client gets its place in a list as a text that it can only send
// back. It cannot read it, change it, or use it in another list, for another organisation or in the other mode.
// What a position means, and whether it is still good, is the list's own business.
package cursor

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Sealer seals and opens cursors (AES-256-GCM). Its keyring is for cursors alone. A cursor is good as long as the
// version of the key that sealed it is in the ring.
type Sealer struct {
	Keys secret.Keyring
}

// Seal makes the cursor of a position in the list named use, for a tenant. The cursor is "<key version>.<base64url>",
// in characters that a query string takes as they are, and longer than the position by a third and some 40 characters;
// the same position gets another text each time. The error is a failure of our own.
func (s Sealer) Seal(tenant org.Tenant, use, position string) (string, error) {
	aead, version, err := s.cipher(0)
	if err != nil {
		return "", err
	}
	//nolint:gosec // G407: this AEAD makes its own random nonce
	sealed := aead.Seal(nil, nil, []byte(position), binding(tenant, use))
	return strconv.Itoa(version) + "." + encoding().EncodeToString(sealed), nil
}

// Open returns the position of a cursor that Seal made for the same tenant and use. Any other text is fault.Invalid,
// and the error does not say what is wrong with it; a list tells its client which parameter it was.
func (s Sealer) Open(tenant org.Tenant, use, text string) (string, error) {
	refused := fault.BadRequest("The cursor is not valid for this list.")
	number, body, _ := strings.Cut(text, ".")
	version, err := strconv.Atoi(number)
	if err != nil || version < 1 || strconv.Itoa(version) != number { // a cursor has one spelling
		return "", refused
	}
	// The decoder passes over line breaks, which would be a second spelling.
	sealed, err := encoding().DecodeString(body)
	if err != nil || strings.ContainsAny(body, "\r\n") {
		return "", refused
	}
	aead, _, err := s.cipher(version)
	if errors.Is(err, errNoKey) {
		return "", refused
	}
	if err != nil {
		return "", err
	}
	position, err := aead.Open(nil, nil, sealed, binding(tenant, use))
	if err != nil {
		return "", refused
	}
	return string(position), nil
}

var errNoKey = errors.New("cursor: the keyring has no such key")

// cipher is that of a version of the key, or of the current one when version is zero.
func (s Sealer) cipher(version int) (cipher.AEAD, int, error) {
	key, used, ok := s.Keys.Derive("cursor", version)
	if !ok {
		return nil, 0, errNoKey
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, 0, fmt.Errorf("cursor key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, 0, fmt.Errorf("cursor key: %w", err)
	}
	return aead, used, nil
}

// binding is what a cursor holds for: the additional data, in which no part can run into the next. The version needs no
// place in it, since each has a key of its own.
func binding(tenant org.Tenant, use string) []byte {
	return fmt.Appendf(nil, "%q %q %q", tenant.Mode, tenant.OrgID, use)
}

func encoding() *base64.Encoding { return base64.RawURLEncoding.Strict() }
