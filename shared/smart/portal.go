package smart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/plan"
	"recordbridge/shared/fault"
	"recordbridge/shared/fhir"
	"recordbridge/shared/flow"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/tokens"
)

// Portal is the SMART client as the domains see it: it implements flow.Portal, tokens.Refresher, refresh.Revoker and
// export.Portals.
type Portal struct {
	Doer    Doer
	Random  io.Reader
	Now     func() time.Time
	Cache   *Discoveries // of Discover; nil to ask every time
	Clients Clients      // nil where only public clients speak
	// Endpoints knows where Refresh may follow a token endpoint that has moved; nil: no further than its own origin.
	Endpoints Endpoints
}

// Discover implements flow.Portal.
func (p Portal) Discover(ctx context.Context, fhirBase string) (flow.Authority, error) {
	server, known := p.Cache.find(fhirBase, p.Now())
	if !known {
		var err error
		if server, err = p.client().Discover(ctx, fhirBase); err != nil {
			return flow.Authority{}, err
		}
		if !server.Substitute {
			p.Cache.keep(fhirBase, server, p.Now())
		}
	}
	return server.authority(), nil
}

func (s Server) authority() flow.Authority {
	return flow.Authority{
		Issuer: s.Issuer, IssRequired: s.IssParameter, AuthorizationEndpoint: s.AuthorizationEndpoint, TokenEndpoint: s.TokenEndpoint,
		KeySet: s.KeySet, Userinfo: s.Userinfo, Revocation: s.Revocation, Introspection: s.Introspection,
		Scope: s.Scope, Access: s.Access, S256: s.S256, Substitute: s.Substitute,
	}
}

// AuthorizeURL implements flow.Portal.
func (Portal) AuthorizeURL(r flow.Authorization) (string, error) {
	return AuthorizeURL(Server{AuthorizationEndpoint: r.Endpoint}, AuthRequest{
		ClientID: r.ClientID, RedirectURI: r.RedirectURI, State: r.State, Scope: r.Scope, Aud: r.Aud, Challenge: r.Challenge,
		Nonce: r.Nonce,
	})
}

// NewVerifier implements flow.Portal.
func (p Portal) NewVerifier() (verifier secret.Text, challenge string, err error) {
	verifier, err = NewVerifier(p.Random)
	if err != nil {
		return secret.Text{}, "", err
	}
	return verifier, Challenge(verifier), nil
}

// Exchange implements flow.Portal. When consent ends is asked of whoever may know, and last of the platform's profile.
func (p Portal) Exchange(ctx context.Context, g flow.Grant) (tokens.Set, error) {
	answer, err := p.client().Exchange(ctx, CodeGrant{
		Tenant: g.Tenant, TokenEndpoint: g.TokenEndpoint, ClientID: g.ClientID, ClientAuthID: g.ClientAuthID,
		RedirectURI: g.RedirectURI, Code: g.Code, Verifier: g.Verifier, Scope: g.Scope, Extra: g.Extra, RawBasic: g.RawBasic,
	})
	if refusal, ok := errors.AsType[*OAuthError](err); ok && refusal.Code != "" {
		return tokens.Set{}, &flow.PortalError{Code: refusal.Code, AmbiguousBasic: refusal.AmbiguousBasic}
	}
	if err != nil {
		return tokens.Set{}, err
	}
	patient, err := p.patient(ctx, g, answer)
	if err != nil {
		return tokens.Set{}, err
	}
	set := p.withEnds(ctx, g.Tenant, tokens.Set{
		AccessToken: answer.AccessToken, RefreshToken: answer.RefreshToken, PatientID: secret.New(patient),
		Scope: answer.Scope, RepeatScope: g.RepeatScope, FHIRBase: g.FHIRBase, TokenEndpoint: g.TokenEndpoint,
		ClientID: g.ClientID, ClientAuthID: g.ClientAuthID, ExpiresAt: p.Now().Add(answer.ExpiresIn),
		RevocationEndpoint: g.Upstream.Revocation, IntrospectionEndpoint: g.Upstream.Introspection,
		IntrospectBearer: g.Upstream.IntrospectBearer, Extra: answer.Extra, EndpointID: g.EndpointID, RawBasic: g.RawBasic,
	}, answer, extraTime)
	if set.ConsentExpiresAt.IsZero() && g.Upstream.Consent > 0 {
		set.ConsentExpiresAt, set.ConsentStated = p.Now().Add(g.Upstream.Consent), true
	}
	return set, nil
}

// Refresh implements tokens.Refresher. What the answer leaves out stays as it was (RFC 6749 section 6). Where the
// token endpoint has moved, the new one is asked once and belongs to the answer. Errors, besides the refusal: fault.Limited
// for 429 and fault.Upstream for 408 and 5xx, both with the server's RetryAfter; fault.Unavailable when our client could
// not prove who it is; *OAuthError for any other answer that is no token, and the wrapped error of the Doer.
func (p Portal) Refresh(ctx context.Context, tenant org.Tenant, old tokens.Set) (tokens.Set, error) {
	answer, err := p.refresh(ctx, tenant, old)
	if refusal, ok := errors.AsType[*OAuthError](err); ok && refusal.stale() {
		if moved, ok := p.moved(ctx, tenant, old); ok {
			old = moved
			answer, err = p.refresh(ctx, tenant, old)
		}
	}
	if refusal, ok := errors.AsType[*OAuthError](err); ok {
		switch {
		case refusal.Definite():
			return tokens.Set{}, fmt.Errorf("%w: %w", tokens.ErrRefused, err)
		case refusal.passes():
			return tokens.Set{}, passing(refusal, err)
		}
	}
	if err != nil {
		return tokens.Set{}, err
	}
	fresh, within := old, extraTime
	fresh.AccessToken, fresh.Scope, fresh.ExpiresAt = answer.AccessToken, answer.Scope, p.Now().Add(answer.ExpiresIn)
	fresh.Extra = newer(old.Extra, answer.Extra)
	if !answer.RefreshToken.Empty() {
		fresh.RefreshToken, within = answer.RefreshToken, unstoredTime
	}
	return p.withEnds(ctx, tenant, fresh, answer, within), nil
}

// passing makes the error of an answer that speaks of the server's own trouble. What it tells of the grant, *OAuthError
// goes on telling.
func passing(refusal *OAuthError, cause error) error {
	kind, code := fault.Upstream, fault.CodeUnavailable
	if refusal.Status == http.StatusTooManyRequests {
		kind, code = fault.Limited, fault.CodeRateLimited
	}
	return fault.New(kind, code, "The health system is busy. Please try again later.").After(refusal.RetryAfter).Because(cause)
}

// Open implements export.Portals. The error is that of a malformed base.
func (p Portal) Open(base string, manners plan.Manners, token func(context.Context) (secret.Text, error)) (export.Source, error) {
	parsed, err := fhir.ParseBase(base)
	if err != nil {
		return nil, err
	}
	return NewReader(ReaderConfig{Doer: p.Doer, Base: parsed, Manners: manners, Token: token}), nil
}

func (p Portal) client() *Client { return &Client{doer: p.Doer, clients: p.Clients} }

// holder is the client that a token set belongs to, at its server.
func holder(tenant org.Tenant, set tokens.Set) caller {
	return caller{tenant, set.ClientAuthID, set.ClientID, set.TokenEndpoint, set.RawBasic}
}

func (p Portal) refresh(ctx context.Context, tenant org.Tenant, old tokens.Set) (TokenResponse, error) {
	return p.client().Refresh(ctx, RefreshGrant{
		Tenant: tenant, TokenEndpoint: old.TokenEndpoint, ClientID: old.ClientID, ClientAuthID: old.ClientAuthID,
		RefreshToken: old.RefreshToken, Scope: old.Scope, RepeatScope: old.RepeatScope, Extra: slices.Sorted(maps.Keys(old.Extra)),
		RawBasic: old.RawBasic,
	})
}
