// Package jwks serves GET /.well-known/jwks.json (RFC 7517): the public keys that health systems check our
// client's assertions with (SMART App Launch 2.2, "Asymmetric (public key)"). Anybody may read it; it knows no
// organisation and no private key, and changes nothing.
package jwks

import (
	"context"
	"net/http"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/smart/clientauth"
	"recordbridge/shared/words/fault"
)

// Route is the declared path.
const Route = "/.well-known/jwks.json"

// maxAge is how long caches keep the set. A new key signs nothing before this has passed; see docs/operate/secrets.md.
const maxAge = time.Hour

// Deps are what the endpoint works with.
type Deps struct {
	API     *httpapi.API
	Limiter httpapi.Limiter
	Keys    Keys
}

// Keys publishes the service's keys (*clientauth.Keyring).
type Keys interface {
	// JWKS returns the keys of a type, or all with an empty keyType.
	JWKS(ctx context.Context, keyType string) (clientauth.KeySet, error)
}

type request struct {
	// KeyType asks for the keys of one type, for sites that take a set inline and refuse elliptic keys.
	KeyType string `query:"kty"`
}

// New returns the endpoint.
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
