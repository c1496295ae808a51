// Package oauth owns the authorization server of the sandbox EHR: SMART discovery, the sign-in and consent pages, and
// codes, rotating refresh tokens, revocation and introspection, as a patient portal has them.
//
// It knows personas by id and name only and never looks into a record; package fhirserver serves records and asks
// Access what a bearer token may see. There are no passwords: everybody is invented, so choosing a persona signs in.
// Rules: SMART App Launch 2 (https://hl7.org/fhir/smart-app-launch/app-launch.html), RFC 6749, 7009, 7636, 7662, 9207.
package oauth

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"recordbridge/functions/sandboxehr/persona"
	"recordbridge/functions/sandboxehr/scope"
)

// ErrInvalidToken means that a bearer token is unknown, expired or revoked.
var ErrInvalidToken = errors.New("the access token is not valid")

// consentLasts is how long a grant and its refresh tokens live.
const consentLasts = 365 * 24 * time.Hour

// Client is an application registered with the sandbox.
type Client struct {
	ID string
	// Secret makes the client confidential; empty means public.
	Secret string
	// RedirectURIs are compared character by character.
	RedirectURIs []string
}

// Config is what a Server is made of. Every field is required; sandboxehr.New checks them.
type Config struct {
	// Issuer is the mount point; FHIRBase is the only acceptable aud.
	Issuer, FHIRBase string
	Personas         []persona.Persona
	Clients          []Client
	Store            Store
	Now              func() time.Time
	// Random yields codes and tokens; it must be safe for concurrent use.
	Random                  io.Reader
	AccessTokenTTL, CodeTTL time.Duration
	Logger                  *slog.Logger
}

// Server answers the OAuth endpoints. It is safe for concurrent use.
type Server struct {
	issuer, fhirBase   string
	personas           map[string]persona.Persona
	listed             []persona.Persona // as configured, for the sign-in page
	clients            map[string]Client
	store              Store
	now                func() time.Time
	random             io.Reader
	accessTTL, codeTTL time.Duration
	log                *slog.Logger
}

// New builds the server.
func New(c Config) *Server {
	s := &Server{
		issuer: c.Issuer, fhirBase: c.FHIRBase,
		personas: map[string]persona.Persona{}, listed: c.Personas, clients: map[string]Client{},
		store: c.Store, now: c.Now, random: c.Random,
		accessTTL: c.AccessTokenTTL, codeTTL: c.CodeTTL, log: c.Logger,
	}
	for _, p := range c.Personas {
		s.personas[p.ID] = p
	}
	for _, client := range c.Clients {
		s.clients[client.ID] = client
	}

	return s
}

// Access is what one bearer token may see.
type Access struct {
	PersonaID string
	Scopes    []string
}

// Access looks a bearer token up. It returns ErrInvalidToken, or the error of the store.
func (s *Server) Access(ctx context.Context, token string) (Access, error) {
	found, live, err := s.liveToken(ctx, accessKey(token))
	if err != nil {
		return Access{}, err
	}
	if !live {
		return Access{}, ErrInvalidToken
	}

	return Access{PersonaID: found.grant.PersonaID, Scopes: found.token.Scopes}, nil
}

// Endpoints are the absolute URLs of the server, shared by the discovery document and the CapabilityStatement.
type Endpoints struct{ Authorize, Token, Revoke, Introspect string }

// Endpoints returns the server's URLs.
func (s *Server) Endpoints() Endpoints {
	return Endpoints{
		Authorize:  s.issuer + "/oauth/authorize",
		Token:      s.issuer + "/oauth/token",
		Revoke:     s.issuer + "/oauth/revoke",
		Introspect: s.issuer + "/oauth/introspect",
	}
}

// Discovery answers GET {FHIR base}/.well-known/smart-configuration.
func (s *Server) Discovery(w http.ResponseWriter, _ *http.Request) {
	capabilities := []string{
		"launch-standalone", "context-standalone-patient", "permission-patient", "permission-offline",
		"permission-online", "permission-v1", "permission-v2",
	}
	var methods []string
	if s.hasClient(func(c Client) bool { return c.Secret == "" }) {
		capabilities = append(capabilities, "client-public")
		methods = append(methods, "none")
	}
	if s.hasClient(func(c Client) bool { return c.Secret != "" }) {
		capabilities = append(capabilities, "client-confidential-symmetric")
		methods = append(methods, "client_secret_basic", "client_secret_post")
	}
	at := s.Endpoints()
	s.writeJSON(w, http.StatusOK, map[string]any{
		"issuer":                                         s.issuer,
		"authorization_endpoint":                         at.Authorize,
		"token_endpoint":                                 at.Token,
		"revocation_endpoint":                            at.Revoke,
		"introspection_endpoint":                         at.Introspect,
		"grant_types_supported":                          []string{grantCode, grantRefresh},
		"response_types_supported":                       []string{"code"},
		"code_challenge_methods_supported":               []string{"S256"},
		"scopes_supported":                               scope.Supported(),
		"token_endpoint_auth_methods_supported":          methods,
		"capabilities":                                   capabilities,
		"authorization_response_iss_parameter_supported": true,
	})
}

func (s *Server) hasClient(matches func(Client) bool) bool {
	for _, c := range s.clients {
		if matches(c) {
			return true
		}
	}

	return false
}
