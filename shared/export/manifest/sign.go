package manifest

import (
	"context"
	"crypto"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/words/secret/jws"
)

// signatureType is the typ of a manifest's signature (RFC 7515 section 4.1.9). It prevents the use of a signature as
// another kind of token (RFC 8725 section 3.11).
const signatureType = "recordbridge-manifest+jws"

// Keys holds the keys that sign manifests and nothing else; jws.Keyring implements it.
type Keys interface {
	// Signer returns the ID and the signer of the algorithm's key with the given ID, or of the algorithm's first key if
	// keyID is empty.
	Signer(ctx context.Context, algorithm, keyID string) (id string, signer crypto.Signer, err error)
}

// Sign returns the detached signature of an encoded manifest. Signatures of the same manifest differ.
func Sign(ctx context.Context, keys Keys, body []byte) (string, error) {
	id, signer, err := keys.Signer(ctx, string(jose.ES384), "")
	if err != nil {
		return "", err
	}
	return jws.SignDetached(jose.ES384, signer, map[jose.HeaderKey]any{"kid": id, "typ": signatureType}, body)
}
