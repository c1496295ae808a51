package clientauth

import (
	"context"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/words/secret/jws"
)

const (
	// assertionType is the value of client_assertion_type (RFC 7523 section 2.2).
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// assertionLife is one minute shorter than the five-minute maximum of SMART App Launch 2.2, to tolerate clock skew.
	assertionLife = 4 * time.Minute
)

// claims holds the claims of an assertion whose issuer and subject are the client (RFC 7523 section 3). The assertion
// omits nbf, because a server whose clock is slow would reject it.
type claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"` // a string, because some servers reject a list
	ID       string `json:"jti"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
}

// sign creates a client assertion as required by SMART App Launch 2.2. The JWT omits the optional jku header because
// servers fetch the key set from the registered URL.
func sign(ctx context.Context, keys *jws.Keyring, algorithm, keyID string, said claims) (string, error) {
	id, signer, err := keys.Signer(ctx, algorithm, keyID)
	if err != nil {
		return "", fmt.Errorf("client assertion: %w", err)
	}
	header := map[jose.HeaderKey]any{"kid": id, "typ": "JWT"}
	token, err := jws.Sign(jose.SignatureAlgorithm(algorithm), signer, header, said)
	if err != nil {
		return "", fmt.Errorf("client assertion: %w", err)
	}
	return token, nil
}
