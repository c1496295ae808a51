// Package jwks serves GET /.well-known/jwks.json (RFC 7517): the public keys with which health systems verify the
// service's client assertions (SMART App Launch 2.2, "Asymmetric (public key)"). It is public, needs no organisation
// and no private key, and changes nothing.
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

// maxAge is the cache lifetime of the key set. A new key signs nothing before this time has passed; see
// docs/operate/secrets.md.
const maxAge = time.Hour

// Deps holds the endpoint's dependencies.
type Deps struct {
	API     *httpapi.API
	Limiter httpapi.Limiter
	Keys    Keys
}

// Keys publishes the service's keys (*clientauth.Keyring).
type Keys interface {
	// JWKS returns the keys of a type, or all keys if keyType is empty.
	JWKS(ctx context.Context, keyType string) (clientauth.KeySet, error)
}

type request struct {
	// KeyType limits the set to keys of one type, for sites that take a set inline and refuse elliptic-curve keys.
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
