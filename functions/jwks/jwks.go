// Package jwks serves GET /.well-known/jwks.json (RFC 7517). The response contains the public keys that health systems
// use to verify the service's client assertions (SMART App Launch 2.2, "Asymmetric (public key)"). The endpoint is
// public and read-only.
package jwks

import (
	"context"
	"net/http"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/smart/clientauth"
	"recordbridge/shared/words/fault"
)

// Route is the endpoint's path.
const Route = "/.well-known/jwks.json"

// maxAge is the time for which clients may cache the key set. A new key must not sign anything until this time has
// passed (docs/operate/secrets.md).
const maxAge = time.Hour

// Deps holds the endpoint's dependencies.
type Deps struct {
	API     *httpapi.API
	Limiter httpapi.Limiter
	Keys    Keys
}

// Keys returns the service's public keys; *clientauth.Keyring implements it.
type Keys interface {
	// JWKS returns all keys, or only those of the given type if keyType is not empty.
	JWKS(ctx context.Context, keyType string) (clientauth.KeySet, error)
}

type request struct {
	// KeyType restricts the key set to keys of one type. Some sites store a copy of the key set and reject
	// elliptic-curve keys.
	KeyType string `query:"kty"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Bare(d.Limiter, maxAge, d.get)})
}

func (d Deps) get(ctx context.Context, in request) (clientauth.KeySet, error) {
	switch in.KeyType {
	case "", "RSA", "EC":
		return d.Keys.JWKS(ctx, in.KeyType)
	}
	return clientauth.KeySet{}, fault.BadRequest("kty must be RSA or EC.").About("kty")
}
