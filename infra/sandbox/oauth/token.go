package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"recordbridge/infra/sandbox/switches"
)

const (
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
)

// pkceVerifier matches a code verifier as defined in RFC 7636 §4.1.
var pkceVerifier = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

type tokenEndpoint struct {
	*profile
	responder

	registry *registry
	scopes   *scopeRules
	ledger   *ledger
	tokens   *tokenIssuer
}

// Token serves POST /oauth/token.
func (e *tokenEndpoint) Token(w http.ResponseWriter, r *http.Request) {
	form, client, problem, err := e.registry.authenticate(w, r)
	if err != nil {
		e.fail(w, r, err)

		return
	}
	if problem != nil {
		e.refuseClient(w, *problem)

		return
	}
	var answer tokenAnswer
	switch form.Get("grant_type") {
	case grantCode:
		answer, problem, err = e.exchangeCode(r.Context(), form, client)
	case grantRefresh:
		answer, problem, err = e.refresh(r.Context(), form, client)
	case "":
		problem = &oauthError{"invalid_request", "grant_type is missing"}
	default:
		problem = &oauthError{"unsupported_grant_type", "grant_type must be authorization_code or refresh_token"}
	}
	switch {
	case err != nil:
		e.fail(w, r, err)
	case problem != nil && problem.code == "invalid_grant" && form.Get("grant_type") == grantCode &&
		e.with.Has(switches.UnknownCode500):
		w.WriteHeader(http.StatusInternalServerError)
	case problem != nil:
		e.writeError(w, *problem)
	default:
		e.writeJSON(w, http.StatusOK, answer)
	}
}

func (e *tokenEndpoint) refuseClient(w http.ResponseWriter, problem oauthError) {
	if problem.code == "invalid_client" && e.with.Has(switches.Client401) {
		e.writeJSON(w, http.StatusUnauthorized, map[string]string{
			"error": "unauthorized_client", "error_description": "Invalid client or Invalid client credentials",
		})

		return
	}
	e.writeError(w, problem)
}

func invalidGrant(description string) *oauthError { return &oauthError{"invalid_grant", description} }

// exchangeCode validates an authorization code and issues tokens. It stores the tokens before marking the code as used,
// so a client can retry after a crash between the two steps. If two exchanges run concurrently, the one that loses the
// swap revokes the grant, as RFC 6749 §4.1.2 requires for a reused code.
func (e *tokenEndpoint) exchangeCode(ctx context.Context, form url.Values,
	client Client,
) (tokenAnswer, *oauthError, error) {
	if form.Get("code") == "" || form.Get("redirect_uri") == "" || form.Get("code_verifier") == "" {
		return tokenAnswer{}, &oauthError{"invalid_request", "code, redirect_uri and code_verifier are required"}, nil
	}
	key := codeKey(form.Get("code"))
	var code codeRecord
	old, err := e.ledger.load(ctx, key, &code)
	if err != nil {
		return tokenAnswer{}, nil, err
	}
	// A code issued to another client gets the same response as an unknown code and stays unused.
	if old == nil || code.ClientID != client.ID || code.Site != e.site {
		return tokenAnswer{}, invalidGrant("the code is not valid"), nil
	}
	if code.Used {
		return tokenAnswer{}, invalidGrant("the code was already used; its grant is revoked"),
			e.ledger.revokeGrant(ctx, code.GrantID)
	}
	if problem := e.checkCode(code, form); problem != nil {
		return tokenAnswer{}, problem, nil
	}
	grant := grantRecord{
		ClientID: client.ID, PersonaID: code.PersonaID, Scopes: code.Scopes, ExpiresAt: e.now().Add(consentLasts).Unix(),
		Site: e.site,
	}
	if _, err = e.ledger.swap(ctx, grantKey(code.GrantID), nil, grant, grant.ExpiresAt); err != nil {
		return tokenAnswer{}, nil, err
	}
	answer, err := e.tokens.issue(ctx, code.GrantID, grant, code.Scopes)
	if err == nil {
		err = e.tokens.identify(ctx, &answer, code)
	}
	if err != nil {
		return tokenAnswer{}, nil, err
	}
	code.Used = true
	swapped, err := e.ledger.swap(ctx, key, old, code, grant.ExpiresAt)
	if err != nil {
		return tokenAnswer{}, nil, err
	}
	if !swapped {
		return tokenAnswer{}, invalidGrant("the code was already used; its grant is revoked"),
			e.ledger.revokeGrant(ctx, code.GrantID)
	}

	return answer, nil, nil
}

func (e *tokenEndpoint) checkCode(code codeRecord, form url.Values) *oauthError {
	verifier := form.Get("code_verifier")
	sum := sha256.Sum256([]byte(verifier))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	switch {
	case e.now().Unix() >= code.ExpiresAt:
		return invalidGrant("the code has expired")
	case form.Get("redirect_uri") != code.RedirectURI:
		return invalidGrant("redirect_uri does not match the authorization request")
	case !pkceVerifier.MatchString(verifier),
		subtle.ConstantTimeCompare([]byte(challenge), []byte(code.Challenge)) != 1:
		return invalidGrant("code_verifier does not match code_challenge")
	}

	return nil
}

// refresh issues new tokens in exchange for a refresh token. The exchanged token becomes invalid. Reusing an old
// refresh token revokes every token in its family (RFC 9700 §4.14.2).
func (e *tokenEndpoint) refresh(ctx context.Context, form url.Values, client Client) (tokenAnswer, *oauthError, error) {
	if form.Get("refresh_token") == "" {
		return tokenAnswer{}, &oauthError{"invalid_request", "refresh_token is missing"}, nil
	}
	key := refreshKey(form.Get("refresh_token"))
	found, live, err := e.ledger.liveToken(ctx, key)
	if err != nil {
		return tokenAnswer{}, nil, err
	}
	if found.grant.ClientID != client.ID || !live && !found.token.Used {
		return tokenAnswer{}, invalidGrant("the refresh token is not valid"), nil
	}
	reused := invalidGrant("the refresh token was already used; its grant is revoked")
	if found.token.Used {
		return tokenAnswer{}, reused, e.ledger.revokeGrant(ctx, found.token.GrantID)
	}
	scopes := found.grant.Scopes
	if requested := form.Get("scope"); requested != "" {
		scopes = strings.Fields(requested)
		if slices.ContainsFunc(scopes, func(one string) bool { return !slices.Contains(found.grant.Scopes, one) }) {
			return tokenAnswer{}, &oauthError{"invalid_scope", "scope exceeds the granted scope"}, nil
		}
	} else if e.with.Has(switches.RefreshNeedsScope) {
		return tokenAnswer{}, &oauthError{"invalid_request", "scope is missing"}, nil
	}
	answer, err := e.tokens.issue(ctx, found.token.GrantID, found.grant, scopes)
	if err != nil {
		return tokenAnswer{}, nil, err
	}
	switch e.with.Text(switches.Rotation) {
	case "none":
		answer.RefreshToken = ""

		return answer, nil, nil
	case "rolling":
		return answer, nil, nil
	}
	found.token.Used = true
	swapped, err := e.ledger.swap(ctx, key, found.raw, found.token, found.token.ExpiresAt)
	if err != nil {
		return tokenAnswer{}, nil, err
	}
	if !swapped {
		return tokenAnswer{}, reused, e.ledger.revokeGrant(ctx, found.token.GrantID)
	}

	return answer, nil, nil
}

type foundToken struct {
	token tokenRecord
	grant grantRecord
	raw   []byte // stored bytes of the token, for compare-and-swap
}

// liveToken looks up a token and its grant. If the token or its grant has expired or been revoked, or the token has
// already been used, liveToken sets found but returns false for live.
func (l *ledger) liveToken(ctx context.Context, key string) (found foundToken, live bool, err error) {
	found.raw, err = l.load(ctx, key, &found.token)
	if err != nil || found.raw == nil {
		return foundToken{}, false, err
	}
	found.grant, live, err = l.liveGrant(ctx, found.token.GrantID)
	if err != nil || found.grant.Site != l.site {
		return foundToken{}, false, err
	}

	return found, live && !found.token.Used && l.now().Unix() < found.token.ExpiresAt, nil
}
