// Package oauth is the sandbox EHR's authorization server. Like a patient portal's server, it implements SMART
// discovery, the sign-in and consent pages, authorization codes, rotating refresh tokens, revocation and introspection.
//
// A portal with switches (package switches) deviates from these rules as the switches specify. Package sandbox
// implements the faults at the HTTP level, which do not depend on tokens.
//
// Package oauth uses only the personas' IDs and names and never reads a record. Package fhirserver serves the records
// and calls Access to get the access that a bearer token grants. The sandbox does not use passwords. All people are
// fictional, so selecting a persona is enough to sign in as that person. Specifications: SMART App Launch 2
// (https://hl7.org/fhir/smart-app-launch/app-launch.html) and RFCs 6749, 7009, 7636, 7662 and 9207.
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

// PracticeID is the ah_practice value in token responses of portals with switches.Practice (athenahealth).
const PracticeID = "a-1.Practice-7"

// Client is an application registered with the sandbox.
type Client struct {
	ID string
	// Secret is the client's secret, or empty for a public client.
	Secret string
	// Keys enables private_key_jwt for the client. The zero value contains no keys.
	Keys jose.KeySet
	// RedirectURIs lists the allowed redirect URIs. Redirect URIs must match exactly, except that an entry ending in
	// "/*" allows any final segment of letters, digits and dashes. Such entries exist because any caller can use the
	// client registration that the sandbox itself provides.
	RedirectURIs []string
}

// Config configures a Server. All fields are required unless noted; sandbox.New checks them.
type Config struct {
	// Issuer is the URL at which the server is mounted. FHIRBase is the FHIR base URL and the expected value of the aud
	// parameter.
	Issuer, FHIRBase string
	Personas         []persona.Persona
	Unlisted         []persona.Persona // personas omitted from the sign-in page; may be empty
	Clients          []Client
	Store            Store
	Now              func() time.Time
	// Random is the source of randomness for codes and tokens. Random must be safe for concurrent use.
	Random                  io.Reader
	AccessTokenTTL, CodeTTL time.Duration
	Logger                  *slog.Logger
}

// profile holds the data shared by a portal's endpoints: URLs, personas, clock and simulated faults. A profile is
// immutable.
type profile struct {
	issuer, fhirBase string
	personas         map[string]persona.Persona
	listed           []persona.Persona // personas listed on the sign-in page
	now              func() time.Time
	// with holds the portal's simulated faults. site separates the portal's codes and grants from those of other
	// portals.
	with       switches.Set
	site       string
	tokenMoved bool
}

// Server serves a portal's OAuth endpoints. A Server is safe for concurrent use.
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

// New returns a server for a portal without simulated faults.
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

// At returns a server for another portal, with the same personas, clients and store but a different issuer and the
// simulated faults in with. Codes and tokens issued for one site are unknown to every other site. tokenMoved reports
// whether the token endpoint is at its second URL.
func (s *Server) At(issuer, site string, with switches.Set, tokenMoved bool) *Server {
	moved := *s.profile
	moved.issuer, moved.fhirBase, moved.site, moved.with = issuer, issuer+"/fhir", site, with
	moved.tokenMoved = tokenMoved

	return assemble(s.config, s.clients, &moved)
}

// Access describes the data to which a bearer token grants access.
type Access struct {
	PersonaID string
	Scopes    []string
}

// Access returns the access that a bearer token grants. If the token is not valid, Access returns ErrInvalidToken. Any
// other error comes from the store.
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
