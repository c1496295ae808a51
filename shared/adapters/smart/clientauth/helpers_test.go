package clientauth_test

import (
	"context"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/infra/testkit/vaulttest"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/adapters/smart/clientauth"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret/jws"
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
)

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
	vault *vaulttest.Vault
	at    time.Time
	ids   int
}

func newFixture(t *testing.T, names ...string) *fixture {
	t.Helper()
	d := &fixture{rows: &rows{clients: map[org.Tenant]map[string]catalog.ClientAuth{}}, vault: vaulttest.New(t), at: start}
	d.Registry = clientauth.NewRegistry(clientauth.Deps{
		Store: d.rows, Opener: envelope{}, Keys: jws.NewKeyring(d.vault, names),
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
