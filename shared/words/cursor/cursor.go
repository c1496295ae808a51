// Package cursor owns the sealed cursors of lists. A client gets its position in a list as opaque text that it can only
// send back: it can't read or change it, or use it in another list, for another organisation or in the other mode. The
// list itself decides what a position means and whether it is still valid.
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

// Sealer seals and opens cursors (AES-256-GCM). Its keyring is used for cursors alone. A cursor is valid as long as the
// key version that sealed it is in the keyring.
type Sealer struct {
	Keys secret.Keyring
}

// Seal returns the cursor of a position in the list named use, for a tenant. The cursor has the form "<key
// version>.<base64url>", needs no escaping in a query string, and is longer than the position by a third plus some 40
// characters. The same position gets a different cursor each time. An error is always an internal failure.
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
// without a reason; the list names the parameter to its client.
func (s Sealer) Open(tenant org.Tenant, use, text string) (string, error) {
	refused := fault.BadRequest("This is not a cursor of this list.")
	number, body, _ := strings.Cut(text, ".")
	version, err := strconv.Atoi(number)
	if err != nil || version < 1 || strconv.Itoa(version) != number { // a cursor has only one spelling
		return "", refused
	}
	// The decoder ignores line breaks, which would allow a second spelling.
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

// cipher returns the cipher of a key version, or of the current version if version is zero.
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

// binding returns the additional data that binds a cursor to its tenant and use. Its encoding is unambiguous. It omits
// the version because each version has its own key.
func binding(tenant org.Tenant, use string) []byte {
	return fmt.Appendf(nil, "%q %q %q", tenant.Mode, tenant.OrgID, use)
}

func encoding() *base64.Encoding { return base64.RawURLEncoding.Strict() }
