package smart

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"time"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/fhir"
	"recordbridge/shared/words/cache"
	"recordbridge/shared/words/secret"
)

// Authorizer discovers health systems' authorization servers and builds authorization requests. Authorizer implements
// flow.Authorizer, caches discovered configurations, and is safe for concurrent use.
type Authorizer struct {
	doer   Doer
	random io.Reader
	now    func() time.Time
	known  *cache.Cache[string, flow.Authority] // cached authorities by FHIR base
}

const (
	// discoveryLife is the cache lifetime of a discovery. If a health system moves its authorization endpoint, patients
	// may be sent to the old URL for up to discoveryLife.
	discoveryLife = 10 * time.Minute
	// maxDiscoveries is the maximum number of cached discoveries per process.
	maxDiscoveries = 256
)

// NewAuthorizer returns an Authorizer. All arguments are required. random is the source of code verifiers.
func NewAuthorizer(doer Doer, random io.Reader, now func() time.Time) Authorizer {
	known := cache.New[string, flow.Authority](maxDiscoveries, discoveryLife, now)
	return Authorizer{doer: doer, random: random, now: now, known: known}
}

// Discover implements flow.Authorizer. It calls the package-level function Discover and caches the result. If the scope
// may be too long for an authorization request, Discover reduces it to the types in the CapabilityStatement.
func (a Authorizer) Discover(ctx context.Context, fhirBase string) (flow.Authority, error) {
	if found, ok := a.known.Get(fhirBase); ok {
		return found, nil
	}
	found, err := Discover(ctx, a.doer, fhirBase)
	isSettled := err == nil && !found.Substitute
	if err == nil && isLong(found.Scope) {
		served, isKnown := a.served(ctx, fhirBase, found.Scope)
		found.Scope, isSettled = served, isSettled && isKnown
	}
	if isSettled {
		a.known.Put(fhirBase, found)
	}
	return found, err
}

// AuthorizeURL implements flow.Authorizer (SMART App Launch 2.2, "Obtain authorization code"). AuthorizeURL preserves
// the query parameters of the authorization endpoint, except for parameters that the request also sets.
func (Authorizer) AuthorizeURL(request flow.Authorization) (string, error) {
	target, err := url.Parse(request.Endpoint)
	if err != nil {
		return "", fmt.Errorf("authorization endpoint: %w", err)
	}
	query := target.Query()
	query.Set("response_type", "code")
	query.Set("client_id", request.ClientID)
	query.Set("redirect_uri", request.RedirectURI)
	query.Set("state", request.State)
	query.Set("scope", request.Scope)
	if request.Aud != "" {
		query.Set("aud", request.Aud)
	}
	query.Del("nonce")
	if request.Nonce != "" {
		query.Set("nonce", request.Nonce)
	}
	query.Del("code_challenge")
	query.Del("code_challenge_method")
	if request.Challenge != "" {
		query.Set("code_challenge", request.Challenge)
		query.Set("code_challenge_method", "S256")
	}
	target.RawQuery = query.Encode()
	return target.String(), nil
}

// NewVerifier implements flow.Authorizer. NewVerifier returns a 256-bit verifier and its S256 challenge (RFC 7636
// sections 4.1 and 4.2).
func (a Authorizer) NewVerifier() (verifier secret.Text, challenge string, err error) {
	var bits [32]byte
	if _, err := io.ReadFull(a.random, bits[:]); err != nil {
		return secret.Text{}, "", fmt.Errorf("random bytes for a code verifier: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString(bits[:])
	sum := sha256.Sum256([]byte(text))
	return secret.New(text), base64.RawURLEncoding.EncodeToString(sum[:]), nil
}

// served reduces a long scope to the types in the server's CapabilityStatement. isKnown is false if the request failed
// temporarily. served does not retry, because a patient is waiting.
func (a Authorizer) served(ctx context.Context, fhirBase, scope string) (served string, isKnown bool) {
	ctx, cancel := context.WithTimeout(ctx, extraTime)
	defer cancel()
	document, err := Metadata(ctx, a.doer, fhirBase)
	if err != nil {
		return scope, !isTemporary(err)
	}
	capability, err := fhir.ParseCapability(document)
	if err != nil {
		return scope, true
	}
	return servedOnly(scope, capability), true
}
