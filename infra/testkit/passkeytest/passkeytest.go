// Package passkeytest simulates a browser with an authenticator (W3C WebAuthn level 3). The authenticator responds to a
// relying party's requests either correctly or as a test requires. Only tests import this package.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"
)

// Key is a passkey stored in an authenticator.
type Key struct {
	Origin     string // origin of the page that requests the passkey
	Host       string // the relying party's host
	Counter    uint32 // signature counter in the next response
	Unverified bool   // whether the authenticator skips user verification

	id      []byte
	handle  []byte
	private *ecdsa.PrivateKey
}

// New returns a passkey for a page's origin and a relying party's host.
func New(tb testing.TB, origin, host string) *Key {
	tb.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	id := make([]byte, 32)
	if _, err := rand.Read(id); err != nil {
		tb.Fatal(err)
	}
	return &Key{Origin: origin, Host: host, id: id, private: private}
}

// ID returns the credential ID in the form of PublicKeyCredential.id.
func (k *Key) ID() string { return base64.RawURLEncoding.EncodeToString(k.id) }

// Create returns the response to registration options.
func (k *Key) Create(tb testing.TB, options []byte) []byte {
	tb.Helper()
	var asked struct {
		Challenge string `json:"challenge"`
		User      struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	if err := json.Unmarshal(options, &asked); err != nil {
		tb.Fatal(err)
	}
	handle, err := base64.RawURLEncoding.DecodeString(asked.User.ID)
	if err != nil {
		tb.Fatal(err)
	}
	k.handle = handle
	data := k.authenticatorData(0x40)
	data = append(data, make([]byte, 16)...)                      // AAGUID of an unspecified model
	data = binary.BigEndian.AppendUint16(data, uint16(len(k.id))) //nolint:gosec // G115: 32 bytes
	data = append(append(data, k.id...), k.coseKey(tb)...)
	object := append([]byte{0xa3}, text("fmt")...)
	object = append(append(object, text("none")...), text("attStmt")...)
	object = append(append(object, 0xa0), text("authData")...)
	object = append(object, 0x58, byte(len(data))) //nolint:gosec // G115: below 256 bytes
	object = append(object, data...)
	return answer(tb, k.ID(), map[string]string{
		"clientDataJSON": encode(k.clientData(tb, "webauthn.create", asked.Challenge)), "attestationObject": encode(object),
	})
}

// Get returns the response to authentication options.
func (k *Key) Get(tb testing.TB, options []byte) []byte {
	tb.Helper()
	var asked struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(options, &asked); err != nil {
		tb.Fatal(err)
	}
	data, client := k.authenticatorData(0), k.clientData(tb, "webauthn.get", asked.Challenge)
	hash := sha256.Sum256(client)
	signed := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, k.private, signed[:])
	if err != nil {
		tb.Fatal(err)
	}
	return answer(tb, k.ID(), map[string]string{
		"clientDataJSON": encode(client), "authenticatorData": encode(data), "signature": encode(signature),
		"userHandle": encode(k.handle),
	})
}

// authenticatorData returns the relying party ID's hash, the flags and the counter (section 6.1).
func (k *Key) authenticatorData(flags byte) []byte {
	flags |= 0x01
	if !k.Unverified {
		flags |= 0x04
	}
	host := sha256.Sum256([]byte(k.Host))
	return binary.BigEndian.AppendUint32(append(host[:], flags), k.Counter)
}

func (k *Key) clientData(tb testing.TB, kind, challenge string) []byte {
	tb.Helper()
	body, err := json.Marshal(map[string]any{
		"type": kind, "challenge": challenge, "origin": k.Origin,
		"crossOrigin": false,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// coseKey returns the public key in CBOR (RFC 9053 section 7.1.1).
func (k *Key) coseKey(tb testing.TB) []byte {
	tb.Helper()
	point, err := k.private.PublicKey.Bytes()
	if err != nil {
		tb.Fatal(err)
	}
	key := []byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20}
	key = append(key, point[1:33]...)
	return append(append(key, 0x22, 0x58, 0x20), point[33:]...)
}

//nolint:gosec // short names
func text(value string) []byte { return append([]byte{0x60 | byte(len(value))}, value...) }

func answer(tb testing.TB, id string, response map[string]string) []byte {
	tb.Helper()
	body, err := json.Marshal(map[string]any{
		"id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": map[string]any{},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

func encode(bytes []byte) string { return base64.RawURLEncoding.EncodeToString(bytes) }
