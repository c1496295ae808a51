package smart

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Revoke implements refresh.Revoker (RFC 7009). Revoke revokes the refresh token, which on most servers also revokes
// the access tokens. If there is no refresh token, Revoke revokes the access token. If the server has no revocation
// endpoint, Revoke does nothing. If the server refuses, Revoke returns nil, because the token is unknown to the server
// or can't be revoked, and a retry would not help. The error is fault.Unavailable, with the server's RetryAfter, if
// there is no response, if the failure is temporary, or if the client's registration is faulty.
func (p Portal) Revoke(ctx context.Context, tenant org.Tenant, set tokens.Set) error {
	token, hint := set.RefreshToken, "refresh_token"
	if token.Empty() {
		token, hint = set.AccessToken, "access_token"
	}
	if set.RevocationEndpoint == "" || token.Empty() {
		return nil
	}
	form := url.Values{"token": {token.Reveal()}, "token_type_hint": {hint}}
	spot := fault.Spot{Step: fault.StepRevocation, Host: fault.HostOf(set.RevocationEndpoint)}
	response, err := p.post(ctx, tenant, useOf(set, set.RevocationEndpoint), form) //nolint:bodyclose // revoked closes it
	if err != nil {
		return spot.Failed(unavailable(fmt.Errorf("revocation request: %w", err), 0))
	}
	return spot.Failed(revoked(response))
}

// revoked interprets the response to a revocation request. A redirect is an error because the redirecting server did
// not process the request.
func revoked(response *http.Response) error {
	body, err := safehttp.ReadAll(response, maxExtra)
	var read answer
	if err != nil || json.Unmarshal(body, &read) != nil {
		read = nil // the body doesn't matter
	}
	refusal := newOAuthError(response.StatusCode, read.text("error"), read.text("error_description"))
	refusal.RetryAfter = retryAfter(response.Header)
	asked := response.StatusCode/100 == 2 || response.StatusCode/100 == 4 && !refusal.isTemporary() &&
		refusal.Code != codeClient
	if asked {
		return nil
	}
	return unavailable(fmt.Errorf("revocation: %w", refusal), refusal.RetryAfter)
}
