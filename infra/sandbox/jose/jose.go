// Package jose creates and verifies the sandbox EHR's JSON Web Signatures. The sandbox signs with RS256; client
// assertions use RS384 or ES384 (SMART App Launch 2.2, "Asymmetric (public key)"). The package is based on go-jose.
//
// The package handles only signatures and key sets. Package oauth checks the claims of JWTs.
package jose

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

var (
	errSignature = errors.New("no key of the set has signed this token")
	errKeySet    = errors.New("the key set holds no usable key")
)

// KeySet is a JSON Web Key Set (JWKS).
type KeySet = jose.JSONWebKeySet

// ParseKeySet parses a JWKS. Unsupported keys are ignored, but the set must contain at least one RSA key of at least
// 2048 bits or one P-384 key.
func ParseKeySet(raw []byte) (KeySet, error) {
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		return KeySet{}, fmt.Errorf("decode key set: %w", err)
	}
	var set KeySet
	for _, one := range document.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(one) == nil && usable(key.Key) {
			set.Keys = append(set.Keys, key)
		}
	}
	if len(set.Keys) == 0 {
		return KeySet{}, errKeySet
	}

	return set, nil
}

// usable reports whether a key is a public key that can verify client assertions.
func usable(key any) bool {
	switch public := key.(type) {
	case *rsa.PublicKey:
		return public.N.BitLen() >= 2048
	case *ecdsa.PublicKey:
		return public.Curve == elliptic.P384()
	}

	return false
}

// PublicKeys returns a key set containing the public key for key's RS256 signatures.
func PublicKeys(key *rsa.PrivateKey, id string) KeySet {
	return KeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: id, Use: "sig", Algorithm: string(jose.RS256)}}}
}

// Sign returns a JWT with the given claims, signed with RS256.
func Sign(key *rsa.PrivateKey, keyID string, claims map[string]any) (string, error) {
	return sign(key, (&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", keyID), claims)
}

// SignCertified returns a JWT signed with RS256. The JWT's header contains the certificate chain as base64-encoded DER
// (RFC 7515 section 4.1.6).
func SignCertified(key *rsa.PrivateKey, chain []string, claims map[string]any) (string, error) {
	return sign(key, (&jose.SignerOptions{}).WithHeader("x5c", chain), claims)
}

func sign(key *rsa.PrivateKey, options *jose.SignerOptions, claims map[string]any) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key}, options)
	if err != nil {
		return "", fmt.Errorf("make signer: %w", err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("encode claims: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}

	return signed.CompactSerialize()
}

// Verify verifies a JWT with the key in set that the JWT's header names, and returns the JWT's claims. Verify returns
// an error if token is not a JWT, is not signed by that key with RS384 or ES384, or does not contain JSON.
func Verify(token string, set KeySet) (map[string]any, error) {
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.RS384, jose.ES384})
	if err != nil || signed.Signatures[0].Protected.ExtraHeaders[jose.HeaderType] != "JWT" {
		return nil, errSignature
	}
	for _, key := range set.Key(signed.Signatures[0].Protected.KeyID) {
		payload, err := signed.Verify(key)
		if err != nil {
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
