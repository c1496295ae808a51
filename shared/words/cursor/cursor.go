// Package cursor encrypts and decrypts list cursors. A cursor is opaque text that clients can't read or modify. A
// cursor is valid only for the list, organisation and mode for which it was created. Each list interprets its own
// positions and decides whether they are still valid.
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

// Sealer encrypts and decrypts cursors with AES-256-GCM. The keyring must be used only for cursors. A cursor remains
// valid as long as its key version is in the keyring.
type Sealer struct {
	Keys secret.Keyring
}

// Seal encrypts a tenant's position in the list named use. The cursor has the form "<key version>.<base64url>" and
// doesn't need escaping in a query string. The cursor is about a third longer than the position, plus 40 characters.
// Encrypting the same position twice yields different cursors. Any error is an internal failure.
func (s Sealer) Seal(tenant org.Tenant, use, position string) (string, error) {
	aead, version, err := s.cipher(0)
	if err != nil {
		return "", err
	}
	//nolint:gosec // G407: this AEAD makes its own random nonce
	sealed := aead.Seal(nil, nil, []byte(position), binding(tenant, use))
	return strconv.Itoa(version) + "." + encoding().EncodeToString(sealed), nil
}

// Open decrypts a cursor that Seal created for the same tenant and use, and returns the cursor's position. For any
// other text, Open returns fault.Invalid without a reason. The list endpoint that calls Open names the parameter in its
// error response.
func (s Sealer) Open(tenant org.Tenant, use, text string) (string, error) {
	refused := fault.BadRequest("The cursor is not valid for this list.")
	number, body, _ := strings.Cut(text, ".")
	version, err := strconv.Atoi(number)
	if err != nil || version < 1 || strconv.Itoa(version) != number { // rejects alternative spellings of the version
		return "", refused
	}
	// The decoder ignores line breaks. Without this check, a cursor with added line breaks would be accepted as a
	// variant of the same cursor.
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

// cipher returns the cipher for a key version, and the version used. Version zero means the current version.
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

// binding returns the additional authenticated data that ties a cursor to its tenant and use. The encoding is
// unambiguous, and omits the key version because each version has its own key.
func binding(tenant org.Tenant, use string) []byte {
	return fmt.Appendf(nil, "%q %q %q", tenant.Mode, tenant.OrgID, use)
}

func encoding() *base64.Encoding { return base64.RawURLEncoding.Strict() }
