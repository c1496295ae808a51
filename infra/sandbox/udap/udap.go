// Package udap owns the UDAP side of the sandbox EHR, as a facility of a network with facilitated FHIR has it:
// signed metadata, dynamic registration, and tokens for a person whom somebody else's identity provider has verified
// (HL7 Security for Scalable Registration, Authentication, and Authorization STU2; the extension tefca_ias is that
// of a draft, docs/develop/tefca.md).
//
// The trust community is the stack's own: its anchor and the portal's key are made when they are first needed and kept
// in the sandbox's store, so that every instance has the same ones and no other stack has them. Whoever asks gets a
// client certificate: everybody here is invented. It reads JWTs with code of its own, not with what it is asked by
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

// Issuers knows the identity providers whose tokens the portal believes.
type Issuers interface {
	// Keys are the public keys of an issuer, none of one that is not believed.
	Keys(ctx context.Context, issuer string) (jose.KeySet, error)
}

// Config is what a Server is made of. Every field is required.
type Config struct {
	Base     string // the mount point: the FHIR base is Base + "/fhir"
	Portal   *oauth.Server
	Issuers  Issuers
	Personas []persona.Persona // all who may be asked for
	Store    oauth.Store
	Now      func() time.Time
	Random   io.Reader
	Logger   *slog.Logger
}

// Server answers the UDAP endpoints. It is safe for concurrent use.
type Server struct {
	config    Config
	community *community
	with      switches.Set
	site      string // tells its clients from those of its neighbours
}

// New builds the server.
func New(c Config) *Server {
	return &Server{config: c, community: &community{store: c.Store, now: c.Now, random: c.Random}}
}

// At returns the server of a neighbouring portal in the same trust community, with the misbehaviours of the set.
func (s *Server) At(base, site string, with switches.Set, portal *oauth.Server) *Server {
	moved := *s
	moved.config.Base, moved.config.Portal, moved.site, moved.with = base, portal, site, with

	return &moved
}

// Serve answers what the path below the mount point names.
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

// misbehaves says whether the portal does this.
func (s *Server) misbehaves(how string) bool { return s.with.Is(switches.UDAP, how) }

func (s *Server) fhirBase() string           { return s.config.Base + "/fhir" }
func (s *Server) tokenURL() string           { return s.config.Base + "/udap/token" }
func (s *Server) registrationURL() string    { return s.config.Base + "/udap/register" }
func (s *Server) key(parts ...string) string { return storeKey(append([]string{s.site}, parts...)...) }

// problem is an error answer of RFC 6749 section 5.2 or RFC 7591 section 3.2.2. The description is
// ours, never a client's text.
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

// fail answers an error of the store; the cause goes to the log only.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.config.Logger.ErrorContext(r.Context(), "sandbox udap failed", slog.Any("error", err))
	s.answer(w, http.StatusInternalServerError, map[string]string{"error": "server_error"})
}
