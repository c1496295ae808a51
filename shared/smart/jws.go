package smart

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	_ "crypto/sha256" // crypto.SHA256
	_ "crypto/sha512" // crypto.SHA384
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strings"

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

// jws is a signed token in compact form (RFC 7515 section 7.1) whose signature has not been verified yet.
type jws struct {
	algorithm algorithm
	keyID     string
	signed    []byte // header and payload as they were signed
	signature []byte
	claims    answer
}

// algorithm is one that is accepted. What it works with is fixed here and never taken from a key or a token, so that
// no public key is ever used as a secret (RFC 8725 sections 2.1 and 3.1).
type algorithm struct {
	name  string
	hash  crypto.Hash
	curve elliptic.Curve // nil for RSA
}

// algorithmOf returns the accepted algorithm of that name (RFC 7518 section 3.1). "none" and those with a shared
// secret are not among them.
func algorithmOf(name string) (algorithm, bool) {
	switch name {
	case "RS256":
		return algorithm{name: name, hash: crypto.SHA256}, true
	case "RS384":
		return algorithm{name: name, hash: crypto.SHA384}, true
	case "ES256":
		return algorithm{name: name, hash: crypto.SHA256, curve: elliptic.P256()}, true
	case "ES384":
		return algorithm{name: name, hash: crypto.SHA384, curve: elliptic.P384()}, true
	}
	return algorithm{}, false
}

// parseJWS takes a token apart. It is refused before any key is fetched when no key could make it good.
func parseJWS(token string) (jws, error) {
	parts := strings.Split(token, ".")
	if len(token) > maxSigned || !isToken(token) || len(parts) != 3 {
		return jws{}, errMalformed
	}
	header, headerOK := segment(parts[0])
	claims, claimsOK := segment(parts[1])
	signature, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if !headerOK || !claimsOK || err != nil {
		return jws{}, errMalformed
	}
	accepted, ok := algorithmOf(header.text("alg"))
	if !ok || header["crit"] != nil { // what is critical is not understood here (RFC 7515 section 4.1.11)
		return jws{}, errAlgorithm
	}
	return jws{
		algorithm: accepted, keyID: header.text("kid"), signed: []byte(parts[0] + "." + parts[1]),
		signature: signature, claims: claims,
	}, nil
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
	digest := j.algorithm.hash.New()
	digest.Write(j.signed)
	sum := digest.Sum(nil)
	for _, key := range keys[:min(len(keys), maxKeys)] {
		if (j.keyID == "" || key.KeyID == j.keyID) && key.verifies(j.algorithm, sum, j.signature) {
			return nil
		}
	}
	return errSignature
}

// jwk is a public key of a set (RFC 7517 section 4, RFC 7518 section 6).
type jwk struct {
	Type      string `json:"kty"`
	KeyID     string `json:"kid"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
	Modulus   string `json:"n"`
	Exponent  string `json:"e"`
	Curve     string `json:"crv"`
	X         string `json:"x"`
	Y         string `json:"y"`
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

// verifies reports whether the key is one for the algorithm and the signature is its own.
func (k jwk) verifies(with algorithm, digest, signature []byte) bool {
	if k.Use != "" && k.Use != "sig" || k.Algorithm != "" && k.Algorithm != with.name {
		return false
	}
	if with.curve == nil {
		key, ok := k.rsa()
		return ok && rsa.VerifyPKCS1v15(key, with.hash, digest, signature) == nil
	}
	key, ok := k.ecdsa(with.curve)
	size := coordinate(with.curve)
	if !ok || len(signature) != 2*size {
		return false
	}
	r, s := new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:])
	return ecdsa.Verify(key, digest, r, s)
}

func (k jwk) rsa() (*rsa.PublicKey, bool) {
	modulus, exponent := number(k.Modulus), number(k.Exponent)
	bits := modulus.BitLen()
	if k.Type != "RSA" || bits < minModulus || bits > maxModulus || exponent.BitLen() > 31 || exponent.Bit(0) == 0 || exponent.BitLen() < 2 {
		return nil, false
	}
	return &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}, true
}

func (k jwk) ecdsa(curve elliptic.Curve) (*ecdsa.PublicKey, bool) {
	size, x, y := coordinate(curve), number(k.X), number(k.Y)
	if k.Type != "EC" || k.Curve != curve.Params().Name || x.BitLen() > 8*size || y.BitLen() > 8*size {
		return nil, false
	}
	point := bytes.Join([][]byte{{4}, x.FillBytes(make([]byte, size)), y.FillBytes(make([]byte, size))}, nil)
	key, err := ecdsa.ParseUncompressedPublicKey(curve, point)
	return key, err == nil
}

// coordinate is the length of a coordinate of the curve in bytes.
func coordinate(curve elliptic.Curve) int { return (curve.Params().BitSize + 7) / 8 }

// number decodes a number of a key; one that is malformed is zero, which is no part of a key.
func number(text string) *big.Int {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return new(big.Int)
	}
	return new(big.Int).SetBytes(raw)
}
