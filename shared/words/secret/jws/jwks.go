package jws

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// Signing algorithms from "Asymmetric (public key)" in SMART App Launch 2.2, named as in RFC 7518 section 3.1.
const (
	rs384 = "RS384"
	es384 = "ES384"
)

// Key types (RFC 7518 section 6.1).
const (
	typeRSA = "RSA"
	typeEC  = "EC"
)

// KeySet is a JWK Set (RFC 7517 section 5) of public keys.
type KeySet struct {
	Keys []publicJWK `json:"keys"`
}

// publicJWK is a public key as defined by RFC 7517 section 4 and RFC 7518 section 6. The key's purpose appears in both
// use and key_ops, because some servers check only use and others only key_ops.
type publicJWK struct {
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

// JWKS returns the public keys of keyType ("RSA" or "EC"), or all keys if keyType is empty, including former keys. RSA
// keys come first, because some servers use the first key regardless of its type. Servers that reject elliptic-curve
// keys need an RSA-only key set.
func (k *Keyring) JWKS(ctx context.Context, keyType string) (KeySet, error) {
	all, err := k.keys(ctx)
	if err == nil {
		all, err = k.withFormer(all)
	}
	if err != nil {
		return KeySet{}, err
	}
	set := KeySet{Keys: []publicJWK{}}
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

func newJWK(public crypto.PublicKey) (publicJWK, error) {
	made := publicJWK{Use: "sig", Operations: []string{"verify"}}
	switch key := public.(type) {
	case *rsa.PublicKey:
		made.Algorithm = rs384
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P384() {
			return publicJWK{}, errKind
		}
		made.Algorithm = es384
	default:
		return publicJWK{}, errKind
	}
	read := jose.JSONWebKey{Key: public}
	document, err := read.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(document, &made)
	}
	if err != nil {
		return publicJWK{}, fmt.Errorf("public key: %w", err)
	}
	// The RFC 7638 thumbprint is stable across processes and unique per key.
	sum, err := read.Thumbprint(crypto.SHA256)
	if err != nil {
		return publicJWK{}, fmt.Errorf("thumbprint: %w", err)
	}
	made.KeyID = base64.RawURLEncoding.EncodeToString(sum)
	return made, nil
}
