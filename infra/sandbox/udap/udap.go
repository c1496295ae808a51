// Package udap implements the sandbox EHR's UDAP server. The server simulates a facility in a network with facilitated
// FHIR. It supports signed metadata, dynamic registration, and tokens for people verified by an external identity
// provider (HL7 Security for Scalable Registration, Authentication, and Authorization STU2; the extension tefca_ias is
// defined in a draft, docs/develop/tefca.md).
//
// Each stack has its own trust community. The anchor and the portal's key are created on first use and kept in the
// sandbox's store. All server instances of a stack share these keys, which differ between stacks. Any caller can obtain
// a client certificate, because all patients are invented. The package parses JWTs independently of its client
// (shared/tefca/facilitated).
package udap

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"time"

	"recordbridge/infra/sandbox/jose"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/sandbox/switches"
)

// Issuers provides the keys of the identity providers trusted by the portal.
type Issuers interface {
	// Keys returns an issuer's public keys. Keys returns an empty set if the portal does not trust the issuer.
	Keys(ctx context.Context, issuer string) (jose.KeySet, error)
}

// Config configures a Server. All fields are required.
type Config struct {
	Base     string // mount point's URL; the FHIR base is Base + "/fhir"
	Portal   *oauth.Server
	Issuers  Issuers
	Personas []persona.Persona // people for whom clients may request tokens
	Store    oauth.Store
	Now      func() time.Time
	Random   io.Reader
	Logger   *slog.Logger
}

// Server implements the UDAP endpoints. It is safe for concurrent use.
type Server struct {
	config    Config
	community *community
	with      switches.Set
	site      string // prefix of store keys that separates the portals' clients
}

// New returns a server for a portal without simulated faults.
func New(c Config) *Server {
	return &Server{config: c, community: &community{store: c.Store, now: c.Now, random: c.Random}}
}

// At returns a server for another portal in the same trust community. with contains its faults.
func (s *Server) At(base, site string, with switches.Set, portal *oauth.Server) *Server {
	moved := *s
	moved.config.Base, moved.config.Portal, moved.site, moved.with = base, portal, site, with

	return &moved
}

// Serve handles a request. path is relative to the mount point.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, path string) {
	method, serve := http.MethodPost, s.register
	switch path {
	case "fhir/.well-known/udap":
		method, serve = http.MethodGet, s.metadata
	case "udap/anchor":
		method, serve = http.MethodGet, s.anchor
	case "udap/certificate":
		serve = s.certificate
	case "udap/token":
		serve = s.token
	}
	if r.Method != method {
		w.Header().Set("Allow", method)
		w.WriteHeader(http.StatusMethodNotAllowed)

		return
	}
	serve(w, r)
}

func (s *Server) misbehaves(how string) bool { return s.with.Is(switches.UDAP, how) }

func (s *Server) fhirBase() string           { return s.config.Base + "/fhir" }
func (s *Server) tokenURL() string           { return s.config.Base + "/udap/token" }
func (s *Server) registrationURL() string    { return s.config.Base + "/udap/register" }
func (s *Server) key(parts ...string) string { return storeKey(append([]string{s.site}, parts...)...) }

// problem is an error response as defined in RFC 6749 section 5.2 or RFC 7591 section 3.2.2. The description never
// contains client input.
type problem struct{ code, description string }

func (s *Server) answer(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		s.config.Logger.Error("encode udap answer", slog.Any("error", err))
		w.WriteHeader(http.StatusInternalServerError)

		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

func (s *Server) refuse(w http.ResponseWriter, why problem) {
	status := http.StatusBadRequest
	if why.code == "invalid_client" {
		status = http.StatusUnauthorized
	}
	s.answer(w, status, map[string]string{"error": why.code, "error_description": why.description})
}

// fail logs err and responds with server_error, without revealing the cause.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.config.Logger.ErrorContext(r.Context(), "sandbox udap failed", slog.Any("error", err))
	s.answer(w, http.StatusInternalServerError, map[string]string{"error": "server_error"})
}
