package scene

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/memstore"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/shared/connect/flow"
)

const clientID = "drill"

// EHR is a health system that can fail: it has a secret for our client and an on/off switch.
type EHR struct {
	URL        string
	EndpointID string // endpoint with which patients connect to the EHR
	AuthID     string // client authentication with the EHR's secret

	server *http.Server
	store  *memstore.Store
	public string // base URL of the service

	mu      sync.Mutex
	secrets map[string]http.Handler // handlers by accepted secret
	used    string                  // secret of the latest token request
	down    bool
}

// NewEHR starts an EHR whose access tokens expire immediately, and registers the service's client there with secret.
// The EHR becomes the scene's institution. The caller must close the EHR.
func (s *Scene) NewEHR(ctx context.Context, secret string) (*EHR, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &EHR{URL: "http://" + listener.Addr().String(), store: memstore.New(), public: s.BaseURL}
	if err := e.SetSecret(secret); err != nil {
		return nil, err
	}
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: time.Second}
	go func() { _ = e.server.Serve(listener) }() // ends when Close closes the listener
	return e, s.register(ctx, e, secret)
}

// register creates the client authentication and the endpoint with ctl, as an operator does.
func (s *Scene) register(ctx context.Context, e *EHR, secret string) error {
	made, err := s.ctlID(ctx, secret, "client_auth_id", "client", "create", "-method", "client_secret_basic",
		"-secret-file", "-", "-origin", e.URL)
	if err != nil {
		return err
	}
	e.AuthID = made
	e.EndpointID, err = s.ctlID(ctx, "", "endpoint_id", "endpoint", "create", "-fhir-base", e.URL+"/fhir", "-mode", "test",
		"-name", "Drill Hospital", "-platform", "smart", "-client-id", clientID, "-client-auth", made)
	s.Sandbox.EndpointID = e.EndpointID
	return err
}

// ctlID runs ctl and returns a field of its output.
func (s *Scene) ctlID(ctx context.Context, input, field string, arguments ...string) (string, error) {
	text, err := s.Ctl(ctx, input, arguments...)
	if err != nil {
		return "", err
	}
	var shown map[string]any
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&shown); err != nil {
		return "", err
	}
	id, ok := shown[field].(string)
	if !ok {
		return "", fmt.Errorf("ctl %s printed no %s: %s", arguments[0], field, text)
	}
	return id, nil
}

// SetSecret replaces the client's secrets with one secret.
func (e *EHR) SetSecret(secret string) error {
	e.mu.Lock()
	e.secrets, e.used = map[string]http.Handler{}, ""
	e.mu.Unlock()
	return e.Accept(secret)
}

// Accept makes the EHR accept a further secret.
func (e *EHR) Accept(secret string) error {
	handler, err := sandbox.New(sandbox.Deps{
		BaseURL: e.URL, Personas: persona.Builtin(), Store: e.store, Now: time.Now, Random: rand.Reader,
		Clients: []oauth.Client{{
			ID: clientID, Secret: secret,
			RedirectURIs: []string{e.public + flow.CallbackPath, e.public + flow.CallbackPath + "/*"},
		}},
		AccessTokenTTL: time.Second, CodeTTL: time.Minute, Logger: slog.New(slog.DiscardHandler),
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.secrets[secret] = handler
	return err
}

// Used returns the secret of the latest token request.
func (e *EHR) Used() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.used
}

// SetDown makes the EHR respond with 503, or makes it work again.
func (e *EHR) SetDown(down bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.down = down
}

// ServeHTTP implements http.Handler.
func (e *EHR) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if handler := e.choose(r); handler != nil {
		handler.ServeHTTP(w, r)
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
}

// Close stops the EHR.
func (e *EHR) Close() { _ = e.server.Close() }

// choose returns the handler for the request's secret, or nil if the EHR is down. A request without an accepted secret
// gets any handler, which rejects the secret.
func (e *EHR) choose(r *http.Request) http.Handler {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.down {
		return nil
	}
	_, secret, ok := r.BasicAuth()
	if ok {
		e.used = secret
	}
	if handler := e.secrets[secret]; handler != nil {
		return handler
	}
	for _, handler := range e.secrets {
		return handler
	}
	return nil
}
