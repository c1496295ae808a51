// Package identity simulates the identity provider for TEFCA mode at /sandbox/identity (docs/develop/tefca.md,
// "Sandbox"). The package implements OpenID Connect with pushed requests and PKCE for the synthetic patients of
// shared/tefca/people. The provider doesn't verify identities: anyone who opens the page can select an identity. The
// patient's browser calls authorize; the service's relying party calls all other endpoints.
//
// On the page, a tester chooses the id_token's format (shapes) and a fault (faults), so that every verification outcome
// can be tested. Specifications: OpenID Connect Core 1.0 and Discovery 1.0, and RFCs 6749, 7636, 9126 and 9207.
package identity

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"recordbridge/infra/sandbox/jose"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/shared/tefca/people"
)

const (
	// requestLasts is the lifetime of a pushed authorization request. It must exceed the time that a person spends on
	// the page.
	requestLasts = 10 * time.Minute
	// tokenLasts is the lifetime of an id_token.
	tokenLasts = 15 * time.Minute
	// maxForm is the maximum size of a form in bytes.
	maxForm = 16 << 10
)

// Config configures a Server. All fields are required; sandbox.New checks them.
type Config struct {
	Issuer  string
	Clients []oauth.Client
	Store   oauth.Store
	// SigningKey returns the key that signs id_tokens, whose ID is oauth.SigningKeyID.
	SigningKey func(ctx context.Context) (*rsa.PrivateKey, error)
	Now        func() time.Time
	Random     io.Reader // must be safe for concurrent use
	CodeTTL    time.Duration
	Logger     *slog.Logger
}

// Server serves the identity provider's endpoints. A Server keeps all state in the store and is safe for concurrent
// use.
type Server struct{ Config }

// New returns an identity provider server.
func New(c Config) *Server { return &Server{c} }

// Serve serves a request; path is relative to the issuer.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, path string) {
	endpoint, ok := map[string]struct {
		method string
		serve  http.HandlerFunc
	}{
		".well-known/openid-configuration": {http.MethodGet, s.discovery},
		"jwks":                             {http.MethodGet, s.keys},
		"par":                              {http.MethodPost, s.push},
		"authorize":                        {http.MethodGet, s.authorize},
		"token":                            {http.MethodPost, s.token},
		"assets/identity.js":               {http.MethodGet, asset},
	}[path]
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case r.Method != endpoint.method:
		w.Header().Set("Allow", endpoint.method)
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		endpoint.serve(w, r)
	}
}

// discovery serves the provider's metadata (OpenID Connect Discovery 1.0 section 3).
func (s *Server) discovery(w http.ResponseWriter, _ *http.Request) {
	s.writeJSON(w, http.StatusOK, map[string]any{
		"issuer": s.Issuer, "authorization_endpoint": s.Issuer + "/authorize", "token_endpoint": s.Issuer + "/token",
		"jwks_uri": s.Issuer + "/jwks", "pushed_authorization_request_endpoint": s.Issuer + "/par",
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code"},
		"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"RS256"},
		"token_endpoint_auth_methods_supported": []string{"none"}, "code_challenge_methods_supported": []string{"S256"},
		"scopes_supported": []string{"openid", "profile", "address", "email", "phone"},
		"authorization_response_iss_parameter_supported": true,
	})
}

func (s *Server) keys(w http.ResponseWriter, r *http.Request) {
	key, err := s.SigningKey(r.Context())
	if err != nil {
		s.fail(w, r, err)

		return
	}
	s.writeJSON(w, http.StatusOK, jose.PublicKeys(key, oauth.SigningKeyID))
}

// problem is an error response as defined in RFC 6749 sections 4.1.2.1 and 5.2. The description never contains client
// input.
type problem struct{ code, description string }

func (s *Server) writeProblem(w http.ResponseWriter, p problem) {
	s.writeJSON(w, http.StatusBadRequest, map[string]string{"error": p.code, "error_description": p.description})
}

func (s *Server) writeJSON(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		s.Logger.Error("encode answer of the identity provider", slog.Any("error", err))
		w.WriteHeader(http.StatusInternalServerError)

		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// fail responds with status 500 and logs err, which the response does not reveal.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.Logger.ErrorContext(r.Context(), "sandbox identity provider failed", slog.Any("error", err))
	s.writeJSON(w, http.StatusInternalServerError, map[string]string{
		"error": "server_error", "error_description": "The sandbox could not complete the request. Try again.",
	})
}

func (s *Server) client(id string) (oauth.Client, bool) {
	at := slices.IndexFunc(s.Clients, func(c oauth.Client) bool { return c.ID == id })
	if at < 0 {
		return oauth.Client{}, false
	}

	return s.Clients[at], true
}

// patient returns the patient whose claims have the given subject.
func patient(subject string) (people.Patient, bool) {
	all := people.All()
	at := slices.IndexFunc(all, func(p people.Patient) bool { return p.Subject == subject })
	if at < 0 {
		return people.Patient{}, false
	}

	return all[at], true
}
