package flow

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/fault"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/tokens"
)

// Starter begins attempts.
type Starter struct {
	Store     Store
	Catalog   Catalog
	Portal    Portal
	Platforms Platforms
	Sealer    tokens.Sealer // under the key for verifiers
	Callback  string        // our own redirect URI at the portals
	Now       func() time.Time
	NewID     ids.Source
	Random    io.Reader
}

// Request asks for an attempt. Its redirect is proven already.
type Request struct {
	Caller        org.Caller
	Redirect      org.VerifiedRedirect
	EndpointID    string
	BrandID       string // when given, must be the endpoint's
	PortalID      string // when given, must be the endpoint's
	ExternalID    string
	ExternalState string
	RequestID     string
}

// Started is an attempt on its way: where the browser goes, and the cookie that binds it.
type Started struct {
	URL         string
	CookieName  string
	CookieValue secret.Text
	CookieAge   time.Duration
}

// Start begins an attempt and returns where to send the browser. Errors: fault.Invalid for what was asked,
// fault.Upstream or fault.Unavailable when the portal cannot be used now.
func (s Starter) Start(ctx context.Context, r Request) (Started, error) {
	endpoint, err := s.endpoint(ctx, r)
	if err != nil {
		return Started{}, err
	}
	registration, err := s.Catalog.Registration(ctx, r.Caller.Tenant, endpoint)
	if errors.Is(err, fault.NotFound) {
		return Started{}, fault.BadRequest("This institution cannot be connected yet.").Because(err)
	}
	if err != nil {
		return Started{}, fmt.Errorf("read registration: %w", err)
	}
	authority, err := s.Portal.Discover(ctx, endpoint.FHIRBase)
	if err != nil {
		return Started{}, fmt.Errorf("discover portal: %w", err)
	}
	verifier, challenge, err := s.Portal.NewVerifier()
	if err != nil {
		return Started{}, fmt.Errorf("make verifier: %w", err)
	}
	manners := s.Platforms.Manners(endpoint.PlatformType, endpoint.FHIRBase, authority)
	now := s.Now()
	attempt := Attempt{
		ID: s.NewID(), Tenant: r.Caller.Tenant, RedirectURI: r.Redirect.URI(),
		EndpointID: endpoint.ID, BrandID: endpoint.BrandID, PortalID: endpoint.PortalID, PlatformType: endpoint.PlatformType,
		FHIRBase: endpoint.FHIRBase, Issuer: authority.Issuer, IssRequired: authority.IssRequired,
		TokenEndpoint: authority.TokenEndpoint, KeySet: authority.KeySet, Userinfo: authority.Userinfo,
		ClientID: registration.ClientID, ClientAuthID: registration.AuthID, Upstream: manners.Upstream, Scope: cmp.Or(registration.Scope, manners.Scope), RepeatScope: manners.RepeatScope,
		ExternalID: r.ExternalID, ExternalState: r.ExternalState, RequestID: r.RequestID,
		CreatedAt: now, ExpiresAt: now.Add(lifetime),
	}
	if attempt.Verifier, err = s.Sealer.Seal(ctx, attempt.Tenant, verifierBinding(attempt), []byte(verifier.Reveal())); err != nil {
		return Started{}, fmt.Errorf("seal verifier: %w", err)
	}
	return s.send(ctx, attempt, manners, authority.AuthorizationEndpoint, challenge)
}

func (s Starter) endpoint(ctx context.Context, r Request) (catalog.Endpoint, error) {
	id, ok := ids.ParseUUID(r.EndpointID)
	if !ok {
		return catalog.Endpoint{}, fault.BadRequest("endpoint_id is required and must be a UUID.")
	}
	endpoint, err := s.Catalog.Endpoint(ctx, id)
	if errors.Is(err, fault.NotFound) {
		return catalog.Endpoint{}, catalog.MissingEndpoint()
	}
	if err != nil {
		return catalog.Endpoint{}, fmt.Errorf("read endpoint: %w", err)
	}
	if endpoint.Status != catalog.EndpointActive || endpoint.Mode != string(r.Caller.Tenant.Mode) {
		return catalog.Endpoint{}, catalog.MissingEndpoint()
	}
	if !isOrNone(r.BrandID, endpoint.BrandID) || !isOrNone(r.PortalID, endpoint.PortalID) {
		return catalog.Endpoint{}, fault.BadRequest("brand_id or portal_id does not belong to endpoint_id.")
	}
	return endpoint, nil
}

// isOrNone reports whether a UUID, when one was given, is the expected one in either case of letters.
func isOrNone(given, expected string) bool { return given == "" || strings.EqualFold(given, expected) }

// send stores the attempt with its state and makes the address at the portal.
func (s Starter) send(ctx context.Context, attempt Attempt, manners Manners, authorizationEndpoint, challenge string) (Started, error) {
	value, err := s.random()
	if err != nil {
		return Started{}, err
	}
	cookie, err := s.random()
	if err != nil {
		return Started{}, err
	}
	nonce := ""
	if manners.Nonce || slices.Contains(strings.Fields(attempt.Scope), "openid") {
		if nonce, err = s.random(); err != nil {
			return Started{}, err
		}
		attempt.NonceHash = HashNonce(nonce)
	}
	state := State{
		Hash: hash(value), BindingHash: hash(cookie),
		Tenant: attempt.Tenant, AttemptID: attempt.ID, ExpiresAt: attempt.ExpiresAt,
	}
	address, err := s.Portal.AuthorizeURL(Authorization{
		Endpoint: authorizationEndpoint, ClientID: attempt.ClientID, RedirectURI: s.Callback, Scope: attempt.Scope,
		State: value, Aud: manners.Aud, Challenge: challenge, Nonce: nonce,
	})
	if err != nil {
		return Started{}, fmt.Errorf("make authorize address: %w", err)
	}
	if err := s.Store.BeginAttempt(ctx, attempt, state); err != nil {
		return Started{}, fmt.Errorf("store attempt: %w", err)
	}
	return Started{URL: address, CookieName: CookieName(value), CookieValue: secret.New(cookie), CookieAge: lifetime}, nil
}

// random returns 256 random bits in base64url.
func (s Starter) random() (string, error) {
	value := make([]byte, 32)
	if _, err := io.ReadFull(s.Random, value); err != nil {
		return "", fmt.Errorf("random state: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(value), nil
}

// CookieName is the name of the cookie that binds a state value to its browser. Each attempt has its own, so that
// two open tabs do not disturb each other.
func CookieName(state string) string { return "__Host-attempt-" + hash(state)[:16] }

// HashNonce is how an attempt keeps the nonce, whose value only the portal's id_token repeats.
func HashNonce(nonce string) string { return hash(nonce) }

func hash(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

func verifierBinding(a Attempt) string { return "verifier|" + a.Tenant.Key() + "|" + a.ID }
