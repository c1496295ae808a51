package smart

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/secret"
)

const (
	// maxSigned is the longest signed token in bytes.
	maxSigned = 64 << 10
	// maxKeys is how many keys of a set are looked at.
	maxKeys = 64
	// RSA keys outside these lengths are too weak, or too slow to be anything but an attack.
	minModulus, maxModulus = 2048, 8192
)

var (
	errMalformed = errors.New("signed token: not a compact JWS with a JSON object in it")
	errAlgorithm = errors.New("signed token: an algorithm that is not accepted")
	errSignature = errors.New("signed token: no key of the set verifies it")
)

// acceptedAlgorithms are those of RFC 7518 section 3.1 that an id_token may be signed with. "none" and those with a shared
// secret are not among them, so that no public key is ever used as a secret (RFC 8725 sections 2.1 and 3.1).
func acceptedAlgorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.ES256, jose.ES384}
}

// jws is a signed token in compact form (RFC 7515 section 7.1) whose signature has not been verified yet.
type jws struct {
	signed *jose.JSONWebSignature
	claims answer
}

// parseJWS takes a token apart. It is refused before any key is fetched when no key could make it good. What go-jose is
// lax about is checked first: an encoding in more than one form, and a critical header that it would follow.
func parseJWS(token string) (jws, error) {
	parts := strings.Split(token, ".")
	if len(token) > maxSigned || !isToken(token) || len(parts) != 3 {
		return jws{}, errMalformed
	}
	header, headerOK := segment(parts[0])
	claims, claimsOK := segment(parts[1])
	_, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if !headerOK || !claimsOK || err != nil {
		return jws{}, errMalformed
	}
	signed, err := jose.ParseSignedCompact(token, acceptedAlgorithms())
	if err != nil || header["crit"] != nil { // what is critical is not understood here (RFC 7515 section 4.1.11)
		return jws{}, errAlgorithm
	}
	return jws{signed: signed, claims: claims}, nil
}

// isEncrypted reports whether a token is a JWE (RFC 7516 section 7.1), which some servers send whoever holds no key for it.
func isEncrypted(token secret.Text) bool {
	parts := strings.Split(token.Reveal(), ".")
	header, ok := segment(parts[0])
	return len(parts) == 5 && ok && header.text("enc") != ""
}

// segment decodes a part of a token that is a JSON object.
func segment(part string) (answer, bool) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return nil, false
	}
	var read answer
	return read, json.Unmarshal(text, &read) == nil && read != nil
}

// verify checks the signature with the keys of a set. A token that names its key is verified with that one alone.
func (j jws) verify(keys []jwk) error {
	header := j.signed.Signatures[0].Protected
	for _, key := range keys[:min(len(keys), maxKeys)] {
		if header.KeyID != "" && key.KeyID != header.KeyID ||
			key.Use != "" && key.Use != "sig" || key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue
		}
		if public, ok := key.public(); !ok {
			continue
		} else if _, err := j.signed.Verify(public); err == nil {
			return nil
		}
	}
	return errSignature
}

// jwk is what is looked at of a public key of a set (RFC 7517 section 4, RFC 7518 section 6). Certificates are not: one
// that Go cannot read says nothing against the key beside it.
type jwk struct {
	Type      string `json:"kty"`
	KeyID     string `json:"kid,omitempty"`
	Use       string `json:"use,omitempty"`
	Algorithm string `json:"alg,omitempty"`
	Modulus   string `json:"n,omitempty"`
	Exponent  string `json:"e,omitempty"`
	Curve     string `json:"crv,omitempty"`
	X         string `json:"x,omitempty"`
	Y         string `json:"y,omitempty"`
}

// parseKeys reads a key set. A key that cannot be read is skipped: sets hold keys for other purposes, too.
func parseKeys(document []byte) ([]jwk, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(document, &set) != nil || set.Keys == nil {
		return nil, errMalformed
	}
	var keys []jwk
	for _, raw := range set.Keys {
		var key jwk
		if json.Unmarshal(raw, &key) == nil {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// public is the key for go-jose, which works with it only as its type and curve allow. Some servers pad numbers, or drop
// the zeros before a coordinate, which RFC 7518 section 6.2.1.2 wants at its full length; that is put right here.
func (k jwk) public() (any, bool) {
	size := map[string]int{"P-256": 32, "P-384": 48}[k.Curve]
	k.Modulus, k.Exponent, k.X, k.Y = number(k.Modulus, 0), number(k.Exponent, 0), number(k.X, size), number(k.Y, size)
	raw, err := json.Marshal(k)
	var read jose.JSONWebKey
	if err != nil || read.UnmarshalJSON(raw) != nil {
		return nil, false
	}
	switch public := read.Key.(type) {
	case *rsa.PublicKey:
		bits := public.N.BitLen()
		return public, bits >= minModulus && bits <= maxModulus
	case *ecdsa.PublicKey:
		return public, true
	}
	return nil, false
}

// number writes a number of a key in the one way, with at least size bytes; empty when it is malformed or zero.
func number(text string, size int) string {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	n := new(big.Int).SetBytes(raw)
	if err != nil || n.Sign() == 0 {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(n.FillBytes(make([]byte, max(size, (n.BitLen()+7)/8))))
}
