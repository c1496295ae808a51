package oauth

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"recordbridge/infra/sandbox/switches"
)

// statusEndpoints serves token revocation, introspection and userinfo. It can't issue tokens.
type statusEndpoints struct {
	*profile
	responder

	registry *registry
	ledger   *ledger
}

// Revoke serves POST /oauth/revoke (RFC 7009). Revoking an access or refresh token revokes the entire grant. The status
// is also 200 for an unknown token or another client's token, so the response doesn't reveal whether the token exists.
func (e *statusEndpoints) Revoke(w http.ResponseWriter, r *http.Request) {
	form, client, ok := e.tokenForm(w, r)
	if !ok {
		return
	}
	_, found, _, err := e.ledger.findToken(r.Context(), form.Get("token"))
	if err == nil && found.raw != nil && found.grant.ClientID == client.ID {
		err = e.ledger.revokeGrant(r.Context(), found.token.GrantID)
	}
	if err != nil {
		e.fail(w, r, err)

		return
	}
	e.writeJSON(w, http.StatusOK, struct{}{})
}

// introspection is an RFC 7662 response with the patient from SMART's token introspection profile.
type introspection struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	Expires   int64  `json:"exp,omitempty"`
	IssuedAt  int64  `json:"iat,omitempty"`
	Issuer    string `json:"iss,omitempty"`
	Patient   string `json:"patient,omitempty"`
}

// Introspect serves POST /oauth/introspect. Clients can introspect only their own tokens.
func (e *statusEndpoints) Introspect(w http.ResponseWriter, r *http.Request) {
	asking := e.tokenForm
	if e.with.Has(switches.IntrospectBearer) {
		asking = e.bearerForm
	}
	form, client, ok := asking(w, r)
	if !ok {
		return
	}
	kind, found, live, err := e.ledger.findToken(r.Context(), form.Get("token"))
	if err != nil {
		e.fail(w, r, err)

		return
	}
	if !live || found.grant.ClientID != client.ID {
		e.writeJSON(w, http.StatusOK, introspection{})

		return
	}
	e.writeJSON(w, http.StatusOK, introspection{
		Active: true, Scope: strings.Join(found.token.Scopes, " "), ClientID: client.ID, TokenType: kind,
		Expires: found.token.ExpiresAt, IssuedAt: found.token.IssuedAt, Issuer: e.issuer,
		Patient: e.personas[found.grant.PersonaID].PatientID,
	})
}

// Userinfo serves GET /oauth/userinfo (OpenID Connect Core §5.3) at portals with switches.PatientUserinfo. For other
// portals, Userinfo returns false without writing a response.
func (e *statusEndpoints) Userinfo(w http.ResponseWriter, r *http.Request) bool {
	if !e.with.Has(switches.PatientUserinfo) {
		return false
	}
	if found, ok := e.bearer(w, r); ok {
		person := e.personas[found.grant.PersonaID]
		e.writeJSON(w, http.StatusOK, map[string]string{"sub": person.ID, "patient": person.PatientID})
	}

	return true
}

// tokenForm authenticates the client and parses the form of a request about a token. If tokenForm returns false, it has
// already written a response.
func (e *statusEndpoints) tokenForm(w http.ResponseWriter, r *http.Request) (url.Values, Client, bool) {
	form, client, problem, err := e.registry.authenticate(w, r)
	if err != nil {
		e.fail(w, r, err)

		return nil, Client{}, false
	}
	if problem == nil && form.Get("token") == "" {
		problem = &oauthError{"invalid_request", "token is missing"}
	}
	if problem != nil {
		e.writeError(w, *problem)

		return nil, Client{}, false
	}

	return form, client, true
}

// bearerForm is like tokenForm, but for portals that accept an access token as authorization for introspection.
func (e *statusEndpoints) bearerForm(w http.ResponseWriter, r *http.Request) (url.Values, Client, bool) {
	if problem := parseForm(w, r); problem != nil {
		e.writeError(w, *problem)

		return nil, Client{}, false
	}
	found, ok := e.bearer(w, r)

	return r.PostForm, Client{ID: found.grant.ClientID}, ok
}

// bearer looks up the access token that authorises a request. If bearer returns false, it has already written a
// response.
func (e *statusEndpoints) bearer(w http.ResponseWriter, r *http.Request) (foundToken, bool) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	found, live, err := e.ledger.liveToken(r.Context(), accessKey(token))
	if err != nil {
		e.fail(w, r, err)

		return foundToken{}, false
	}
	if !live {
		w.Header().Set("WWW-Authenticate", `Bearer realm="sandbox", error="invalid_token"`)
		e.writeJSON(w, http.StatusUnauthorized, map[string]string{"error": "invalid_token"})
	}

	return found, live
}

// findToken looks up an access or refresh token. It needs no token_type_hint parameter, because access and refresh
// tokens never collide.
func (l *ledger) findToken(ctx context.Context, token string) (kind string, found foundToken, live bool, err error) {
	found, live, err = l.liveToken(ctx, accessKey(token))
	if err != nil || found.raw != nil {
		return "Bearer", found, live, err
	}
	found, live, err = l.liveToken(ctx, refreshKey(token))

	return "refresh_token", found, live, err
}
