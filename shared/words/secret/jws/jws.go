// Package jws uses go-jose to verify and sign JSON Web Signatures in compact form (RFC 7515 section 7.1). A Verifier
// accepts a fixed set of algorithms, which neither tokens nor keys can extend (RFC 8725 section 3.1).
package jws

import (
	"crypto"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json" // rejects objects with duplicate members and matches names case-sensitively

	"recordbridge/shared/words/secret"
)

// FlawError is the reason for rejecting a token: a stable word that contains no part of the token.
type FlawError string

// Reasons for rejecting a token, all of type FlawError.
const (
	ErrOversized  FlawError = "size"
	ErrEncrypted  FlawError = "encrypted" // the token is a JWE (RFC 7516)
	ErrMalformed  FlawError = "form"
	ErrAlgorithm  FlawError = "algorithm" // the Verifier does not accept the algorithm
	ErrCritical   FlawError = "critical"  // critical headers (RFC 7515 section 4.1.11), none of which is supported
	ErrUnknownKey FlawError = "key"       // no key in the set has the token's key ID
	ErrForged     FlawError = "signature"
)

// Error implements error.
func (f FlawError) Error() string { return "signed token: " + string(f) }

// Verifier accepts tokens of at most MaxBytes bytes that are signed with one of its algorithms.
type Verifier struct {
	Algorithms []jose.SignatureAlgorithm // a subset of RS256, RS384, ES256 and ES384
	MaxBytes   int
}

// Token is a parsed token whose signature has not been verified.
type Token struct {
	Header map[string]any
	KeyID  string // empty if the token has no key ID

	text      secret.Text
	algorithm jose.SignatureAlgorithm
}

// Parse parses a token without verifying its signature. It returns a FlawError for a token that no key can verify.
func (v Verifier) Parse(token secret.Text) (Token, error) {
	text := token.Reveal()
	parts := strings.SplitN(text, ".", 6)
	header, ok := object(parts[0])
	switch {
	case ok && len(parts) == 5 && header["enc"] != nil:
		return Token{}, ErrEncrypted
	case len(text) > v.MaxBytes:
		return Token{}, ErrOversized
	case !ok || len(parts) != 3 || !isEncoded(parts[1]) || !isEncoded(parts[2]):
		return Token{}, ErrMalformed
	}
	name, _ := header["alg"].(string)
	algorithm := jose.SignatureAlgorithm(name)
	if !slices.Contains(v.Algorithms, algorithm) {
		return Token{}, ErrAlgorithm
	}
	if _, critical := header["crit"]; critical {
		return Token{}, ErrCritical
	}
	keyID, _ := header["kid"].(string)
	return Token{Header: header, KeyID: keyID, text: token, algorithm: algorithm}, nil
}

// isEncoded reports whether part is canonical base64url. Decoders also accept other encodings, such as those with line
// breaks.
func isEncoded(part string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && base64.RawURLEncoding.EncodeToString(raw) == part
}

// object decodes a token part that must be a JSON object.
func object(part string) (map[string]any, bool) {
	text, err := base64.RawURLEncoding.DecodeString(part)
	var read map[string]any
	return read, err == nil && isEncoded(part) && json.Unmarshal(text, &read) == nil && read != nil
}

// Verify returns the payload of a token that is signed by one of keys. If the token has a key ID, only keys with that
// ID are tried; otherwise, all keys are tried. The error is a FlawError.
func (t Token) Verify(keys Keys) ([]byte, error) {
	flaw := ErrUnknownKey
	for _, key := range keys.known {
		if t.KeyID != "" && key.KeyID != t.KeyID {
			continue
		}
		flaw = ErrForged
		if key.Algorithm != "" && key.Algorithm != string(t.algorithm) {
			continue
		}
		if payload, err := t.VerifyWith(key.Key); err == nil {
			return payload, nil
		}
	}
	return nil, flaw
}

// VerifyWith returns the payload of a token that is signed with the private key belonging to key. The error is a
// FlawError.
func (t Token) VerifyWith(key crypto.PublicKey) ([]byte, error) {
	if !fits(t.algorithm, key) {
		return nil, ErrForged
	}
	signed, err := jose.ParseSignedCompact(t.text.Reveal(), []jose.SignatureAlgorithm{t.algorithm})
	if err != nil {
		return nil, ErrMalformed
	}
	payload, err := signed.Verify(key)
	if err != nil {
		return nil, ErrForged
	}
	return payload, nil
}
