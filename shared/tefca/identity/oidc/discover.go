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
	// knownLife is how long a warm function believes what a provider says of itself. It bounds how long patients are sent
	// to an address that has moved, and how long a key that was taken back is believed.
	knownLife = 10 * time.Minute
	// keyPause is how long a warm function waits before it asks for keys again because of a token that names one it does
	// not know. Else whoever brings forged tokens would decide how often a provider is asked.
	keyPause = 30 * time.Second
)

// configuration is the part of a provider's discovery document that is used (OpenID Connect Discovery
// 1.0 section 3), checked.
type configuration struct {
	authorize   string
	token       string
	keys        string
	push        string // RFC 9126; empty where requests are not pushed
	issRequired bool   // RFC 9207
}

// maxKnown bounds the memory of a warm function. There are as many providers as an operator has configured.
const maxKnown = 64

// memory keeps what providers have said of themselves.
type memory struct {
	discovered *cache.Cache[string, configuration] // by issuer
	keys       *cache.Cache[string, dated]         // by address
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

// discover reads what a provider says of itself, for the minutes that it is believed. Failures are not remembered.
func (p Party) discover(ctx context.Context, provider identity.Provider) (configuration, error) {
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

// configure reads a discovery document. Its issuer is exactly the one that was asked (OpenID Connect
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

// keys reads a key set, for the minutes that it is believed; one that lacks the wanted key
// sooner, but not at once again.
func (p Party) keys(ctx context.Context, address, wanted string) (jws.Keys, error) {
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
