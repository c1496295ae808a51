package identity

import (
	"context"

	"recordbridge/infra/sandbox/jose"
	"recordbridge/infra/sandbox/oauth"
)

// Keys are those by which a facility of the network checks this provider's tokens (package udap); it has none of another issuer.
func (s *Server) Keys(ctx context.Context, issuer string) (jose.KeySet, error) {
	if issuer != s.Issuer {
		return jose.KeySet{}, nil
	}
	key, err := s.SigningKey(ctx)
	if err != nil {
		return jose.KeySet{}, err
	}

	return jose.PublicKeys(key, oauth.SigningKeyID), nil
}
