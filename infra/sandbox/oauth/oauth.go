// Package oauth owns the authorization server of the sandbox EHR: SMART discovery, the sign-in and consent pages, and
// codes, rotating refresh tokens, revocation and introspection, as in a patient portal.
//
// A portal with switches (package switches) breaks these rules as the switches specify; package sandbox implements the
// wire-level faults, which do not depend on tokens.
//
// It knows only the ids and names of personas and never reads a record; package fhirserver serves records and calls
// Access for the rights of a bearer token. There are no passwords: all persons are invented, so choosing a persona
// signs in. Rules: SMART App Launch 2 (https://hl7.org/fhir/smart-app-launch/app-launch.html), RFC 6749, 7009, 7636,
// 7662, 9207.
package oauth

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"time"

	"recordbridge/infra/sandbox/jose"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/sandbox/switches"
)

// ErrInvalidToken means that a bearer token is unknown, expired or revoked.
var ErrInvalidToken = errors.New("the access token is not valid")

// consentLasts is the lifetime of a grant and its refresh tokens.
const consentLasts = 365 * 24 * time.Hour

// PracticeID is the ah_practice of token responses at a portal with switches.Practice (athenahealth).
const PracticeID = "a-1.Practice-7"

// Client is an application registered with the sandbox.
type Client struct {
	ID string
	// Secret makes the client confidential; empty means public.
	Secret string
	// Keys enables private_key_jwt for the client; the zero value means that it has no keys.
	Keys jose.KeySet
	// RedirectURIs are compared character by character, except that one ending in "/*" matches every URI with a segment of
	// letters, digits and dashes in that position: any caller can use the sandbox's own registration.
	RedirectURIs []string
}

// Config configures a Server. Every field is required unless noted; sandbox.New checks them.
type Config struct {
	// Issuer is the mount point; FHIRBase is the only acceptable aud.
	Issuer, FHIRBase string
	Personas         []persona.Persona
	Unlisted         []persona.Persona // not offered on the sign-in page; the only field that may be empty
	Clients          []Client
	Store            Store
	Now              func() time.Time
	// Random is the source of codes and tokens; it must be safe for concurrent use.
	Random                  io.Reader
	AccessTokenTTL, CodeTTL time.Duration
	Logger                  *slog.Logger
}

// profile holds the common data of one portal's endpoints: its URLs, persons, clock and misbehaviours. It never
// changes.
type profile struct {
	issuer, fhirBase string
	personas         map[string]persona.Persona
	listed           []persona.Persona // as configured, for the sign-in page
	now              func() time.Time
	// with holds the misbehaviours of this portal, and site distinguishes its codes and grants from those of its
	// neighbours.
	with       switches.Set
	site       string
	tokenMoved bool
}

// Server serves the OAuth endpoints of one portal. It is safe for concurrent use.
type Server struct {
	*profile
	*signer
	*discoveryEndpoints
	*authorizeEndpoint
	*tokenEndpoint
	*statusEndpoints

	config  Config
	clients map[string]Client
}

// New returns the server.
func New(c Config) *Server {
	personas, clients := map[string]persona.Persona{}, map[string]Client{}
	for _, p := range slices.Concat(c.Personas, c.Unlisted) {
		personas[p.ID] = p
	}
	for _, client := range c.Clients {
		clients[client.ID] = client
	}

	return assemble(c, clients, &profile{
		issuer: c.Issuer, fhirBase: c.FHIRBase, personas: personas, listed: c.Personas, now: c.Now,
	})
}

func assemble(c Config, clients map[string]Client, p *profile) *Server {
	reply := responder{log: c.Logger}
	records := &ledger{profile: p, store: c.Store, random: c.Random}
	keys := &signer{profile: p, store: c.Store}
	scopes := &scopeRules{profile: p}
	known := &registry{profile: p, ledger: records, clients: clients}
	tokens := &tokenIssuer{profile: p, ledger: records, signer: keys, accessTTL: c.AccessTokenTTL}

	return &Server{
		profile: p, signer: keys, config: c, clients: clients,
		discoveryEndpoints: &discoveryEndpoints{
			profile: p, responder: reply, registry: known, scopes: scopes, signer: keys,
		},
		authorizeEndpoint: &authorizeEndpoint{
			profile: p, responder: reply, clients: clients, scopes: scopes, ledger: records, codeTTL: c.CodeTTL,
		},
		tokenEndpoint: &tokenEndpoint{
			profile: p, responder: reply, registry: known, scopes: scopes, ledger: records, tokens: tokens,
		},
		statusEndpoints: &statusEndpoints{profile: p, responder: reply, registry: known, ledger: records},
	}
}

// At returns the server of a neighbouring portal: the same persons, clients and store below another issuer, with the
// misbehaviours of the set. Codes and tokens of one site are unknown at every other. tokenMoved means that the token
// URL is not the usual one.
func (s *Server) At(issuer, site string, with switches.Set, tokenMoved bool) *Server {
	moved := *s.profile
	moved.issuer, moved.fhirBase, moved.site, moved.with = issuer, issuer+"/fhir", site, with
	moved.tokenMoved = tokenMoved

	return assemble(s.config, s.clients, &moved)
}

// Access holds the rights of one bearer token.
type Access struct {
	PersonaID string
	Scopes    []string
}

// Access looks up a bearer token. It returns ErrInvalidToken, or the error of the store.
func (e *statusEndpoints) Access(ctx context.Context, token string) (Access, error) {
	found, live, err := e.ledger.liveToken(ctx, accessKey(token))
	if err != nil {
		return Access{}, err
	}
	if !live {
		return Access{}, ErrInvalidToken
	}

	return Access{PersonaID: found.grant.PersonaID, Scopes: found.token.Scopes}, nil
}
