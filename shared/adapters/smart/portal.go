package smart

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Portal communicates with health systems. It obtains, refreshes and revokes tokens, and uses them to read FHIR
// resources. Portal implements flow.Exchanger, tokens.Refresher, refresh.Revoker and source.Portals, and is safe for
// concurrent use.
type Portal struct {
	doer      Doer
	clients   Clients
	endpoints Endpoints
	now       func() time.Time
}

// NewPortal returns a Portal. All arguments are required. Refresh uses endpoints to decide whether tokens may be sent
// to a token endpoint that has moved.
func NewPortal(doer Doer, clients Clients, endpoints Endpoints, now func() time.Time) Portal {
	return Portal{doer: doer, clients: clients, endpoints: endpoints, now: now}
}

// Exchange implements flow.Exchanger. Exchange sends the code only to the token endpoint that was pinned when the
// attempt began (RFC 9700 section 4.4). The consent's expiry comes from the server's responses or, if they contain
// none, from the platform's profile.
func (p Portal) Exchange(ctx context.Context, grant flow.Grant) (tokens.Set, error) {
	a := grant.Attempt
	form := url.Values{"grant_type": {"authorization_code"}, "code": {grant.Code.Reveal()}, "redirect_uri": {a.Callback}}
	if !grant.Verifier.Empty() { // servers must reject a verifier without a challenge (RFC 9700 section 2.1.1)
		form.Set("code_verifier", grant.Verifier.Reveal())
	}
	set := tokens.Set{
		RepeatScope: a.RepeatScope, FHIRBase: a.FHIRBase, TokenEndpoint: a.TokenEndpoint, ClientID: a.ClientID,
		ClientAuthID: a.ClientAuthID, RawBasic: a.RawBasic, EndpointID: a.EndpointID,
		RevocationEndpoint: a.Upstream.Revocation, IntrospectionEndpoint: a.Upstream.Introspection,
		IntrospectBearer: a.Upstream.IntrospectBearer,
	}
	answer, err := p.token(ctx, a.Tenant, useOf(set, a.TokenEndpoint), wanted{a.Scope, a.Extra}, form)
	if refusal, ok := errors.AsType[*OAuthError](err); ok && refusal.Code != "" {
		return tokens.Set{}, fault.SpotOf(err).Failed(
			&flow.PortalError{Code: refusal.Code, AmbiguousBasic: refusal.AmbiguousBasic})
	}
	if err != nil {
		return tokens.Set{}, err
	}
	patient, err := p.patient(ctx, a, answer)
	if err != nil {
		return tokens.Set{}, fault.Spot{
			Step: fault.StepIdentity, Host: fault.HostOf(a.TokenEndpoint),
			Class: "id_token",
		}.Failed(err)
	}
	set.AccessToken, set.RefreshToken, set.PatientID = answer.access, answer.refresh, secret.New(patient)
	set.Scope, set.ExpiresAt, set.Extra = answer.scope, p.now().Add(answer.expiresIn), answer.extra
	set = p.withEnds(ctx, a.Tenant, set, answer, extraTime)
	if set.ConsentExpiresAt.IsZero() && a.Upstream.Consent > 0 {
		set.ConsentExpiresAt, set.ConsentStated = p.now().Add(a.Upstream.Consent), true
	}
	return set, nil
}

// Refresh implements tokens.Refresher. Values missing from the response are unchanged (RFC 6749 section 6). If the
// token endpoint has moved, Refresh tries the new endpoint once and returns it in the set. If the server rejects the
// grant itself, the error is tokens.ErrRefused. The error is fault.Limited for a 429, and fault.Upstream for a 408 or
// 5xx, each with the server's RetryAfter. For any other response without a token, the error is an *OAuthError. If the
// client could not be authenticated, the error is fault.Unavailable. Errors from the Doer are wrapped.
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
		case refusal.isTemporary():
			return tokens.Set{}, newTemporaryError(refusal, err)
		}
	}
	if err != nil {
		return tokens.Set{}, err
	}
	fresh, within := old, extraTime
	fresh.AccessToken, fresh.Scope, fresh.ExpiresAt = answer.access, answer.scope, p.now().Add(answer.expiresIn)
	fresh.Extra = newer(old.Extra, answer.extra)
	if !answer.refresh.Empty() {
		fresh.RefreshToken, within = answer.refresh, unstoredTime
	}
	return p.withEnds(ctx, tenant, fresh, answer, within), nil
}

// Open implements source.Portals. It returns an error if the base is malformed.
func (p Portal) Open(base string, profile plan.Profile,
	token func(context.Context) (secret.Text, error),
) (source.Server, error) {
	parsed, err := fhir.ParseBase(base)
	if err != nil {
		return nil, err
	}
	return &reader{fetcher: fetcher{doer: p.doer, base: parsed, profile: profile}, token: token}, nil
}

// refresh sends one refresh request. The request omits the scope parameter unless old.RepeatScope is set, because
// servers grant the same scope by default and some servers reject the parameter.
func (p Portal) refresh(ctx context.Context, tenant org.Tenant, old tokens.Set) (tokenAnswer, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {old.RefreshToken.Reveal()}}
	if old.RepeatScope && old.Scope != "" {
		form.Set("scope", old.Scope)
	}
	want := wanted{old.Scope, slices.Sorted(maps.Keys(old.Extra))}
	return p.token(ctx, tenant, useOf(old, old.TokenEndpoint), want, form)
}

// newTemporaryError returns the error for a response that indicates a temporary failure. The error wraps the
// *OAuthError, which reports whether the grant was used.
func newTemporaryError(refusal *OAuthError, cause error) error {
	kind, code := fault.Upstream, fault.CodeUnavailable
	if refusal.Status == http.StatusTooManyRequests {
		kind, code = fault.Limited, fault.CodeRateLimited
	}
	return fault.New(kind, code,
		"The health system is busy. Please try again later.").After(refusal.RetryAfter).Because(cause)
}
