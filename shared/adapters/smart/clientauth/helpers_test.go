package clientauth_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/adapters/smart/clientauth"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

var _ smart.Clients = (*clientauth.Registry)(nil)

const (
	endpoint = "https://ehr.example/oauth2/token?tenant=a&b"
	client   = "our client"
	hush     = "hush: 100% päss+word & more"
)

var (
	start  = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	tenant = org.Tenant{Mode: org.Live, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	other  = org.Tenant{Mode: org.Live, OrgID: "0b000000-0000-4000-8000-00000000000b"}

	errVault = errors.New("the vault is away")
)

// memory is an in-memory vault that counts requests for public keys.
type memory struct {
	mu    sync.Mutex
	keys  map[string]crypto.Signer
	asked map[string]int
	fails map[string]bool
	// meet is called for every public-key request.
	meet func()
}

func newMemory(keys map[string]crypto.Signer) *memory {
	return &memory{keys: keys, asked: map[string]int{}, fails: map[string]bool{}, meet: func() {}}
}

func (m *memory) Public(_ context.Context, name string) (crypto.PublicKey, error) {
	m.meet()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked[name]++
	if m.fails[name] || m.keys[name] == nil {
		return nil, fmt.Errorf("%s: %w", name, errVault)
	}
	return m.keys[name].Public(), nil
}

func (m *memory) Signer(_ context.Context, name string, _ crypto.PublicKey) crypto.Signer {
	return m.keys[name]
}

func (m *memory) fail(name string, fails bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails[name] = fails
}

// fourKeys returns two RSA and two P-384 key pairs. The key pairs are created only once, because generating RSA keys is
// slow.
var fourKeys = sync.OnceValues(func() (map[string]crypto.Signer, error) {
	keys := map[string]crypto.Signer{}
	for _, slot := range []string{"1", "2"} {
		rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return nil, err
		}
		ecKey, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
		if err != nil {
			return nil, err
		}
		keys["rsa"+slot], keys["ec"+slot] = rsaKey, ecKey
	}
	return keys, nil
})

func newVault(t *testing.T) *memory {
	t.Helper()
	keys, err := fourKeys()
	if err != nil {
		t.Fatal(err)
	}
	return newMemory(keys)
}

// rows is an in-memory Store that counts reads.
type rows struct {
	clients map[org.Tenant]map[string]catalog.ClientAuth
	reads   int
	err     error
}

func (r *rows) ClientAuthOf(_ context.Context, owner org.Tenant, id string) (catalog.ClientAuth, error) {
	r.reads++
	if r.err != nil {
		return catalog.ClientAuth{}, r.err
	}
	found, ok := r.clients[owner][id]
	if !ok {
		return catalog.ClientAuth{}, fault.Missing("There is no such row.")
	}
	return found, nil
}

func (r *rows) add(owner org.Tenant, a catalog.ClientAuth) {
	if r.clients[owner] == nil {
		r.clients[owner] = map[string]catalog.ClientAuth{}
	}
	r.clients[owner][a.ID] = a
}

// envelope simulates encryption bound to a tenant and a location.
type envelope struct{}

var errSealed = errors.New("sealed for somebody else")

func sealFor(owner org.Tenant, a catalog.ClientAuth, secret string) []byte {
	return []byte(base64.StdEncoding.EncodeToString([]byte(owner.Key() + "\n" + a.SecretBinding() + "\n" + secret)))
}

func (envelope) Open(_ context.Context, owner org.Tenant, boundTo string, sealed []byte) ([]byte, error) {
	opened, err := base64.StdEncoding.DecodeString(string(sealed))
	secret, ok := strings.CutPrefix(string(opened), owner.Key()+"\n"+boundTo+"\n")
	if err != nil || !ok {
		return nil, errSealed
	}
	return []byte(secret), nil
}

type fixture struct {
	*clientauth.Registry

	rows  *rows
	vault *memory
	at    time.Time
	ids   int
}

func newFixture(t *testing.T, names ...string) *fixture {
	t.Helper()
	d := &fixture{rows: &rows{clients: map[org.Tenant]map[string]catalog.ClientAuth{}}, vault: newVault(t), at: start}
	d.Registry = clientauth.NewRegistry(clientauth.Deps{
		Store: d.rows, Opener: envelope{}, Keys: clientauth.NewKeyring(d.vault, names),
		Now:   func() time.Time { return d.at },
		NewID: func() string { d.ids++; return fmt.Sprintf("id-%d", d.ids) },
	})
	return d
}

// origins returns the origins to which secrets may be sent.
func origins() []string { return []string{catalog.Origin(endpoint)} }

func (d *fixture) withSecret(owner org.Tenant, id string, method catalog.AuthMethod, secret string) {
	a := catalog.ClientAuth{ID: id, Method: method, Origins: origins()}
	a.Secret = sealFor(owner, a, secret)
	d.rows.add(owner, a)
}

// token is a parsed assertion.
type token struct {
	signed    string
	header    map[string]any
	claims    map[string]any
	signature []byte
}

func takeApart(t *testing.T, assertion string) token {
	t.Helper()
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 {
		t.Fatalf("no compact JWS: %q", assertion)
	}
	taken := token{signed: parts[0] + "." + parts[1], signature: decode(t, parts[2])}
	if err := errors.Join(json.Unmarshal(decode(t, parts[0]), &taken.header),
		json.Unmarshal(decode(t, parts[1]), &taken.claims)); err != nil {
		t.Fatal(err)
	}
	return taken
}

func decode(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return raw
}

// verifies reports whether the token was signed with the key. The check uses go-jose because it is independent of the
// code that created the signature.
func (k token) verifies(public crypto.PublicKey) bool {
	parsed, err := jose.ParseSignedCompact(k.signed+"."+base64.RawURLEncoding.EncodeToString(k.signature),
		[]jose.SignatureAlgorithm{jose.RS384, jose.ES384})
	if err != nil {
		return false
	}
	_, err = parsed.Verify(public)
	return err == nil
}
