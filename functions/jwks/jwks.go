// Package jwks serves the service's public keys as JWK Sets (RFC 7517). GET /.well-known/jwks.json returns the keys
// that health systems use to verify the service's client assertions (SMART App Launch 2.2, "Asymmetric (public key)").
// GET /.well-known/manifest-jwks.json returns the keys that sign exports' manifests (docs/guide/manifest.md). The
// endpoints are public and read-only.
package jwks

import (
	"context"
	"net/http"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret/jws"
)

// The endpoints' paths.
const (
	Route         = "/.well-known/jwks.json"
	ManifestRoute = "/.well-known/manifest-jwks.json"
)

// maxAge is the time for which clients may cache a key set. A new key must not sign anything until this time has
// passed (docs/operate/secrets.md).
const maxAge = time.Hour

// Deps holds the endpoints' dependencies.
type Deps struct {
	API       *httpapi.API
	Limiter   httpapi.Limiter
	Keys      Keys // client keys
	Manifests Keys // keys that sign manifests, including former ones
}

// Keys returns public keys; *jws.Keyring implements it.
type Keys interface {
	// JWKS returns all keys, or only those of the given type if keyType is not empty.
	JWKS(ctx context.Context, keyType string) (jws.KeySet, error)
}

type request struct {
	// KeyType restricts the key set to keys of one type. Some sites store a copy of the key set and reject
	// elliptic-curve keys.
	KeyType string `query:"kty"`
}

// New returns the endpoints' handler.
func New(d Deps) http.Handler {
	return d.API.Routes(map[string]httpapi.Methods{
		Route:         {http.MethodGet: httpapi.Bare(d.Limiter, maxAge, d.get)},
		ManifestRoute: {http.MethodGet: httpapi.Bare(d.Limiter, maxAge, d.manifests)},
	})
}

func (d Deps) manifests(ctx context.Context, _ struct{}) (jws.KeySet, error) {
	return d.Manifests.JWKS(ctx, "")
}

func (d Deps) get(ctx context.Context, in request) (jws.KeySet, error) {
	switch in.KeyType {
	case "", "RSA", "EC":
		return d.Keys.JWKS(ctx, in.KeyType)
	}
	return jws.KeySet{}, fault.BadRequest("kty must be RSA or EC.").About("kty")
}
