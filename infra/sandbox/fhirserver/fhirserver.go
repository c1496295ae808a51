// Package fhirserver implements the sandbox EHR's FHIR R4 server. The package supports reading, paged searching,
// binaries and the CapabilityStatement, for one patient at a time.
//
// A bearer token grants access to a single persona's record. Every response is built from that record alone, so other
// patients' data is unreachable rather than merely filtered out. Package oauth issues the tokens, and package persona
// provides the records. The rules are in https://hl7.org/fhir/R4/http.html and search.html.
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

// ErrNoAccess is returned by an Authorizer for a token that does not grant access.
var ErrNoAccess = errors.New("the token gives access to no record")

// Access describes the access that a bearer token grants.
type Access struct {
	PersonaID string
	Scopes    []string
}

// Authorizer returns the access that a bearer token grants. Any error other than ErrNoAccess results in status 500.
type Authorizer func(ctx context.Context, token string) (Access, error)

// SecurityURLs holds the URLs in the oauth-uris extension of the CapabilityStatement.
type SecurityURLs struct{ Authorize, Token, Revoke, Introspect string }

// Config configures a Server. All fields are required; sandbox.New checks them.
type Config struct {
	// BaseURL is the FHIR base URL without a trailing slash.
	BaseURL   string
	Security  SecurityURLs
	Personas  []persona.Persona
	Authorize Authorizer
	Logger    *slog.Logger
}

// Server serves the FHIR endpoints. A Server is safe for concurrent use.
type Server struct {
	base      string
	security  SecurityURLs
	records   map[string]func() (*record, error) // records by persona ID, each built when first used
	patients  map[string]string                  // Patient IDs by persona ID
	types     []string                           // resource types of all personas, sorted
	authorize Authorizer
	log       *slog.Logger
	options   Options
}

// Options configures how a portal differs from a plain FHIR server. The zero value describes a FHIR R4 server without
// operations.
type Options struct {
	// Everything enables Patient/{id}/$everything.
	Everything bool
	// Attachments enables attachments/{id}, which serves the content of any Binary.
	Attachments bool
	Version     Version
	// SearchBy is the search parameter that selects a patient's resources, for types that have both patient and subject
	// in FHIR. If SearchBy is set, unknown parameters are also rejected. If SearchBy is empty, both parameters work.
	SearchBy string
	// AllTypes serves every resource type in R4's patient compartment, including types absent from every persona's
	// record.
	AllTypes bool
	// Batch advertises batch support in the CapabilityStatement. The request router, not this package, serves batches.
	Batch bool
	// Unlisted lists the types omitted from the CapabilityStatement.
	Unlisted []string
	// HidesIncludes omits _include and _revinclude from the CapabilityStatement.
	HidesIncludes bool
}

// New returns a server that indexes each record on first use.
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

// At returns a server that serves the same records under another FHIR base, with a different authorization server and
// options. Both servers share records and indexes.
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

// session is an authorised request and the record that it may access.
type session struct {
	access  Access
	record  *record
	patient string // reference, such as "Patient/id"
	version Version
}

// Read serves GET /{type}/{id}.
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

// open authorises a request for resources of one type. resourceType is the type's name in the FHIR version being
// served. If open returns false, it has already written a response.
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
