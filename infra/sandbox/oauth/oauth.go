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

// consentLasts is how long a grant and its refresh tokens live.
const consentLasts = 365 * 24 * time.Hour

// PracticeID is the ah_practice of token answers at a portal with switches.Practice (athenahealth).
const PracticeID = "a-1.Practice-7"

// Client is an application registered with the sandbox.
type Client struct {
	ID string
	// Secret makes the client confidential; empty means public.
	Secret string
	// Keys makes the client one with private_key_jwt; the zero value means that it has no keys.
	Keys jose.KeySet
	// RedirectURIs are compared character by character, but that one which ends in "/*" stands for every one with a
	// segment of letters, digits and dashes there: the sandbox is registered with whoever calls.
	RedirectURIs []string
}

// Config is what a Server is made of. Every field is required; sandbox.New checks them.
type Config struct {
	// Issuer is the mount point; FHIRBase is the only acceptable aud.
	Issuer, FHIRBase string
	Personas         []persona.Persona
	Unlisted         []persona.Persona // whom the sign-in page does not offer; the only field that may be empty
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
	// with are the misbehaviours of this portal, and site tells its codes and grants from those of its neighbours.
	with       switches.Set
	site       string
	tokenMoved bool
}

// New builds the server.
func New(c Config) *Server {
	s := &Server{
		issuer: c.Issuer, fhirBase: c.FHIRBase,
		personas: map[string]persona.Persona{}, listed: c.Personas, clients: map[string]Client{},
		store: c.Store, now: c.Now, random: c.Random,
		accessTTL: c.AccessTokenTTL, codeTTL: c.CodeTTL, log: c.Logger,
	}
	for _, p := range slices.Concat(c.Personas, c.Unlisted) {
		s.personas[p.ID] = p
	}
	for _, client := range c.Clients {
		s.clients[client.ID] = client
	}

	return s
}

// At returns the server of a neighbouring portal: the same people, clients and store below another issuer, with the
// misbehaviours of the set. Codes and tokens of one site are unknown at every other. tokenMoved says that the token
// URL is no longer the usual one.
func (s *Server) At(issuer, site string, with switches.Set, tokenMoved bool) *Server {
	moved := *s
	moved.issuer, moved.fhirBase, moved.site, moved.with = issuer, issuer+"/fhir", site, with
	moved.tokenMoved = tokenMoved

	return &moved
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
