package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/cache"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret/jws"
)

const (
	// knownLife is the time for which a warm function caches a provider's metadata and keys. During this time, the
	// service may redirect to an outdated URL or trust a revoked key.
	knownLife = 10 * time.Minute
	// keyPause is the minimum interval between two key fetches by a warm function for tokens with unknown keys. Without
	// the limit, forged tokens could cause an unlimited number of requests to a provider.
	keyPause = 30 * time.Second
)

// configuration holds the validated members of a provider's discovery document (OpenID Connect Discovery 1.0 section
// 3).
type configuration struct {
	authorize   string
	token       string
	keys        string
	push        string // pushed authorization request endpoint (RFC 9126); may be empty
	issRequired bool   // whether responses contain iss (RFC 9207)
}

// maxKnown limits the number of cached providers and thereby a warm function's memory use. Operators may configure any
// number of providers.
const maxKnown = 64

// memory caches providers' metadata and keys.
type memory struct {
	discovered *cache.Cache[string, configuration] // metadata, by issuer
	keys       *cache.Cache[string, dated]         // key sets, by URL
}

type dated struct {
	keys jws.Keys
	at   time.Time
}

func newMemory(now func() time.Time) memory {
	return memory{
		discovered: cache.New[string, configuration](maxKnown, knownLife, now),
		keys:       cache.New[string, dated](maxKnown, knownLife, now),
	}
}

var (
	errIssuer   = errors.New("oidc: the discovery document is another issuer's")
	errEndpoint = errors.New("oidc: the discovery document names no usable endpoints")
	errS256     = errors.New("oidc: the provider does not take PKCE with S256")
)

// discover returns a provider's metadata, cached for knownLife. Failures are not cached.
func (p RelyingParty) discover(ctx context.Context, provider identity.Provider) (configuration, error) {
	return p.memory.discovered.Load(provider.Issuer, func() (configuration, error) {
		address := strings.TrimSuffix(provider.Issuer, "/") + "/.well-known/openid-configuration"
		document, err := p.get(ctx, address)
		var found configuration
		if err == nil {
			found, err = configure(provider, document)
		}
		if err != nil {
			spot := fault.Spot{Step: fault.StepDiscovery, Host: fault.HostOf(provider.Issuer)}
			return configuration{}, spot.Failed(identity.Unavailable(err))
		}
		return found, nil
	})
}

// configure parses a discovery document. The document's issuer must match the configured issuer exactly (OpenID Connect
// Discovery 1.0 section 4.3).
func configure(provider identity.Provider, document []byte) (configuration, error) {
	var read answer
	if json.Unmarshal(document, &read) != nil {
		return configuration{}, errAnswer
	}
	found := configuration{
		authorize: read.text("authorization_endpoint"), token: read.text("token_endpoint"), keys: read.text("jwks_uri"),
		push:        read.text("pushed_authorization_request_endpoint"),
		issRequired: read.is("authorization_response_iss_parameter_supported"),
	}
	methods := read.words("code_challenge_methods_supported")
	switch {
	case read.text("issuer") != provider.Issuer:
		return configuration{}, errIssuer
	case !provider.Endpoint(found.authorize), !provider.Endpoint(found.token), !provider.Endpoint(found.keys),
		found.push != "" && !provider.Endpoint(found.push):
		return configuration{}, errEndpoint
	case len(methods) > 0 && !slices.Contains(methods, "S256"):
		return configuration{}, errS256
	}
	return found, nil
}

// keys returns a key set, cached for knownLife. If the cached key set lacks the required key, keys fetches the set
// again, at most once per keyPause.
func (p RelyingParty) keys(ctx context.Context, address, wanted string) (jws.Keys, error) {
	if known, ok := p.memory.keys.Get(address); ok && (known.keys.Has(wanted) || p.now().Sub(known.at) < keyPause) {
		return known.keys, nil
	}
	document, err := p.get(ctx, address)
	if err != nil {
		return jws.Keys{}, identity.Unavailable(err)
	}
	found, err := identity.ParseKeys(document)
	if err != nil {
		return jws.Keys{}, identity.Unavailable(err)
	}
	p.memory.keys.Put(address, dated{found, p.now()})
	return found, nil
}
