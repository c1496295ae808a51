package probe_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/memstore"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/shared/adapters/smart/clientauth"
	"recordbridge/shared/adapters/smart/probe"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/export/known"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret/jws"
)

// world runs the sandbox EHR and the service whose operator tests endpoints.
type world struct {
	learned    known.Server // results of earlier exports
	learnedErr error
	service    string // the API's base URL, under which the sandbox runs
	secret     string
	client     *safehttp.Client
	used       operator.Registered
	missing    bool
	down       bool // whether the service itself is unreachable

	instead answer // replaces one of the sandbox's responses

	mu    sync.Mutex
	hosts []string // hosts that received requests
	sent  []string // requests sent to the sandbox: method, path, query, Authorization and form
}

var signingKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

const endpointID = "0b7ad1c6-6b1e-4c0f-8c3e-2d9f2f4a7e11"

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		client: safehttp.New(safehttp.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
		used: operator.Registered{Registration: catalog.Registration{
			Place: catalog.Place{EndpointID: endpointID}, ClientID: sandbox.DefaultClientID, Callback: "of-this-registration",
		}},
	}
	server := httptest.NewUnstartedServer(nil)
	w.service = "http://" + server.Listener.Addr().String() + "/v1"
	w.used.CallbackAddress = w.service + "/bridge/callback/of-this-registration"
	ehr, err := sandbox.New(sandbox.Deps{
		BaseURL: w.service + "/sandbox", Personas: persona.Builtin()[:1],
		Clients: []oauth.Client{{ID: sandbox.DefaultClientID, RedirectURIs: []string{w.used.CallbackAddress}}},
		Store:   memstore.New(), Now: time.Now, Random: rand.Reader, AccessTokenTTL: time.Hour, CodeTTL: time.Minute,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.sent = append(w.sent, r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery+" "+r.Header.Get("Authorization")+" "+string(body))
		w.mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		ehr.ServeHTTP(out, r)
	})
	server.Start()
	t.Cleanup(server.Close)
	return w
}

func (w *world) Known(context.Context, string) (known.Server, error) { return w.learned, w.learnedErr }

// Do sends the request through the guarded client unless the test replaces the response.
func (w *world) Do(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.hosts = append(w.hosts, r.URL.Host)
	w.mu.Unlock()
	if w.instead.isFor(r) {
		return w.instead.to(r)
	}
	return w.client.Do(r)
}

func (w *world) InEffect(context.Context, org.Tenant, catalog.Place) (operator.Registered, error) {
	if w.missing {
		return operator.Registered{}, fault.Missing("Our client is not registered there.")
	}
	return w.used, nil
}

func (w *world) PublicKeys(ctx context.Context, _ bool) (operator.KeySet, error) {
	var shown operator.KeySet
	if w.down {
		return shown, errors.New("the service is down")
	}
	set, err := w.keyring().JWKS(ctx, "")
	if err != nil {
		return shown, err
	}
	text, err := json.Marshal(set)
	if err != nil {
		return shown, err
	}
	return shown, json.Unmarshal(text, &shown)
}

// ClientAuthOf returns the stored client, which all tenants share.
func (w *world) ClientAuthOf(_ context.Context, owner org.Tenant, id string) (catalog.ClientAuth, error) {
	if owner != (org.Tenant{}) || id != w.used.Auth.ID {
		return catalog.ClientAuth{}, fault.NotFound
	}
	return w.used.Auth, nil
}

func (w *world) Open(context.Context, org.Tenant, string, []byte) ([]byte, error) {
	return []byte(w.secret), nil
}

func (w *world) Public(context.Context, string) (crypto.PublicKey, error) {
	return signingKey().Public(), nil
}

func (w *world) Signer(context.Context, string, crypto.PublicKey) crypto.Signer { return signingKey() }

func (w *world) asked(suffix string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.sent), func(one string) bool {
		path, _, _ := strings.Cut(strings.Fields(one)[1], "?")
		return !strings.HasSuffix(path, suffix)
	})
}

// wantNothingShown checks that the report contains none of the secrets or URL queries that the test sent.
func (w *world) wantNothingShown(t *testing.T, text string) {
	t.Helper()
	for _, one := range w.asked("") {
		_, query, _ := strings.Cut(one, "?")
		parts := strings.SplitN(query, " ", 4)
		values, err := url.ParseQuery(parts[0] + "&" + parts[len(parts)-1])
		if err != nil {
			t.Fatal(err)
		}
		names := []string{
			"client_secret", "client_assertion", "refresh_token", "code", "code_verifier", "code_challenge",
			"state", "nonce",
		}
		shown := append(make([]string, 0, len(names)+3), parts[0], parts[len(parts)-2], w.secret)
		for _, name := range names {
			shown = append(shown, values.Get(name))
		}
		for _, hidden := range shown {
			// The client secret also occurs in the sandbox's path, as part of a switch.
			if hidden != "" && hidden != "Basic" &&
				strings.Contains(strings.ReplaceAll(text, "client-secret:"+w.secret, ""), hidden) {
				t.Errorf("it is told: %q", hidden)
			}
		}
	}
}

// endpoint returns a sandbox endpoint with the given switches, pinned to the sandbox's URL.
func (w *world) endpoint(switches, platformType string) catalog.Endpoint {
	site, at := w.service+"/sandbox", catalog.Origin(w.service)
	if switches != "" {
		site += "/with/" + switches
	}
	return catalog.Endpoint{
		ID: endpointID, FHIRBase: site + "/fhir", Mode: "test", Status: catalog.EndpointActive, PlatformType: platformType,
		FHIRVersion: "4.0.1",
		Pins:        catalog.Pins{Issuer: site, Authorization: at, Token: at, Keys: at, Revocation: at, Introspection: at},
	}
}

// confidential sets the client's authentication method and the secret or key that it requires.
func (w *world) confidential(method catalog.AuthMethod) {
	w.used.Registration.AuthID = "auth"
	w.used.Auth = catalog.ClientAuth{ID: "auth", Method: method, Origins: []string{catalog.Origin(w.service)}}
	if method == catalog.AuthPrivateKey {
		w.used.Auth.Algorithm = "RS384"
	}
}

func (w *world) keyring() *jws.Keyring {
	return jws.NewKeyring(w, []string{"one"})
}

// jwks returns a sandbox switch that registers the client's public key.
func (w *world) jwks(t *testing.T) string {
	t.Helper()
	set, err := w.keyring().JWKS(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return "jwks:" + base64.RawURLEncoding.EncodeToString(text)
}

// run tests the subject and returns the checks grouped by step, and the complete report.
func (w *world) run(t *testing.T, s probe.Subject) (map[string][]probe.Check, string) {
	t.Helper()
	platforms, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	p := probe.New(probe.Deps{
		HTTP: w,
		Clients: clientauth.NewRegistry(clientauth.Deps{
			Store: w, Opener: w, Keys: w.keyring(), Now: time.Now,
			NewID: ids.Random,
		}),
		Registrations: w, Keys: w, Platforms: platforms, Known: w, BaseURL: w.service, Now: time.Now, NewID: ids.Random,
		Random: rand.Reader,
	})
	checks, err := p.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(checks, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	by := map[string][]probe.Check{}
	for _, c := range checks {
		by[string(c.Step)] = append(by[string(c.Step)], c)
	}
	return by, string(text)
}
