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

// Revoke implements refresh.Revoker (RFC 7009): it takes the refresh token back, with which most servers end the access
// tokens, too; without one, the access token. Nothing is asked where there is no endpoint. A server that refuses has
// been asked: it does not know the token, or cannot do better, and asking again would change nothing. An error is
// fault.Unavailable: there was no answer, one that passes, or one that says that our own registration is broken; its
// RetryAfter is the server's.
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

// revoked reads the answer to a revocation. A redirect is none: whoever answers so has not been asked.
func revoked(response *http.Response) error {
	body, err := safehttp.ReadAll(response, maxExtra)
	var read answer
	if err != nil || json.Unmarshal(body, &read) != nil {
		read = nil // the status has to do
	}
	refusal := newOAuthError(response.StatusCode, read.text("error"), read.text("error_description"))
	refusal.RetryAfter = retryAfter(response.Header)
	asked := response.StatusCode/100 == 2 || response.StatusCode/100 == 4 && !refusal.passes() &&
		refusal.Code != codeClient
	if asked {
		return nil
	}
	return unavailable(fmt.Errorf("revocation: %w", refusal), refusal.RetryAfter)
}
