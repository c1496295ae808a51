package sandbox_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/memstore"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
)

func TestNewRejectsInvalidDependencies(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*sandbox.Deps){
		"relative base":         func(d *sandbox.Deps) { d.BaseURL = "/sandbox" },
		"base with a slash":     func(d *sandbox.Deps) { d.BaseURL += "/" },
		"base with a query":     func(d *sandbox.Deps) { d.BaseURL += "?x=1" },
		"no store":              func(d *sandbox.Deps) { d.Store = nil },
		"no clock":              func(d *sandbox.Deps) { d.Now = nil },
		"no random":             func(d *sandbox.Deps) { d.Random = nil },
		"no logger":             func(d *sandbox.Deps) { d.Logger = nil },
		"no personas":           func(d *sandbox.Deps) { d.Personas = nil },
		"persona twice":         func(d *sandbox.Deps) { d.Personas = append(d.Personas, d.Personas[0]) },
		"no clients":            func(d *sandbox.Deps) { d.Clients = nil },
		"client twice":          func(d *sandbox.Deps) { d.Clients = append(d.Clients, d.Clients[0]) },
		"client without id":     func(d *sandbox.Deps) { d.Clients[0].ID = "" },
		"client without target": func(d *sandbox.Deps) { d.Clients[0].RedirectURIs = nil },
		"no access lifetime":    func(d *sandbox.Deps) { d.AccessTokenTTL = 0 },
		"no code lifetime":      func(d *sandbox.Deps) { d.CodeTTL = 0 },
	} {
		deps := sandbox.Deps{
			BaseURL: "https://api.example/v1/sandbox", Personas: persona.Builtin(),
			Clients: []oauth.Client{{ID: "app", RedirectURIs: []string{redirectURI}}}, Store: memstore.New(),
			Now: func() time.Time { return time.Unix(0, 0) }, Random: rand.Reader, AccessTokenTTL: time.Hour,
			CodeTTL: time.Minute, Logger: slog.New(slog.DiscardHandler),
		}
		if _, err := sandbox.New(deps); err != nil {
			t.Fatalf("good dependencies: %v", err)
		}
		spoil(&deps)
		if _, err := sandbox.New(deps); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

type brokenStore struct{}

var errBroken = errors.New("table-is-gone")

func (brokenStore) Put(context.Context, string, []byte, time.Time) error { return errBroken }

func (brokenStore) Get(context.Context, string) ([]byte, bool, error) { return nil, false, errBroken }

func (brokenStore) Swap(context.Context, string, []byte, []byte, time.Time) (bool, error) {
	return false, errBroken
}

func TestStoreErrorIsLoggedButNotReturned(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	p := newPortal(t, func(d *sandbox.Deps) {
		d.Store = brokenStore{}
		d.Logger = slog.New(slog.NewTextHandler(&lines, nil))
	})
	for name, a := range map[string]answer{
		"authorize":  p.authorize("persona", "alder-maple", "decision", "approve"),
		"token":      p.post("/oauth/token", exchangeForm("some-secret-code")),
		"refresh":    p.refresh("some-secret-token"),
		"revoke":     p.revoke("some-secret-token", clientID),
		"introspect": p.post("/oauth/introspect", exchangeForm("", "token", "some-secret-token")),
		"fhir":       p.read("some-secret-token", "Observation"),
	} {
		if a.status != http.StatusInternalServerError || bytes.Contains(a.body, []byte("table-is-gone")) {
			t.Errorf("%s: %d %s, want 500 without the cause", name, a.status, a.body)
		}
	}
	if log := lines.String(); strings.Count(log, "table-is-gone") != 6 || strings.Contains(log, "some-secret") {
		t.Errorf("log, want each cause and no secret:\n%s", log)
	}
}

func TestTokensAreStoredAsHashes(t *testing.T) {
	t.Parallel()
	store := &recordingStore{Store: memstore.New()}
	p := newPortal(t, func(d *sandbox.Deps) { d.Store = store })
	code := p.code("alder-maple")
	got := p.tokens(p.post("/oauth/token", exchangeForm(code)))
	for _, secret := range []string{code, got.Access, got.Refresh} {
		if strings.Contains(store.written.String(), secret) {
			t.Errorf("the store holds a code or token in the clear")
		}
	}
	if !strings.Contains(store.written.String(), "alder-maple") {
		t.Error("the store was not used")
	}
}

type recordingStore struct {
	*memstore.Store

	written bytes.Buffer
}

func (s *recordingStore) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	s.written.WriteString(key)
	s.written.Write(value)

	return s.Store.Put(ctx, key, value, expires)
}

func (s *recordingStore) Swap(ctx context.Context, key string, old, value []byte, expires time.Time) (bool, error) {
	s.written.WriteString(key)
	s.written.Write(value)

	return s.Store.Swap(ctx, key, old, value, expires)
}
