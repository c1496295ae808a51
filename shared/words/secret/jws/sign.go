package jws

import (
	"crypto"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/cryptosigner"
)

// Sign returns a token with the given claims, signed with key. header is added to the token's header, which also
// contains alg. The private key may be remote, for example in KMS. key.Sign receives a digest and returns ECDSA
// signatures in ASN.1.
func Sign(algorithm jose.SignatureAlgorithm, key crypto.Signer, header map[jose.HeaderKey]any,
	claims any,
) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", errors.New("sign token: encode claims") // the cause is omitted, because it could quote the claims
	}
	signed, err := sign(algorithm, key, header, payload)
	if err != nil {
		return "", err
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return text, nil
}

// SignDetached is like Sign, but it signs the given bytes and omits them from the token (RFC 7515 appendix F).
func SignDetached(algorithm jose.SignatureAlgorithm, key crypto.Signer, header map[jose.HeaderKey]any,
	content []byte,
) (string, error) {
	signed, err := sign(algorithm, key, header, content)
	if err != nil {
		return "", err
	}
	text, err := signed.DetachedCompactSerialize()
	if err != nil {
		return "", fmt.Errorf("sign content: %w", err)
	}
	return text, nil
}

func sign(algorithm jose.SignatureAlgorithm, key crypto.Signer, header map[jose.HeaderKey]any,
	payload []byte,
) (*jose.JSONWebSignature, error) {
	options := &jose.SignerOptions{ExtraHeaders: header}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: cryptosigner.Opaque(key)}, options)
	if err != nil {
		return nil, fmt.Errorf("signer of tokens: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return nil, fmt.Errorf("sign token: %w", err)
	}
	return signed, nil
}
