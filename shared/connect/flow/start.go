package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Preparation determines the values that an attempt pins. Every field is required.
type Preparation struct {
	Catalog     Catalog
	Connections Connections // needed only for reconnects; otherwise NoConnections
	Portal      Authorizer
	Platforms   Platforms
	BaseURL     string // base URL of the service's API and of its redirect URIs
	Now         func() time.Time
	NewID       ids.Source
	Random      io.Reader
}

// Starter begins attempts and redirects the patients' browsers to the portal. Every field is required.
type Starter struct {
	Preparation

	Store  StartStore
	Sealer tokens.Sealer // uses the encryption key for PKCE verifiers
}

// Request holds the parameters of a new attempt. The redirect URL in a Request has already been verified.
type Request struct {
	Caller        org.Caller
	Redirect      org.VerifiedRedirect // verified redirect; zero for a widget
	Reconnect     string               // ID of the connection to reauthorise; empty for a new connection
	EndpointID    string               // endpoint; optional with Reconnect, but if given, must be the connection's
	BrandID       string               // brand that uses the endpoint or is the connection's current one; optional
	PortalID      string               // portal that uses the endpoint or is the connection's current one; optional
	ExternalID    string
	ExternalState string
	RequestID     string
	AttemptID     string // version 4 UUID chosen by a widget; generated if empty
	TokenHash     string // hash of the attempt token that the widget chose; required with AttemptID
	Look          binding.Look
}

// Start begins an attempt and returns the URL to which the browser must be redirected. It returns fault.Invalid for an
// invalid request, and fault.Upstream or fault.Unavailable if the portal is temporarily unusable.
func (s Starter) Start(ctx context.Context, r Request) (binding.Started, error) {
	attempt, err := s.pin(ctx, r)
	if err != nil {
		return binding.Started{}, err
	}
	state, started, err := s.bind(ctx, &attempt)
	if err != nil {
		return binding.Started{}, err
	}
	if err := s.Store.BeginAttempt(ctx, attempt, state); err != nil {
		return binding.Started{}, fmt.Errorf("store attempt: %w", err)
	}
	tally.Count(ctx, tally.Begun)
	return started, nil
}

// pin validates the request and discovers the portal's endpoints and settings.
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
		return Attempt{}, fault.BadRequest("This institution can't be connected yet.").About("endpoint_id").Because(err)
	}
	if err != nil {
		return Attempt{}, fmt.Errorf("read registration: %w", err)
	}
	authority, err := s.Portal.Discover(ctx, endpoint.FHIRBase)
	if err != nil {
		return Attempt{}, unavailable(fmt.Errorf("discover portal: %w", err))
	}
	profile, err := s.Platforms.Profile(endpoint, authority)
	if err != nil {
		return Attempt{}, fmt.Errorf("platform of the endpoint: %w", err)
	}
	if err = s.checkOrigins(ctx, r.Caller.Tenant, endpoint, authority, profile.Known); err != nil {
		return Attempt{}, err
	}
	attempt := s.attempt(r, to, registration, authority, profile)
	if registration.Scope != "" || !profile.Listed {
		return attempt, nil
	}
	var leftOut int
	if attempt.Scope, leftOut, err = s.fit(attempt); err != nil {
		return Attempt{}, err
	}
	if leftOut > 0 {
		logx.Add(ctx, slog.Int("scopes_left_out", leftOut))
	}
	return attempt, nil
}

// attempt returns a new attempt for a request. The attempt's lifetime begins at the call.
func (s Preparation) attempt(
	r Request, to target, registration catalog.Registration, authority Authority, profile Profile,
) Attempt {
	endpoint, now, scope := to.endpoint, s.Now(), cmp.Or(registration.Scope, profile.Scope)
	return Attempt{
		ID: s.NewID(), Tenant: r.Caller.Tenant, Status: Open, Look: r.Look, RequestID: r.RequestID, CreatedAt: now,
		ExpiresAt: now.Add(binding.Lifetime),
		Requester: Requester{RedirectURI: r.Redirect.URI(), ExternalID: r.ExternalID, ExternalState: r.ExternalState},
		Institution: Institution{
			EndpointID: endpoint.ID, BrandID: endpoint.BrandID, PortalID: endpoint.PortalID, PlatformType: endpoint.PlatformType,
		},
		Renewal: Renewal{Reconnect: to.connection, WasEnded: to.ended},
		Server: Server{
			FHIRBase: endpoint.FHIRBase, Issuer: authority.Issuer, IssRequired: authority.IssRequired,
			AuthorizationEndpoint: authority.AuthorizationEndpoint, TokenEndpoint: authority.TokenEndpoint,
			KeySet: authority.KeySet, Userinfo: authority.Userinfo, Upstream: upstream(authority, profile),
		},
		Client: Client{
			ClientID: registration.ClientID, ClientAuthID: registration.AuthID,
			Callback: callbackURI(s.BaseURL, registration.Callback), RawBasic: profile.RawBasic,
		},
		Parameters: Parameters{
			Aud: profile.Aud, Scope: scope, RepeatScope: profile.RepeatScope, Extra: profile.Extra,
			Nonce: profile.Nonce || slices.Contains(strings.Fields(scope), "openid"), NoChallenge: profile.NoChallenge,
		},
	}
}

// upstream returns the endpoints and settings for later token calls. Values that the server advertises take precedence
// over the platform's profile.
func upstream(authority Authority, profile Profile) Upstream {
	u := profile.Upstream
	u.Revocation = cmp.Or(authority.Revocation, u.Revocation)
	u.Introspection = cmp.Or(authority.Introspection, u.Introspection)
	return u
}

// bind creates the state, PKCE verifier and cookie that tie an attempt to the browser before it is redirected to the
// portal. bind doesn't store any data.
func (s Starter) bind(ctx context.Context, attempt *Attempt) (binding.State, binding.Started, error) {
	verifier, challenge, err := s.Portal.NewVerifier()
	if err != nil {
		return binding.State{}, binding.Started{}, fmt.Errorf("make verifier: %w", err)
	}
	if attempt.NoChallenge {
		verifier, challenge = secret.Text{}, ""
	}
	if attempt.Verifier, err = s.Sealer.Seal(ctx, attempt.Tenant, verifierBinding(*attempt),
		[]byte(verifier.Reveal())); err != nil {
		return binding.State{}, binding.Started{}, fmt.Errorf("seal verifier: %w", err)
	}
	value, state, started, err := s.maker().Bind(attempt.Tenant, attempt.ID, attempt.ExpiresAt)
	if err != nil {
		return binding.State{}, binding.Started{}, err
	}
	nonce := ""
	if attempt.Nonce {
		if nonce, err = s.maker().Secret(); err != nil {
			return binding.State{}, binding.Started{}, err
		}
		attempt.NonceHash = HashNonce(nonce)
	}
	started.URL, err = s.Portal.AuthorizeURL(attempt.request(value, challenge, nonce))
	if err != nil {
		return binding.State{}, binding.Started{}, fmt.Errorf("make authorize address: %w", err)
	}
	return state, started, nil
}

// callbackURI returns the service's redirect URI for a registration. The URI is unique to the registration, so a
// response sent to it can't be intended for another registration (RFC 9700 section 4.4.2). Registrations without their
// own URI use the shared URI.
func callbackURI(baseURL, registration string) string {
	if registration == "" {
		return baseURL + CallbackPath
	}
	return baseURL + CallbackPath + "/" + registration
}

func (s Preparation) maker() binding.Maker { return binding.Maker{Random: s.Random, Now: s.Now} }

// HashNonce returns a nonce's hash. The attempt stores only the hash; the portal's id_token repeats the nonce itself.
func HashNonce(nonce string) string { return binding.Hash(nonce) }

func verifierBinding(a Attempt) string { return "verifier|" + a.Tenant.Key() + "|" + a.ID }
