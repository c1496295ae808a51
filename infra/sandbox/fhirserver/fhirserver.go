// Package fhirserver owns the FHIR R4 side of the sandbox EHR: reading, searching with pages, binaries and the
// CapabilityStatement, for one patient at a time.
//
// A bearer token opens the record of one persona, and every answer comes from that record alone: another patient's
// data is not filtered out but out of reach. It does not know how tokens are made (package oauth) or what a record
// says (package persona). Rules: https://hl7.org/fhir/R4/http.html and search.html.
package fhirserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/sandbox/scope"
)

// ErrNoAccess is what an Authorizer returns for a token that opens nothing.
var ErrNoAccess = errors.New("the token gives access to no record")

// Access is what a bearer token opens.
type Access struct {
	PersonaID string
	Scopes    []string
}

// Authorizer looks a bearer token up. Any error but ErrNoAccess is answered with 500.
type Authorizer func(ctx context.Context, token string) (Access, error)

// SecurityURLs go into the oauth-uris extension of the CapabilityStatement.
type SecurityURLs struct{ Authorize, Token, Revoke, Introspect string }

// Config is what a Server is made of. Every field is required; sandbox.New checks them.
type Config struct {
	// BaseURL is the FHIR base without a slash at the end.
	BaseURL   string
	Security  SecurityURLs
	Personas  []persona.Persona
	Authorize Authorizer
	Logger    *slog.Logger
}

// Server answers the FHIR endpoints. It is safe for concurrent use.
type Server struct {
	base      string
	security  SecurityURLs
	records   map[string]func() (*record, error) // by persona id, each built on first use
	patients  map[string]string                  // persona id -> Patient id
	types     []string                           // served by any persona, sorted
	authorize Authorizer
	log       *slog.Logger
	options   Options
}

// Options are what a portal does beyond the plain server, or otherwise. The zero value is FHIR R4 without operations.
type Options struct {
	// Everything offers Patient/{id}/$everything.
	Everything bool
	// Attachments serves the content of every Binary at attachments/{id}.
	Attachments bool
	Version     Version
	// SearchBy is the parameter by which patients are found where FHIR has both patient and subject, and unknown
	// parameters are refused; empty for both.
	SearchBy string
	// AllTypes serves every type of R4's patient compartment, also those that no persona has anything of.
	AllTypes bool
	// Batch states that batches are taken; who routes requests answers them.
	Batch bool
	// Unlisted are types that the CapabilityStatement leaves out.
	Unlisted []string
	// HidesIncludes leaves _include and _revinclude out of the CapabilityStatement.
	HidesIncludes bool
}

// New builds the server; records are indexed when they are first asked for.
func New(c Config) *Server {
	s := &Server{
		base: c.BaseURL, security: c.Security, authorize: c.Authorize, log: c.Logger,
		records: map[string]func() (*record, error){}, patients: map[string]string{},
	}
	for _, p := range c.Personas {
		s.patients[p.ID] = p.PatientID
		s.records[p.ID] = sync.OnceValues(func() (*record, error) { return newRecord(p) })
		s.types = append(s.types, p.Types...)
	}
	slices.Sort(s.types)
	s.types = slices.Compact(s.types)

	return s
}

// At returns the same records under another FHIR base, with another authorization server beside it and options of its
// own. The records and their indexes are shared.
func (s *Server) At(base string, security SecurityURLs, authorize Authorizer, options Options) *Server {
	moved := *s
	moved.base, moved.security, moved.authorize, moved.options = base, security, authorize, options
	if options.AllTypes {
		moved.types = slices.Concat(s.types, strings.Fields(compartment))
		slices.Sort(moved.types)
		moved.types = slices.Compact(moved.types)
	}

	return &moved
}

// session is one authorised request.
type session struct {
	access  Access
	record  *record
	patient string // reference to the Patient
	version Version
}

// Read answers GET /{type}/{id}.
func (s *Server) Read(w http.ResponseWriter, r *http.Request, resourceType, id string) {
	current, ok := s.open(w, r, resourceType, scope.Read)
	if !ok {
		return
	}
	found, ok := current.record.byKey[s.options.Version.inner(resourceType)+"/"+id]
	if !ok {
		s.outcome(w, http.StatusNotFound, issueNotFound, "This resource is not in this patient's record.")

		return
	}
	if resourceType == "Binary" && s.writeBinary(w, r, found.Body) {
		return
	}
	s.writeFHIR(w, http.StatusOK, s.options.Version.body(found))
}

// open authorises the request for one type, in the words of the version, and finds the record; it has
// answered when it returns false.
func (s *Server) open(w http.ResponseWriter, r *http.Request, resourceType string,
	what scope.Interaction,
) (session, bool) {
	current, err := s.authenticate(r)
	if errors.Is(err, ErrNoAccess) {
		challenge := `Bearer realm="sandbox"`
		if r.Header.Get("Authorization") != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		s.outcome(w, http.StatusUnauthorized, issueLogin, "The access token is missing, expired or revoked.")

		return session{}, false
	}
	if err != nil {
		s.log.ErrorContext(r.Context(), "sandbox fhir server failed", slog.Any("error", err))
		s.outcome(w, http.StatusInternalServerError, issueException, "The sandbox could not complete the request. "+
			"Try again.")

		return session{}, false
	}
	if !slices.Contains(s.types, s.options.Version.inner(resourceType)) {
		s.outcome(w, http.StatusNotFound, issueNotSupported, "This server does not serve that resource type.")

		return session{}, false
	}
	if !scope.Allows(current.access.Scopes, resourceType, what) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="sandbox", error="insufficient_scope"`)
		s.outcome(w, http.StatusForbidden, issueForbidden, "The granted scopes do not allow this.")

		return session{}, false
	}

	return current, true
}

func (s *Server) authenticate(r *http.Request) (session, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return session{}, ErrNoAccess
	}
	access, err := s.authorize(r.Context(), token)
	if err != nil {
		return session{}, err
	}
	build, known := s.records[access.PersonaID]
	if !known {
		return session{}, ErrNoAccess
	}
	rec, err := build()
	if err != nil {
		return session{}, fmt.Errorf("record of persona %s: %w", access.PersonaID, err)
	}

	return session{
		access: access, record: rec, patient: "Patient/" + s.patients[access.PersonaID], version: s.options.Version,
	}, nil
}
