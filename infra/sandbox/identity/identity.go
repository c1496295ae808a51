// Package identity owns the simulated identity provider of TEFCA mode (docs/develop/tefca.md, "Sandbox"), at
// /sandbox/identity: OpenID Connect with pushed requests and PKCE, for the synthetic patients of shared/tefca/people.
// Nobody is verified: whoever opens the page picks who they are. Called by the patient's browser (authorize) and by our
// relying party (the rest).
//
// The page lets a tester choose what the id_token looks like (shapes) and what is wrong with it (faults), so
// that every way in which a verification ends can be seen. Rules: OpenID Connect Core 1.0 and Discovery 1.0,
// RFC 6749, 7636, 9126, 9207.
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
	// requestLasts is how long a pushed request may be shown, which is while somebody looks at the page.
	requestLasts = 10 * time.Minute
	// tokenLasts is how long an id_token is valid.
	tokenLasts = 15 * time.Minute
	// maxForm is the largest form in bytes.
	maxForm = 16 << 10
)

// Config is what a Server is made of. Every field is required; sandbox.New checks them.
type Config struct {
	Issuer  string
	Clients []oauth.Client
	Store   oauth.Store
	// SigningKey gives the key that id_tokens are signed with, under oauth.SigningKeyID.
	SigningKey func(ctx context.Context) (*rsa.PrivateKey, error)
	Now        func() time.Time
	Random     io.Reader // must be safe for concurrent use
	CodeTTL    time.Duration
	Logger     *slog.Logger
}

// Server answers the provider's endpoints. It keeps nothing but what is in the store, and is safe for concurrent use.
type Server struct{ Config }

// New builds the server.
func New(c Config) *Server { return &Server{c} }

// Serve answers a request for a path below the issuer.
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

// discovery answers what the provider says of itself (OpenID Connect Discovery 1.0 section 3).
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

// problem is an error answer of RFC 6749 sections 4.1.2.1 and 5.2. The description is ours, never a client's text.
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

// fail answers an error of the store; the cause goes to the log only.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.Logger.ErrorContext(r.Context(), "sandbox identity provider failed", slog.Any("error", err))
	s.writeJSON(w, http.StatusInternalServerError, map[string]string{
		"error": "server_error", "error_description": "The sandbox could not do this. Try again.",
	})
}

// client finds one that is registered here.
func (s *Server) client(id string) (oauth.Client, bool) {
	at := slices.IndexFunc(s.Clients, func(c oauth.Client) bool { return c.ID == id })
	if at < 0 {
		return oauth.Client{}, false
	}

	return s.Clients[at], true
}

// patient finds one by subject.
func patient(subject string) (people.Patient, bool) {
	all := people.All()
	at := slices.IndexFunc(all, func(p people.Patient) bool { return p.Subject == subject })
	if at < 0 {
		return people.Patient{}, false
	}

	return all[at], true
}
