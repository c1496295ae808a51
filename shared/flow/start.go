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
	"log/slog"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/ids"
	"recordbridge/shared/logx"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/tokens"
)

// Preparation finds out what an attempt is pinned to. Every field is needed.
type Preparation struct {
	Catalog     Catalog
	Connections Connections // of reconnects; NoConnections where none begins
	Portal      Authorizer
	Platforms   Platforms
	BaseURL     string // of our own API; our redirect URIs at the portals are below it
	Now         func() time.Time
	NewID       ids.Source
	Random      io.Reader
}

// Starter begins attempts and sends their browsers to the portal. Every field is needed.
type Starter struct {
	Preparation

	Store  StartStore
	Sealer tokens.Sealer // under the key for verifiers
}

// Request asks for an attempt. Its redirect is proven already.
type Request struct {
	Caller        org.Caller
	Redirect      org.VerifiedRedirect // none for a widget
	Reconnect     string               // the connection to authorise again; empty for a new one
	EndpointID    string               // when Reconnect is given it may be left out, else it must be the connection's
	BrandID       string               // when given, must have the endpoint, or be what the connection's is by now
	PortalID      string               // when given, must have the endpoint, or be what the connection's is by now
	ExternalID    string
	ExternalState string
	RequestID     string
	AttemptID     string // a widget's own choice, a version 4 UUID; empty where the attempt gets one here
	TokenHash     string // of the widget's own attempt token; goes with AttemptID
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
	attempt, err := s.pin(ctx, r)
	if err != nil {
		return Started{}, err
	}
	state, started, err := s.bind(ctx, &attempt)
	if err != nil {
		return Started{}, err
	}
	if err := s.Store.BeginAttempt(ctx, attempt, state); err != nil {
		return Started{}, fmt.Errorf("store attempt: %w", err)
	}
	return started, nil
}

// pin checks what is asked for, finds out how the portal is spoken to, and makes the attempt that keeps all of it.
func (s Preparation) pin(ctx context.Context, r Request) (Attempt, error) {
	if err := r.CheckLengths(); err != nil {
		return Attempt{}, err
	}
	to, err := s.target(ctx, r)
	if err != nil {
		return Attempt{}, err
	}
	endpoint := to.endpoint
	logx.Add(ctx, slog.String("endpoint_id", endpoint.ID))
	if to.connection != "" {
		logx.Add(ctx, slog.String("connection_id", to.connection))
	}
	registration, err := s.Catalog.Registration(ctx, r.Caller.Tenant, endpoint)
	if errors.Is(err, fault.NotFound) {
		return Attempt{}, fault.BadRequest("This institution cannot be connected yet.").About("endpoint_id").Because(err)
	}
	if err != nil {
		return Attempt{}, fmt.Errorf("read registration: %w", err)
	}
	authority, err := s.Portal.Discover(ctx, endpoint.FHIRBase)
	if err != nil {
		return Attempt{}, fmt.Errorf("discover portal: %w", err)
	}
	profile, err := s.Platforms.Profile(endpoint, authority)
	if err != nil {
		return Attempt{}, fmt.Errorf("platform of the endpoint: %w", err)
	}
	if err := s.checkOrigins(ctx, r.Caller.Tenant, endpoint, authority, profile.Known); err != nil {
		return Attempt{}, err
	}
	scope, now := cmp.Or(registration.Scope, profile.Scope), s.Now()
	return Attempt{
		ID: s.NewID(), Tenant: r.Caller.Tenant, Status: Open, RedirectURI: r.Redirect.URI(), Reconnect: to.connection, WasEnded: to.ended,
		EndpointID: endpoint.ID, BrandID: endpoint.BrandID, PortalID: endpoint.PortalID, PlatformType: endpoint.PlatformType,
		ExternalID: r.ExternalID, ExternalState: r.ExternalState, RequestID: r.RequestID,
		CreatedAt: now, ExpiresAt: now.Add(lifetime),
		FHIRBase: endpoint.FHIRBase, Issuer: authority.Issuer, IssRequired: authority.IssRequired,
		AuthorizationEndpoint: authority.AuthorizationEndpoint, TokenEndpoint: authority.TokenEndpoint,
		KeySet: authority.KeySet, Userinfo: authority.Userinfo, Upstream: upstream(authority, profile),
		ClientID: registration.ClientID, ClientAuthID: registration.AuthID, Callback: callbackURI(s.BaseURL, registration.Callback),
		Aud: profile.Aud, Scope: scope, RepeatScope: profile.RepeatScope, RawBasic: profile.RawBasic, Extra: profile.Extra, NoChallenge: profile.NoChallenge,
		Nonce: profile.Nonce || slices.Contains(strings.Fields(scope), "openid"),
	}, nil
}

// upstream takes what the server says of itself before what is known of its platform.
func upstream(authority Authority, profile Profile) Upstream {
	u := profile.Upstream
	u.Revocation = cmp.Or(authority.Revocation, u.Revocation)
	u.Introspection = cmp.Or(authority.Introspection, u.Introspection)
	return u
}

// bind makes what binds an attempt to the browser that is about to leave for the portal. Nothing is stored yet.
func (s Starter) bind(ctx context.Context, attempt *Attempt) (State, Started, error) {
	verifier, challenge, err := s.Portal.NewVerifier()
	if err != nil {
		return State{}, Started{}, fmt.Errorf("make verifier: %w", err)
	}
	if attempt.NoChallenge {
		verifier, challenge = secret.Text{}, ""
	}
	if attempt.Verifier, err = s.Sealer.Seal(ctx, attempt.Tenant, verifierBinding(*attempt), []byte(verifier.Reveal())); err != nil {
		return State{}, Started{}, fmt.Errorf("seal verifier: %w", err)
	}
	value, err := s.random()
	if err != nil {
		return State{}, Started{}, err
	}
	random, err := s.random()
	if err != nil {
		return State{}, Started{}, err
	}
	cookie := cookieValue(random, s.Now())
	nonce := ""
	if attempt.Nonce {
		if nonce, err = s.random(); err != nil {
			return State{}, Started{}, err
		}
		attempt.NonceHash = HashNonce(nonce)
	}
	address, err := s.Portal.AuthorizeURL(Authorization{
		Endpoint: attempt.AuthorizationEndpoint, ClientID: attempt.ClientID, RedirectURI: attempt.Callback, Scope: attempt.Scope,
		State: value, Aud: attempt.Aud, Challenge: challenge, Nonce: nonce,
	})
	if err != nil {
		return State{}, Started{}, fmt.Errorf("make authorize address: %w", err)
	}
	state := State{
		Hash: hash(value), BindingHash: hash(cookie),
		Tenant: attempt.Tenant, AttemptID: attempt.ID, ExpiresAt: attempt.ExpiresAt,
	}
	return state, Started{
		URL: address, CookieName: CookieName(value), CookieValue: secret.New(cookie), CookieAge: attempt.ExpiresAt.Sub(s.Now()),
	}, nil
}

// callbackURI is our redirect URI of a registration: an address of its own, so that what comes back there was meant for no
// other (RFC 9700 section 4.4.2), or for registrations that have none the plain one.
func callbackURI(baseURL, registration string) string {
	if registration == "" {
		return baseURL + CallbackPath
	}
	return baseURL + CallbackPath + "/" + registration
}

// random returns 256 random bits in base64url.
func (s Preparation) random() (string, error) {
	value := make([]byte, 32)
	if _, err := io.ReadFull(s.Random, value); err != nil {
		return "", fmt.Errorf("random state: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(value), nil
}

// HashNonce is how an attempt keeps the nonce, whose value only the portal's id_token repeats.
func HashNonce(nonce string) string { return hash(nonce) }

func hash(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

func verifierBinding(a Attempt) string { return "verifier|" + a.Tenant.Key() + "|" + a.ID }
