package clientauth

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha512"
	"encoding/asn1"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"
)

const (
	// assertionType is what client_assertion_type says (RFC 7523 section 2.2).
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// assertionLife stays a minute below the five that SMART App Launch 2.2 allows, for clocks that differ from ours.
	assertionLife = 4 * time.Minute
)

// claims say that the client speaks for itself (RFC 7523 section 3). There is no nbf: a server whose clock is behind ours
// would refuse it.
type claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"` // one string: some servers refuse a list
	ID       string `json:"jti"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
}

// header is that of SMART App Launch 2.2. A jku is left out: it is optional, and servers fetch the set they have on file.
type header struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	Type      string `json:"typ"`
}

// sign makes a JWT in compact form (RFC 7515 section 7.1). It is written out here, as verifying is in package smart: go-jose,
// which the sandbox and tests use, takes the largest function over the 12 MB that one may have.
func (k *Keyring) sign(ctx context.Context, algorithm, keyID string, said claims) (string, error) {
	with, err := k.find(ctx, algorithm, keyID)
	if err != nil {
		return "", err
	}
	head, err := json.Marshal(header{Algorithm: algorithm, KeyID: with.jwk.KeyID, Type: "JWT"})
	if err != nil {
		return "", fmt.Errorf("client assertion: %w", err)
	}
	payload, err := json.Marshal(said)
	if err != nil {
		return "", fmt.Errorf("client assertion: %w", err)
	}
	signed := encode(head) + "." + encode(payload)
	digest := sha512.Sum384([]byte(signed))
	signature, err := k.vault.Signer(ctx, with.name, with.public).Sign(rand.Reader, digest[:], crypto.SHA384)
	if err != nil {
		return "", fmt.Errorf("client assertion: %w", err)
	}
	if algorithm == es384 {
		if signature, err = joined(signature); err != nil {
			return "", err
		}
	}
	return signed + "." + encode(signature), nil
}

var errSignature = errors.New("client assertion: the vault's signature is not one on P-384")

// joined turns an elliptic signature from ASN.1 into the two numbers side by side (RFC 7518 section 3.4).
func joined(signature []byte) ([]byte, error) {
	var numbers struct{ R, S *big.Int }
	rest, err := asn1.Unmarshal(signature, &numbers)
	if err != nil || len(rest) > 0 || !fits(numbers.R) || !fits(numbers.S) {
		return nil, errSignature
	}
	both := make([]byte, 2*coordinate)
	numbers.R.FillBytes(both[:coordinate])
	numbers.S.FillBytes(both[coordinate:])
	return both, nil
}

func fits(n *big.Int) bool { return n.Sign() > 0 && n.BitLen() <= 8*coordinate }
