package facilitated_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/memstore"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/facilitated"
	"recordbridge/shared/tefca/people"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	host      = "ehr.example"
	mount     = "https://" + host + "/sandbox"
	clientURI = "https://us.example/udap#T-IAS"
	issuer    = "https://id.example"
)

// provider is the only identity provider that the sandbox trusts.
type provider struct{ key *rsa.PrivateKey }

var identityProvider = sync.OnceValue(func() provider {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return provider{key}
})

func (p provider) Keys(_ context.Context, of string) (jose.JSONWebKeySet, error) {
	if of != issuer {
		return jose.JSONWebKeySet{}, nil
	}
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: "1", Algorithm: "RS256"}}}, nil
}

// assertion returns a person's verified identity, valid for 15 minutes.
func (p provider) assertion(t *testing.T, who tefca.Person) tefca.Assertion {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: p.key},
		(&jose.SignerOptions{}).WithHeader("kid", "1"))
	expect.NoError(t, err)
	ends := time.Now().Add(15 * time.Minute)
	claims, err := json.Marshal(map[string]any{
		"iss": issuer, "sub": "sentinel-subject", "exp": ends.Unix(), "given_name": who.Given, "family_name": who.Family,
		"birthdate": who.BirthDate,
	})
	expect.NoError(t, err)
	signed, err := signer.Sign(claims)
	expect.NoError(t, err)
	token, err := signed.CompactSerialize()
	expect.NoError(t, err)
	return tefca.Assertion{
		Provider: "p", Issuer: issuer, Subject: "sentinel-subject", Level: 2, Person: who, Token: secret.New(token),
		IssuedAt: time.Now(), ExpiresAt: ends,
	}
}

// maple returns Maple, a synthetic patient of TEFCA mode.
func maple(t *testing.T) tefca.Person {
	t.Helper()
	found, ok := people.Named("maple.aster@tefca.example")
	if !ok {
		t.Fatal("there is no such patient")
	}
	return found.Person
}

// ehr returns the sandbox that all tests share. Each test uses a unique label in its URLs. All synctest bubbles start
// at the same virtual time, so every test can use the shared sandbox's clock.
var ehr = sync.OnceValues(func() (http.Handler, error) {
	return sandbox.New(sandbox.Deps{
		BaseURL: mount, Personas: persona.Builtin(),
		Clients: []oauth.Client{{ID: sandbox.DefaultClientID, RedirectURIs: []string{"https://us.example/callback"}}},
		Store:   memstore.New(), Now: time.Now, Random: rand.Reader, AccessTokenTTL: time.Hour, CodeTTL: time.Minute,
		Logger: slog.New(slog.DiscardHandler), Identities: identityProvider(),
	})
})

// wire connects the service to external servers in the test process.
type wire struct {
	mu      sync.Mutex
	asked   []*http.Request             // requests received, with their forms parsed
	instead map[string]http.HandlerFunc // handlers that replace the sandbox's handlers, keyed by path suffix
	handler http.Handler
	shown   []string
}

func (w *wire) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.mu.Lock()
	w.asked = append(w.asked, r)
	if r.Method == http.MethodPost && strings.Contains(string(body), "client_assertion=") {
		w.shown = append(w.shown, r.URL.Host)
	}
	handler := w.handler
	for end, instead := range w.instead {
		if strings.HasSuffix(r.URL.Path, end) {
			handler = instead
		}
	}
	w.mu.Unlock()
	if r.URL.Host != host && !strings.HasSuffix(r.URL.Host, ".evil.example") {
		return nil, fmt.Errorf("no such host: %s", r.URL)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return answer.Result(), nil
}

func recorded(handler http.Handler, r *http.Request) []byte {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, r)
	return answer.Body.Bytes()
}

func (w *wire) count(end string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, r := range w.asked {
		if strings.HasSuffix(r.URL.Path, end) {
			n++
		}
	}
	return n
}

// hosts returns the hosts that received a bearer token and the hosts that received an identity.
func (w *wire) hosts() (bearer, identity []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.asked {
		if r.Header.Get("Authorization") != "" {
			bearer = append(bearer, r.URL.Host+r.URL.Path)
		}
	}
	return bearer, w.shown
}

// world is a network whose facilities are sandbox portals with the given switches.
type world struct {
	*facilitated.Network

	wire   *wire
	places []facilitated.Place
}

func newWorld(t *testing.T, portals ...string) *world {
	t.Helper()
	handler, err := ehr()
	expect.NoError(t, err)
	w := &world{wire: &wire{handler: handler, instead: map[string]http.HandlerFunc{}}}
	label := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, t.Name())
	for i, switches := range portals {
		spec := strings.TrimSuffix(fmt.Sprintf("label:%s-%d,%s", label, i, switches), ",")
		w.places = append(w.places, facilitated.Place{
			ID: fmt.Sprintf("urn:oid:2.999.7.%d", i+1), Name: fmt.Sprintf("Facility %d", i+1), City: "Madison", State: "WI",
			FHIRBase: mount + "/with/" + spec + "/fhir",
		})
	}
	w.Network, err = w.network(t, func(*facilitated.Config) {})
	expect.NoError(t, err)
	return w
}

// network creates the network with a certificate issued by the sandbox.
func (w *world) network(t *testing.T, change func(*facilitated.Config)) (*facilitated.Network, error) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	expect.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	expect.NoError(t, err)
	config := facilitated.Config{
		ClientURI: clientURI, ClientName: "Recordbridge test", Contacts: []string{"mailto:ops@us.example"},
		OrganizationID: "urn:oid:2.999.1", OrganizationName: "Recordbridge", ConsentPolicy: []string{"urn:oid:2.999.2"},
		Certificates: w.certificate(t, key), Anchors: w.fetch(t, http.MethodGet, "/udap/anchor", nil), Places: w.places,
	}
	change(&config)
	keyPEM := secret.New(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	return facilitated.New(config, keyPEM, facilitated.Deps{
		Doer: w.wire, Portals: smart.NewPortal(w.wire, nobody{}, nobody{}, time.Now), Now: time.Now, NewID: ids.Random,
	})
}

func (w *world) certificate(t *testing.T, key *ecdsa.PrivateKey) string {
	t.Helper()
	uri, err := url.Parse(clientURI)
	expect.NoError(t, err)
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{URIs: []*url.URL{uri}}, key)
	expect.NoError(t, err)
	return w.fetch(t, http.MethodPost, "/udap/certificate",
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}))
}

func (w *world) fetch(t *testing.T, method, path string, body []byte) string {
	t.Helper()
	answer := httptest.NewRecorder()
	w.wire.handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, mount+path,
		bytes.NewReader(body)))
	if answer.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// facility returns a facility with the fields that are set when it is chosen.
func (w *world) facility(number int) tefca.Facility {
	return tefca.Facility{ID: w.places[number].ID, Name: w.places[number].Name, Match: tefca.Found, Access: tefca.FHIR}
}

// located queries the network and returns the reported facilities by name.
//
//nolint:revive // t first, as helpers have it
func (w *world) located(t *testing.T, ctx context.Context, who tefca.Assertion) map[string]tefca.Facility {
	t.Helper()
	told := map[string]tefca.Facility{}
	if err := w.Locate(ctx, who, func(f tefca.Facility) error { told[f.Name] = f; return nil }); err != nil {
		t.Fatal(err)
	}
	return told
}

// nobody implements client authentication as a no-op, because reading doesn't need it.
type nobody struct{}

func (nobody) Authenticate(context.Context, org.Tenant, catalog.ClientUse, url.Values, http.Header) error {
	return nil
}

func (nobody) Endpoint(context.Context, string) (catalog.Endpoint, error) {
	return catalog.Endpoint{}, nil
}
