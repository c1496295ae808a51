package jws

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"math/big"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json" // rejects objects with duplicate members and matches names case-sensitively
)

const (
	// maxKeys is the maximum number of keys read from a set.
	maxKeys = 64
	// minModulus is the minimum length of an RSA key in bits. go-jose accepts at most 4096 bits.
	minModulus = 2048
)

var errKeys = errors.New("not a key set")

// Keys holds the public keys of a JWK set.
type Keys struct{ known []jose.JSONWebKey }

// ParseKeys reads a JWK set (RFC 7517 section 5). Keys that are malformed, have another purpose or match none of the
// Verifier's algorithms are skipped.
func (v Verifier) ParseKeys(document []byte) (Keys, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(document, &set) != nil || set.Keys == nil {
		return Keys{}, errKeys
	}
	var found Keys
	for _, raw := range set.Keys[:min(len(set.Keys), maxKeys)] {
		if key, ok := parseKey(raw); ok && (key.Use == "" || key.Use == "sig") && v.Accepts(key.Key) {
			found.known = append(found.known, key)
		}
	}
	return found, nil
}

// Has reports whether the set contains a key with the given ID.
func (k Keys) Has(id string) bool {
	return slices.ContainsFunc(k.known, func(key jose.JSONWebKey) bool { return key.KeyID == id })
}

// Accepts reports whether key is a public key that is strong enough and usable with one of the Verifier's algorithms.
func (v Verifier) Accepts(key crypto.PublicKey) bool {
	return slices.ContainsFunc(v.Algorithms, func(algorithm jose.SignatureAlgorithm) bool { return fits(algorithm, key) })
}

// fits reports whether algorithm uses keys of this type (RFC 7518 section 3.1).
func fits(algorithm jose.SignatureAlgorithm, key crypto.PublicKey) bool {
	switch public := key.(type) {
	case *rsa.PublicKey:
		return public.N.BitLen() >= minModulus && (algorithm == jose.RS256 || algorithm == jose.RS384)
	case *ecdsa.PublicKey:
		return public.Curve == elliptic.P256() && algorithm == jose.ES256 || public.Curve == elliptic.P384() &&
			algorithm == jose.ES384
	}
	return false
}

// jwk declares the public key members that this package uses (RFC 7517 section 4, RFC 7518 section 6). Other members,
// such as certificates, are ignored, because go-jose rejects a key with an invalid member.
type jwk struct {
	Type      string          `json:"kty"`
	KeyID     string          `json:"kid"`
	Use       string          `json:"use"`
	Algorithm string          `json:"alg"`
	Modulus   string          `json:"n"`
	Exponent  string          `json:"e"`
	Curve     string          `json:"crv"`
	X         string          `json:"x"`
	Y         string          `json:"y"`
	Private   json.RawMessage `json:"d,omitempty"`
}

// parseKey parses a public key. It rejects a key published with its private part, because anyone could sign with that
// key.
func parseKey(raw []byte) (jose.JSONWebKey, bool) {
	var read jwk
	if json.Unmarshal(raw, &read) != nil || read.Private != nil {
		return jose.JSONWebKey{}, false
	}
	read.Modulus, read.Exponent = strings.TrimRight(read.Modulus, "="), strings.TrimRight(read.Exponent, "=")
	read.X, read.Y = padded(read.X, read.Curve), padded(read.Y, read.Curve)
	document, err := json.Marshal(read)
	var key jose.JSONWebKey
	return key, err == nil && key.UnmarshalJSON(document) == nil
}

// padded returns a coordinate, padded to its curve's length (RFC 7518 section 6.2.1.2). Some servers omit leading zeros
// or add an extra zero.
func padded(coordinate, curve string) string {
	size := map[string]int{"P-256": 32, "P-384": 48}[curve]
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(coordinate, "="))
	number := new(big.Int).SetBytes(raw)
	if err != nil || len(raw) == 0 || number.BitLen() > 8*size {
		return coordinate
	}
	return base64.RawURLEncoding.EncodeToString(number.FillBytes(make([]byte, size)))
}
