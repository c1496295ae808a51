// Package jose owns the JSON Web Signatures of the sandbox EHR: RS256 for what it signs, RS384 and ES384 for the client
// assertions that it checks (SMART App Launch 2, client-confidential-asymmetric; RFC 7515, 7517, 7518).
//
// It looks at signatures and key sets only. What claims must say is the business of package oauth.
package jose

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

var (
	errSignature = errors.New("no key of the set has signed this token")
	errKeySet    = errors.New("the key set holds no usable key")
)

// p384Bytes is the length of a coordinate of P-384, and of each half of an ES384 signature.
const p384Bytes = 48

// Key is a public key as RFC 7517 writes it.
type Key struct {
	Type      string `json:"kty"`
	ID        string `json:"kid,omitempty"`
	Use       string `json:"use,omitempty"`
	Algorithm string `json:"alg,omitempty"`
	N         string `json:"n,omitempty"`
	E         string `json:"e,omitempty"`
	Curve     string `json:"crv,omitempty"`
	X         string `json:"x,omitempty"`
	Y         string `json:"y,omitempty"`
}

// KeySet is a JWKS.
type KeySet struct {
	Keys []Key `json:"keys"`
}

// ParseKeySet reads a JWKS. It must hold at least one RSA or P-384 key; keys of other kinds are passed over.
func ParseKeySet(raw []byte) (KeySet, error) {
	var set KeySet
	if err := json.Unmarshal(raw, &set); err != nil {
		return KeySet{}, fmt.Errorf("decode key set: %w", err)
	}
	for _, key := range set.Keys {
		if key.rsa() != nil || key.ecdsa() != nil {
			return set, nil
		}
	}

	return KeySet{}, errKeySet
}

// PublicKey is the public half of an RSA key for signatures with RS256.
func PublicKey(key *rsa.PrivateKey, id string) Key {
	return Key{
		Type: "RSA", ID: id, Use: "sig", Algorithm: "RS256",
		N: encode(key.N.Bytes()), E: encode(big.NewInt(int64(key.E)).Bytes()),
	}
}

// Sign makes a JWT with RS256.
func Sign(key *rsa.PrivateKey, keyID string, claims map[string]any) (string, error) {
	header, err := json.Marshal(map[string]string{"alg": "RS256", "kid": keyID, "typ": "JWT"})
	if err != nil {
		return "", fmt.Errorf("encode header: %w", err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("encode claims: %w", err)
	}
	signed := encode(header) + "." + encode(payload)
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}

	return signed + "." + encode(signature), nil
}

// Verify checks a JWT against the key of the set that its header names, and returns its claims. It returns an error
// for what is no JWT, is not signed by that key with RS384 or ES384, or says no JSON.
func Verify(token string, set KeySet) (map[string]any, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errSignature
	}
	var header struct {
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
		Type      string `json:"typ"`
	}
	rawHeader, headerErr := decode(parts[0])
	payload, payloadErr := decode(parts[1])
	signature, signatureErr := decode(parts[2])
	if headerErr != nil || payloadErr != nil || signatureErr != nil || json.Unmarshal(rawHeader, &header) != nil ||
		header.Type != "JWT" {
		return nil, errSignature
	}
	digest := sha512.Sum384([]byte(parts[0] + "." + parts[1]))
	for _, key := range set.Keys {
		if key.ID != header.KeyID || !key.signed(header.Algorithm, digest[:], signature) {
			continue
		}
		var claims map[string]any
		if err := json.Unmarshal(payload, &claims); err != nil {
			return nil, fmt.Errorf("decode claims: %w", err)
		}

		return claims, nil
	}

	return nil, errSignature
}

func (k Key) signed(algorithm string, digest, signature []byte) bool {
	switch algorithm {
	case "RS384":
		public := k.rsa()

		return public != nil && rsa.VerifyPKCS1v15(public, crypto.SHA384, digest, signature) == nil
	case "ES384":
		public := k.ecdsa()
		if public == nil || len(signature) != 2*p384Bytes {
			return false
		}
		r, s := new(big.Int).SetBytes(signature[:p384Bytes]), new(big.Int).SetBytes(signature[p384Bytes:])

		return ecdsa.Verify(public, digest, r, s)
	default:
		return false
	}
}

// rsa is the key when it is one of RSA that can be used, else nil.
func (k Key) rsa() *rsa.PublicKey {
	n, errN := decode(k.N)
	e, errE := decode(k.E)
	exponent := new(big.Int).SetBytes(e)
	if k.Type != "RSA" || errN != nil || errE != nil || len(n) < 256 || !exponent.IsInt64() || exponent.Int64() > 1<<31-1 {
		return nil
	}

	return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}
}

// ecdsa is the key when it is one on P-384, else nil.
func (k Key) ecdsa() *ecdsa.PublicKey {
	x, errX := decode(k.X)
	y, errY := decode(k.Y)
	if k.Type != "EC" || k.Curve != "P-384" || errX != nil || errY != nil || len(x) != p384Bytes || len(y) != p384Bytes {
		return nil
	}
	point := append([]byte{4}, append(x, y...)...) // the uncompressed form of SEC 1
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P384(), point)
	if err != nil {
		return nil
	}

	return public
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func decode(text string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("decode base64url: %w", err)
	}

	return raw, nil
}
