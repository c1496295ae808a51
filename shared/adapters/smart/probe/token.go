package probe

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/secret"
)

// maxIgnored is the maximum number of bytes to discard from an unneeded body.
const maxIgnored = 4 << 10

// checkTokenEndpoint checks whether the token endpoint responds. Its request reveals nothing about the client.
func (t *tokenRequest) checkTokenEndpoint(ctx context.Context) {
	if !t.trusted {
		t.skip(TokenEndpoint, "The token endpoint has not been approved.")
		return
	}
	t.web.forget()
	response, err := t.get(ctx, t.attempt.TokenEndpoint, "application/json")
	seen := t.web.last
	if err != nil {
		found, do, _ := unanswered(err)
		t.add(TokenEndpoint, Failed, seen, found, do)
		return
	}
	discard(response)
	isOdd := seen.status == http.StatusNotFound || seen.status >= http.StatusInternalServerError &&
		seen.status != http.StatusNotImplemented
	answered := "A GET, which token endpoints don't accept, returned " + described(seen) + "."
	switch {
	case isOdd && t.noTokenRequest() == "": // some servers route only POST (RFC 6749 section 3.2)
		t.add(TokenEndpoint, OK, seen, answered+" The token requests below test a POST.", "")
	case isOdd:
		t.add(TokenEndpoint, Warning, seen, answered, "To test a POST, use -token-request.")
	default:
		t.add(TokenEndpoint, OK, seen, fmt.Sprintf(
			"The host responds: status %d to a GET, which token endpoints don't accept.", seen.status), "")
	}
}

// requestTokens requests tokens with invalid grants, in the same way as a refresh and a callback. The error code shows
// whether the server accepted the client. requestTokens returns an error only if the random source fails.
func (t *tokenRequest) requestTokens(ctx context.Context) error {
	if why := t.noTokenRequest(); why != "" {
		t.skip(TokenRefresh, why)
		t.skip(TokenCode, why)
		return nil
	}
	random, err := t.random()
	if err != nil {
		return err
	}
	stage := &rehearsal{endpoint: t.endpoint}
	portal := smart.NewPortal(t.web, t.Clients, stage, t.Now)
	a := t.attempt
	t.web.forget()
	_, err = portal.Refresh(ctx, a.Tenant, tokens.Set{
		RefreshToken: random, Scope: a.Scope, RepeatScope: a.RepeatScope, EndpointID: a.EndpointID, FHIRBase: a.FHIRBase,
		TokenEndpoint: a.TokenEndpoint,
		ClientID:      a.ClientID, ClientAuthID: a.ClientAuthID, RawBasic: a.RawBasic,
	})
	if refused := t.judge(TokenRefresh, "refresh_token", err); refused {
		t.skip(TokenCode, "The client was rejected, and a second failed request would also be counted.")
		return nil
	}
	code, err := t.random()
	if err != nil {
		return err
	}
	verifier := secret.Text{}
	if !a.NoChallenge {
		if verifier, _, err = t.authorizer.NewVerifier(); err != nil {
			return fmt.Errorf("token request: %w", err)
		}
	}
	t.web.forget()
	_, err = portal.Exchange(ctx, flow.Grant{Attempt: a, Code: code, Verifier: verifier})
	t.judge(TokenCode, "authorization_code", err)
	return nil
}

// noTokenRequest explains why the test must not send a token request, or returns "" if token requests are allowed.
func (t *tokenRequest) noTokenRequest() string {
	switch {
	case !t.subject.TokenRequest:
		return "No token request was made: it is meant to fail, and some health systems count failures or lock the " +
			"client. To make it, use -token-request."
	case !t.trusted:
		return "No token request was made: the token endpoint has not been approved, so our client's credentials are " +
			"not sent to it."
	case !t.registered:
		return "No token request was made: no client is registered."
	}
	return ""
}

// judge classifies the outcome of a token request. refused is true if the server rejected the client or the client
// could not authenticate.
func (t *tokenRequest) judge(step Step, grant string, err error) (refused bool) {
	seen := t.web.posted
	said := refusalOf(err)
	found, do, isUnanswered := unanswered(err)
	switch {
	case err == nil:
		t.add(step, Failed, seen, "The server issued tokens for a made-up "+grant+". They were discarded.",
			"Tell the health system at once; do not continue.")
	case said.code != "":
		return t.judgeCode(step, grant, said)
	case isUnanswered:
		t.add(step, Failed, seen, found, do)
	case seen.asked == "":
		t.add(step, Failed, seen, "Nothing was sent, because our client can't authenticate: "+err.Error()+".",
			"Check client set -origin, client rotate, and your permissions (kms:Decrypt, kms:Sign).")
		return true
	case seen.status == http.StatusTooManyRequests:
		t.add(step, Warning, seen, "The token endpoint is rate limiting (429) and has not checked our client.",
			"Try again later.")
	case seen.status >= http.StatusInternalServerError && step == TokenCode && t.accepted:
		t.add(step, Warning, seen, "For a made-up code, the token endpoint returned "+described(seen)+
			". It had just accepted our client, so exchanging a real code may still work.",
			"Only a real sign-in can show whether this works. Tell the health system: an unknown code is "+
				"invalid_grant (RFC 6749 section 5.2).")
	case seen.status >= http.StatusInternalServerError:
		t.add(step, Failed, seen, "The token endpoint returned "+described(seen)+".",
			"Try again later. If this persists, ask the health system.")
	case seen.status == http.StatusNotFound:
		t.add(step, Failed, seen, "The token endpoint from discovery returned 404.",
			"Ask the health system for its token endpoint.")
	case seen.status == http.StatusUnauthorized || seen.status == http.StatusForbidden:
		t.add(step, Failed, seen, "The token endpoint returned "+described(seen)+
			", but no OAuth error: either a gateway in front of it, or an unknown client.",
			"Ask the health system to allow our token requests, and whether our client ID is active.")
		return true
	default:
		t.add(step, Failed, seen, "The token endpoint returned "+described(seen)+
			", which is neither a token nor an OAuth error.", "Ask the health system which server this is.")
	}
	return false
}

type refusal struct {
	code      string // RFC 6749 section 5.2 error code, or empty
	ambiguous bool   // whether decoding HTTP Basic would change the client ID or secret
}

func refusalOf(err error) refusal {
	if failed, ok := errors.AsType[*smart.OAuthError](err); ok {
		return refusal{code: failed.Code, ambiguous: failed.AmbiguousBasic}
	}
	if failed, ok := errors.AsType[*flow.PortalError](err); ok {
		return refusal{code: failed.Code, ambiguous: failed.AmbiguousBasic}
	}
	return refusal{}
}

func (t *tokenRequest) judgeCode(step Step, grant string, said refusal) (refused bool) {
	seen := t.web.posted
	switch said.code {
	case "invalid_grant":
		t.accepted = true
		t.add(step, OK, seen, "Our client was accepted: a made-up "+grant+" was rejected as such (invalid_grant).", "")
	case "invalid_client":
		found, do := t.unknownClient(said)
		t.add(step, Failed, seen, found, do)
		return true
	case "unauthorized_client", "unsupported_grant_type":
		result, do := Failed, "Ask the health system to allow the authorization code grant for our client."
		if step == TokenRefresh {
			result, do = Warning, "Ask the health system for offline access (refresh tokens). Without it, a "+
				"connection ends when its access token expires."
		}
		t.add(step, result, seen, "Our client may not use the grant "+grant+" ("+said.code+").", do)
	default:
		t.add(step, Warning, seen, "The request was rejected before the client was checked ("+said.code+").",
			"Only a real sign-in can show whether this works. Compare the parameters in the platform's profile with "+
				"the health system's documentation.")
	}
	return false
}

// unknownClient explains an invalid_client error, which servers often return for other reasons.
func (t *tokenRequest) unknownClient(said refusal) (found, do string) {
	auth := t.used.Auth
	switch {
	case said.ambiguous && t.attempt.RawBasic:
		return "Our client was rejected (invalid_client). Either the client ID or secret is wrong or not yet active, " +
				"or the server decodes HTTP Basic although the endpoint is configured otherwise.",
			"Compare the client ID and secret. If they are right, remove client: {basic: raw} with endpoint set -override."
	case said.ambiguous:
		return "Our client was rejected (invalid_client). Either the client ID or secret is wrong or not yet active, " +
				"or the server doesn't decode HTTP Basic, which is common, and the secret has characters that encoding " +
				"changes.",
			"Compare the client ID and secret. If they are right: endpoint set -id " + t.endpoint.ID +
				" -override 'client: {basic: raw}' (together with the existing overrides)."
	case auth.ID == "":
		return "Our client was rejected (invalid_client). Either the client ID is unknown or not yet active, or the " +
				"server requires public clients to authenticate.",
			"Compare the client ID. Ask the health system whether it is registered as a public client."
	case auth.Method == catalog.AuthPrivateKey:
		return "Our client was rejected (invalid_client). Either the client ID is unknown or not yet active, or the " +
				"server doesn't have our key yet, which can take a day.",
			"Compare the client ID. Give the health system the keys inline (keys jwks)."
	}
	return "Our client was rejected (invalid_client). The client ID or secret is wrong or not yet active.",
		"Compare the client ID and secret; client rotate -id " + auth.ID + " -secret-file FILE."
}

// get sends a GET request without credentials.
func (t *test) get(ctx context.Context, address, accept string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("Accept", accept)
	return t.web.Do(request)
}

func discard(response *http.Response) {
	_, _ = io.CopyN(io.Discard, response.Body, maxIgnored)
	_ = response.Body.Close()
}

// random returns a 256-bit value that no server has issued.
func (t *test) random() (secret.Text, error) {
	var bits [32]byte
	if _, err := io.ReadFull(t.Random, bits[:]); err != nil {
		return secret.Text{}, fmt.Errorf("token request: random value: %w", err)
	}
	return secret.New(base64.RawURLEncoding.EncodeToString(bits[:])), nil
}
