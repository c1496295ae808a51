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

// maxIgnored is the maximum number of bytes read of an unneeded body.
const maxIgnored = 4 << 10

// checkTokenEndpoint checks whether a server responds at the token endpoint, with a request that reveals nothing about
// us.
func (t *tokenRequest) checkTokenEndpoint(ctx context.Context) {
	if !t.trusted {
		t.skip(TokenEndpoint, "Nobody has approved where it is.")
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
	answered := "A GET, which token endpoints do not take, is answered with " + described(seen) + "."
	switch {
	case isOdd && t.noTokenRequest() == "": // some servers route only POST (RFC 6749 section 3.2)
		t.add(TokenEndpoint, OK, seen, answered+" The token requests show how it answers a POST.", "")
	case isOdd:
		t.add(TokenEndpoint, Warning, seen, answered, "-token-request tells how it answers a POST.")
	default:
		t.add(TokenEndpoint, OK, seen, fmt.Sprintf(
			"Somebody answers there, to a GET, which token endpoints do not take, with status %d.", seen.status), "")
	}
}

// requestTokens requests tokens with invalid grants, as a refresh and a callback would. The reason for the refusal
// shows whether our client was accepted. An error is a failure of our random source.
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
		t.skip(TokenCode, "The client was not accepted, and a second failed request would be counted, too.")
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

// noTokenRequest returns the reason why no token request is made, or "" if one may be made.
func (t *tokenRequest) noTokenRequest() string {
	switch {
	case !t.subject.TokenRequest:
		return "No token request was made: it must fail, and some health systems count failed ones or lock the client. " +
			"-token-request makes it."
	case !t.trusted:
		return "No token request was made: nobody has approved where the token endpoint is, and nothing of our client is " +
			"shown there."
	case !t.registered:
		return "No token request was made: there is no registration."
	}
	return ""
}

// judge reports the meaning of a grant's refusal and returns whether our client was refused.
func (t *tokenRequest) judge(step Step, grant string, err error) (refused bool) {
	seen := t.web.posted
	said := refusalOf(err)
	found, do, isUnanswered := unanswered(err)
	switch {
	case err == nil:
		t.add(step, Failed, seen, "The server gave tokens for a made-up "+grant+". They were thrown away.",
			"Tell the health system at once; do not go on.")
	case said.code != "":
		return t.judgeCode(step, grant, said)
	case isUnanswered:
		t.add(step, Failed, seen, found, do)
	case seen.asked == "":
		t.add(step, Failed, seen, "Nothing was sent, since our client cannot prove who it is: "+err.Error()+".",
			"client origins, client rotate, or the permissions of who runs this command (kms:Decrypt, kms:Sign).")
		return true
	case seen.status == http.StatusTooManyRequests:
		t.add(step, Warning, seen, "The token endpoint wants fewer requests (429), and has not looked at our client.",
			"Try again later.")
	case seen.status >= http.StatusInternalServerError && step == TokenCode && t.accepted:
		t.add(step, Warning, seen, "The token endpoint answers a made-up code with "+described(seen)+
			". Our client was accepted there a moment before, so that it may exchange a real code all the same.",
			"Only a sign-in will tell. Tell the health system: an unknown code is invalid_grant (RFC 6749 section 5.2).")
	case seen.status >= http.StatusInternalServerError:
		t.add(step, Failed, seen, "The token endpoint answers with "+described(seen)+".",
			"Try again later; if it stays, ask the health system.")
	case seen.status == http.StatusNotFound:
		t.add(step, Failed, seen, "There is nothing at the token endpoint that discovery names (404).",
			"Ask the health system where its token endpoint is.")
	case seen.status == http.StatusUnauthorized || seen.status == http.StatusForbidden:
		t.add(step, Failed, seen, "The token endpoint answers with "+described(seen)+
			", and no OAuth error: a gateway before it, or a client that it does not know.",
			"Ask the health system to let token requests of ours through, and whether our client id is active.")
		return true
	default:
		t.add(step, Failed, seen, "The token endpoint answers with "+described(seen)+
			", and neither a token nor an OAuth error.", "Ask the health system what answers there.")
	}
	return false
}

// refusal is the OAuth error of a response.
type refusal struct {
	code      string // code of RFC 6749 section 5.2; empty for none
	ambiguous bool   // client id and secret differ for a server that reads HTTP Basic the other way
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
		t.add(step, OK, seen, "Our client was accepted: a made-up "+grant+" was refused as such (invalid_grant).", "")
	case "invalid_client":
		found, do := t.unknownClient(said)
		t.add(step, Failed, seen, found, do)
		return true
	case "unauthorized_client", "unsupported_grant_type":
		result, do := Failed, "Ask the health system to allow our client the authorization code grant."
		if step == TokenRefresh {
			result, do = Warning, "Ask the health system for offline access (refresh tokens); without it a connection ends "+
				"with its access token."
		}
		t.add(step, result, seen, "Our client may not use the grant "+grant+" ("+said.code+").", do)
	default:
		t.add(step, Warning, seen, "The request was refused before anything was said of our client ("+said.code+").",
			"Only a sign-in will tell. Compare what the platform's profile sends with the health system's documents.")
	}
	return false
}

// unknownClient explains invalid_client, for which servers often state a misleading reason.
func (t *tokenRequest) unknownClient(said refusal) (found, do string) {
	auth := t.used.Auth
	switch {
	case said.ambiguous && t.attempt.RawBasic:
		return "Our client was not accepted (invalid_client): the client id or the secret is wrong or not active yet; or " +
				"the server does decode HTTP Basic, while the endpoint says that it does not.",
			"Compare id and secret; else take client: {basic: raw} back (endpoint override)."
	case said.ambiguous:
		return "Our client was not accepted (invalid_client): the client id or the secret is wrong or not active yet; or " +
				"the server does not decode HTTP Basic, " +
				"as many do not: the secret has characters that look different then.",
			"Compare id and secret; else: endpoint override -endpoint " + t.endpoint.ID +
				" -override 'client: {basic: raw}' (together with what is said there already)."
	case auth.ID == "":
		return "Our client was not accepted (invalid_client): the client id is unknown or not active yet, or public " +
				"clients have to prove who they are here.",
			"Compare the client id; ask the health system whether it is registered as a public client."
	case auth.Method == catalog.AuthPrivateKey:
		return "Our client was not accepted (invalid_client): the client id is unknown or not active yet, or the server " +
				"does not have our key (fetching or taking it over can take a day).",
			"Compare the client id; give the health system the keys inline (keys jwks)."
	}
	return "Our client was not accepted (invalid_client): the client id or the secret is wrong or not active yet.",
		"Compare both; client rotate -id " + auth.ID + " -secret-file FILE."
}

// get sends a request without any of our credentials.
func (t *test) get(ctx context.Context, address, accept string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("Accept", accept)
	return t.web.Do(request)
}

func discard(response *http.Response) {
	_, _ = io.CopyN(io.Discard, response.Body, maxIgnored) // the result is irrelevant
	_ = response.Body.Close()
}

// random returns a value of 256 bits that no server has issued.
func (t *test) random() (secret.Text, error) {
	var bits [32]byte
	if _, err := io.ReadFull(t.Random, bits[:]); err != nil {
		return secret.Text{}, fmt.Errorf("token request: random value: %w", err)
	}
	return secret.New(base64.RawURLEncoding.EncodeToString(bits[:])), nil
}
