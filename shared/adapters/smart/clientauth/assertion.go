package clientauth

import (
	"context"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/words/secret/jws"
)

const (
	// assertionType is what client_assertion_type says (RFC 7523 section 2.2).
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// assertionLife stays a minute below the five that SMART App Launch 2.2 allows, for clocks that differ from ours.
	assertionLife = 4 * time.Minute
)

// claims say that the client speaks for itself (RFC 7523 section 3). There is no nbf: a server whose clock is
// behind ours would refuse it.
type claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"` // one string: some servers refuse a list
	ID       string `json:"jti"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
}

// sign makes a JWT as SMART App Launch 2.2 requires. A jku is left out: it is optional, and servers fetch
// the set they have on file.
func (k *Keyring) sign(ctx context.Context, algorithm, keyID string, said claims) (string, error) {
	with, err := k.find(ctx, algorithm, keyID)
	if err != nil {
		return "", err
	}
	header := map[jose.HeaderKey]any{"kid": with.jwk.KeyID, "typ": "JWT"}
	token, err := jws.Sign(jose.SignatureAlgorithm(algorithm), k.vault.Signer(ctx, with.name, with.public), header, said)
	if err != nil {
		return "", fmt.Errorf("client assertion: %w", err)
	}
	return token, nil
}
