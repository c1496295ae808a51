package clientauth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
)

// The algorithms of SMART App Launch 2.2, "Asymmetric (public key)", in the names of RFC 7518 section 3.1.
const (
	rs384 = "RS384"
	es384 = "ES384"
)

// The types of keys (RFC 7518 section 6.1).
const (
	typeRSA = "RSA"
	typeEC  = "EC"
)

// coordinate is the length of a coordinate of P-384 in bytes, and of each half of an ES384 signature.
const coordinate = 48

// KeySet is a JWK Set (RFC 7517 section 5) of public keys.
type KeySet struct {
	Keys []jwk `json:"keys"`
}

// jwk is a public key as RFC 7517 section 4 and RFC 7518 section 6 write it. It says what it is for in both ways, use and
// key_ops, since servers look at one or the other.
type jwk struct {
	Type       string   `json:"kty"`
	KeyID      string   `json:"kid"`
	Use        string   `json:"use"`
	Operations []string `json:"key_ops"`
	Algorithm  string   `json:"alg"`
	Modulus    string   `json:"n,omitempty"`
	Exponent   string   `json:"e,omitempty"`
	Curve      string   `json:"crv,omitempty"`
	X          string   `json:"x,omitempty"`
	Y          string   `json:"y,omitempty"`
}

// JWKS returns the public keys of one type ("RSA" or "EC"), or of all with an empty keyType: RSA first, since some servers
// take the first key whatever it is. An RSA-only set is for sites that refuse elliptic keys.
func (k *Keyring) JWKS(ctx context.Context, keyType string) (KeySet, error) {
	all, err := k.keys(ctx)
	if err != nil {
		return KeySet{}, err
	}
	set := KeySet{Keys: []jwk{}}
	for _, wanted := range []string{typeRSA, typeEC} {
		for _, key := range all {
			if key.jwk.Type == wanted && (keyType == "" || keyType == wanted) {
				set.Keys = append(set.Keys, key.jwk)
			}
		}
	}
	return set, nil
}

var errKind = errors.New("neither an RSA key nor one on P-384")

func newJWK(public crypto.PublicKey) (jwk, error) {
	made := jwk{Use: "sig", Operations: []string{"verify"}}
	var thumbprint any
	switch key := public.(type) {
	case *rsa.PublicKey:
		made.Type, made.Algorithm = typeRSA, rs384
		made.Modulus, made.Exponent = encode(key.N.Bytes()), encode(big.NewInt(int64(key.E)).Bytes())
		thumbprint = rsaThumbprint{Exponent: made.Exponent, Type: made.Type, Modulus: made.Modulus}
	case *ecdsa.PublicKey:
		point, err := key.Bytes() // 4, x, y, the coordinates at their full length (RFC 7518 section 6.2.1.2)
		if err != nil || key.Curve != elliptic.P384() {
			return jwk{}, errKind
		}
		made.Type, made.Algorithm, made.Curve = typeEC, es384, "P-384"
		made.X, made.Y = encode(point[1:1+coordinate]), encode(point[1+coordinate:])
		thumbprint = ecThumbprint{Curve: made.Curve, Type: made.Type, X: made.X, Y: made.Y}
	default:
		return jwk{}, errKind
	}
	document, err := json.Marshal(thumbprint)
	if err != nil {
		return jwk{}, fmt.Errorf("thumbprint: %w", err)
	}
	sum := sha256.Sum256(document)
	made.KeyID = encode(sum[:])
	return made, nil
}

// What is hashed for a thumbprint: the members that make the key, by name (RFC 7638 section 3). As a key id it is the
// same wherever and whenever the set is made, and different for every key.
type (
	rsaThumbprint struct {
		Exponent string `json:"e"`
		Type     string `json:"kty"`
		Modulus  string `json:"n"`
	}
	ecThumbprint struct {
		Curve string `json:"crv"`
		Type  string `json:"kty"`
		X     string `json:"x"`
		Y     string `json:"y"`
	}
)

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
