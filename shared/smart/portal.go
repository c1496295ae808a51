package smart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/fhir"
	"recordbridge/shared/flow"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/tokens"
)

// Portal is the SMART client as the domains see it: it implements flow.Portal, tokens.Refresher and export.Portals.
type Portal struct {
	Doer   Doer
	Random io.Reader
	Now    func() time.Time
	Cache  *Discoveries // of Discover; nil to ask every time
}

// Discover implements flow.Portal.
func (p Portal) Discover(ctx context.Context, fhirBase string) (flow.Authority, error) {
	server, known := p.Cache.find(fhirBase, p.Now())
	if !known {
		var err error
		if server, err = NewClient(p.Doer).Discover(ctx, fhirBase); err != nil {
			return flow.Authority{}, err
		}
		p.Cache.keep(fhirBase, server, p.Now())
	}
	return flow.Authority{
		Issuer: server.Issuer, IssRequired: server.IssParameter,
		AuthorizationEndpoint: server.AuthorizationEndpoint, TokenEndpoint: server.TokenEndpoint,
		KeySet: server.KeySet, Userinfo: server.Userinfo, Scope: server.Scope, Access: server.Access,
	}, nil
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

// Exchange implements flow.Portal.
func (p Portal) Exchange(ctx context.Context, g flow.Grant) (tokens.Set, error) {
	answer, err := NewClient(p.Doer).Exchange(ctx, CodeGrant{
		TokenEndpoint: g.TokenEndpoint, ClientID: g.ClientID, RedirectURI: g.RedirectURI,
		Code: g.Code, Verifier: g.Verifier, Scope: g.Scope,
	})
	if refusal, ok := errors.AsType[*OAuthError](err); ok && refusal.Code != "" {
		return tokens.Set{}, &flow.PortalError{Code: refusal.Code}
	}
	if err != nil {
		return tokens.Set{}, err
	}
	patient, err := p.patient(ctx, g, answer)
	if err != nil {
		return tokens.Set{}, err
	}
	return tokens.Set{
		AccessToken: answer.AccessToken, RefreshToken: answer.RefreshToken, PatientID: secret.New(patient),
		Scope: answer.Scope, RepeatScope: g.RepeatScope, FHIRBase: g.FHIRBase, TokenEndpoint: g.TokenEndpoint, ClientID: g.ClientID,
		ExpiresAt: p.Now().Add(answer.ExpiresIn),
	}, nil
}

// Refresh implements tokens.Refresher. What the answer leaves out stays as it was (RFC 6749 section 6). Where the
// token endpoint has moved, the new one is asked once and belongs to the answer.
func (p Portal) Refresh(ctx context.Context, _ org.Tenant, old tokens.Set) (tokens.Set, error) {
	answer, err := p.refresh(ctx, old)
	if refusal, ok := errors.AsType[*OAuthError](err); ok && refusal.stale() {
		if moved := p.movedTo(ctx, old); moved != "" {
			old.TokenEndpoint = moved
			answer, err = p.refresh(ctx, old)
		}
	}
	if refusal, ok := errors.AsType[*OAuthError](err); ok && refusal.Definite() {
		return tokens.Set{}, fmt.Errorf("%w: %w", tokens.ErrRefused, err)
	}
	if err != nil {
		return tokens.Set{}, err
	}
	fresh := old
	fresh.AccessToken, fresh.Scope, fresh.ExpiresAt = answer.AccessToken, answer.Scope, p.Now().Add(answer.ExpiresIn)
	if !answer.RefreshToken.Empty() {
		fresh.RefreshToken = answer.RefreshToken
	}
	return fresh, nil
}

// Open implements export.Portals.
func (p Portal) Open(base string, token func(context.Context) (secret.Text, error)) (export.Source, error) {
	parsed, err := fhir.ParseBase(base)
	if err != nil {
		return nil, err
	}
	return NewReader(ReaderConfig{Doer: p.Doer, Base: parsed, Token: token}), nil
}

func (p Portal) refresh(ctx context.Context, old tokens.Set) (TokenResponse, error) {
	return NewClient(p.Doer).Refresh(ctx, RefreshGrant{
		TokenEndpoint: old.TokenEndpoint, ClientID: old.ClientID, RefreshToken: old.RefreshToken,
		Scope: old.Scope, RepeatScope: old.RepeatScope,
	})
}

// movedTo asks the FHIR server, the one that the tokens are for, where its token endpoint is now. It is empty when
// that is not known or nothing has changed.
func (p Portal) movedTo(ctx context.Context, old tokens.Set) string {
	server, err := NewClient(p.Doer).Discover(ctx, old.FHIRBase)
	if err != nil || server.TokenEndpoint == old.TokenEndpoint {
		return ""
	}
	return server.TokenEndpoint
}
