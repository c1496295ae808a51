package oauth

import (
	"context"
	"net/http"
	"strings"
)

// Revoke answers POST /oauth/revoke (RFC 7009). Either token ends the whole grant. A token that is unknown or belongs
// to another client is answered with 200 as well: nothing is left to do, and nothing is told.
func (s *Server) Revoke(w http.ResponseWriter, r *http.Request) {
	form, client, problem := s.authenticate(w, r)
	if problem == nil && form.Get("token") == "" {
		problem = &oauthError{"invalid_request", "token is missing"}
	}
	if problem != nil {
		s.writeError(w, *problem)

		return
	}
	_, found, _, err := s.findToken(r.Context(), form.Get("token"))
	if err == nil && found.raw != nil && found.grant.ClientID == client.ID {
		err = s.revokeGrant(r.Context(), found.token.GrantID)
	}
	if err != nil {
		s.fail(w, r, err)

		return
	}
	s.writeJSON(w, http.StatusOK, struct{}{})
}

// introspection is the answer of RFC 7662 with the patient of the SMART token introspection profile.
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

// Introspect answers POST /oauth/introspect. A client learns about its own tokens only.
func (s *Server) Introspect(w http.ResponseWriter, r *http.Request) {
	form, client, problem := s.authenticate(w, r)
	if problem == nil && form.Get("token") == "" {
		problem = &oauthError{"invalid_request", "token is missing"}
	}
	if problem != nil {
		s.writeError(w, *problem)

		return
	}
	kind, found, live, err := s.findToken(r.Context(), form.Get("token"))
	if err != nil {
		s.fail(w, r, err)

		return
	}
	if !live || found.grant.ClientID != client.ID {
		s.writeJSON(w, http.StatusOK, introspection{})

		return
	}
	s.writeJSON(w, http.StatusOK, introspection{
		Active: true, Scope: strings.Join(found.token.Scopes, " "), ClientID: client.ID, TokenType: kind,
		Expires: found.token.ExpiresAt, IssuedAt: found.token.IssuedAt, Issuer: s.issuer,
		Patient: s.personas[found.grant.PersonaID].PatientID,
	})
}

// findToken looks for a token of either kind; token_type_hint is not needed, because the kinds never collide.
func (s *Server) findToken(ctx context.Context, token string) (kind string, found foundToken, live bool, err error) {
	found, live, err = s.liveToken(ctx, accessKey(token))
	if err != nil || found.raw != nil {
		return "Bearer", found, live, err
	}
	found, live, err = s.liveToken(ctx, refreshKey(token))

	return "refresh_token", found, live, err
}
