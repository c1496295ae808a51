package clientauth_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/jose"
	"recordbridge/infra/sandbox/memstore"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/smart/clientauth"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret/jws"
)

// portal is the sandbox's authorization server, with clients whose keys and secrets are in the embedded KMS.
type portal struct {
	base     string
	rows     *rows
	keys     *jws.Keyring
	registry *clientauth.Registry
	seals    *kms.Sealer
}

func newKey(t *testing.T, vault *awskms.Client, in *awskms.CreateKeyInput) string {
	t.Helper()
	created, err := vault.CreateKey(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return *created.KeyMetadata.Arn
}

func newPortal(t *testing.T) *portal {
	t.Helper()
	cloud, err := aws.New(aws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	vault := awskms.NewFromConfig(cloud.Config("test"))
	signing := func(spec types.KeySpec) string {
		return newKey(t, vault, &awskms.CreateKeyInput{KeySpec: spec, KeyUsage: types.KeyUsageTypeSignVerify})
	}
	now := func() time.Time { return start }
	h := &portal{
		rows: &rows{clients: map[org.Tenant]map[string]catalog.ClientAuth{}},
		keys: jws.NewKeyring(kms.ClientKeys(vault),
			[]string{signing(types.KeySpecRsa2048), signing(types.KeySpecEccNistP384)}),
		seals: kms.New(vault, kms.SecretsKey(newKey(t, vault, &awskms.CreateKeyInput{})), catalog.ClientSecretPurpose, now),
	}
	h.registry = clientauth.NewRegistry(clientauth.Deps{
		Store: h.rows, Opener: h.seals, Keys: h.keys, Now: now,
		NewID: ids.Random,
	})

	set, err := h.keys.JWKS(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	registered, err := jose.ParseKeySet(document)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	h.base = "http://" + server.Listener.Addr().String() + "/v1/sandbox"
	redirects := []string{"https://recordbridge.example/v1/bridge/callback"}
	server.Config.Handler, err = sandbox.New(sandbox.Deps{
		BaseURL: h.base, Personas: persona.Builtin(), Store: memstore.New(), Now: now, Random: rand.Reader,
		AccessTokenTTL: time.Hour, CodeTTL: time.Minute, Logger: slog.New(slog.DiscardHandler),
		Clients: []oauth.Client{
			{ID: "keyed", Keys: registered, RedirectURIs: redirects},
			{ID: client, Secret: hush, RedirectURIs: redirects},
			{ID: "public", RedirectURIs: redirects},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(server.Close)
	return h
}

// request sends an authenticated refresh request and returns the token endpoint's error. Because the refresh token is
// invalid, the error is "invalid_grant" if authentication succeeds.
func (h *portal) request(t *testing.T, authID, clientID, tokenEndpoint, audience string) string {
	t.Helper()
	form, header := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"none"}}, http.Header{}
	if err := h.registry.Authenticate(t.Context(), tenant,
		catalog.ClientUse{AuthID: authID, ClientID: clientID, TokenEndpoint: audience, Address: tokenEndpoint}, form,
		header); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, tokenEndpoint,
		strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return answer.Error
}

func (h *portal) withSecret(t *testing.T, owner org.Tenant, a catalog.ClientAuth) {
	t.Helper()
	var err error
	a.Origins = []string{catalog.Origin(h.base)}
	if a.Secret, err = h.seals.Seal(t.Context(), owner, a.SecretBinding(), []byte(hush)); err != nil {
		t.Fatal(err)
	}
	h.rows.add(owner, a)
}

func TestSandboxAcceptsEveryClientAuthMethod(t *testing.T) {
	t.Parallel()
	h := newPortal(t)
	h.withSecret(t, tenant, catalog.ClientAuth{ID: "basic", Method: catalog.AuthSecretBasic})
	h.withSecret(t, org.Tenant{}, catalog.ClientAuth{ID: "post", Method: catalog.AuthSecretPost})
	h.rows.add(tenant, catalog.ClientAuth{ID: "RSA", Method: catalog.AuthPrivateKey, Algorithm: "RS384"})
	h.rows.add(org.Tenant{}, catalog.ClientAuth{ID: "EC", Method: catalog.AuthPrivateKey, Algorithm: "ES384"})
	clients := map[string]string{"": "public", "basic": client, "post": client, "RSA": "keyed", "EC": "keyed"}
	token := h.base + "/oauth/token"
	for authID, clientID := range clients {
		if got := h.request(t, authID, clientID, token, token); got != "invalid_grant" {
			t.Errorf("%q: got %s, want invalid_grant", authID, got)
		}
	}
	for authID, clientID := range map[string]string{
		"": client, "basic": "keyed", "post": "keyed", "RSA": client,
		"EC": "unknown",
	} {
		if got := h.request(t, authID, clientID, token, token); got != "invalid_client" {
			t.Errorf("%q as %s: got %s, want invalid_client", authID, clientID, got)
		}
	}
	if got := h.request(t, "RSA", "keyed", token, h.base+"/oauth/revoke"); got != "invalid_client" {
		t.Errorf("an assertion for another address: got %s, want invalid_client", got)
	}
}

func TestSandboxRejectsOtherClientAuthMethods(t *testing.T) {
	t.Parallel()
	h := newPortal(t)
	h.withSecret(t, tenant, catalog.ClientAuth{ID: "client_secret_basic", Method: catalog.AuthSecretBasic})
	h.withSecret(t, tenant, catalog.ClientAuth{ID: "client_secret_post", Method: catalog.AuthSecretPost})
	h.rows.add(tenant, catalog.ClientAuth{ID: "private_key_jwt", Method: catalog.AuthPrivateKey, Algorithm: "ES384"})
	clients := map[string]string{"client_secret_basic": client, "client_secret_post": client, "private_key_jwt": "keyed"}
	for _, demanded := range slices.Sorted(maps.Keys(clients)) {
		token := h.base + "/with/client-auth:" + demanded + "/oauth/token"
		for authID, clientID := range clients {
			want := "invalid_client"
			if authID == demanded {
				want = "invalid_grant"
			}
			if got := h.request(t, authID, clientID, token, token); got != want {
				t.Errorf("%s where %s is demanded: got %s, want %s", authID, demanded, got, want)
			}
		}
	}
}

func TestSandboxAcceptsInlineRSAKeys(t *testing.T) {
	t.Parallel()
	h := newPortal(t)
	h.rows.add(tenant, catalog.ClientAuth{ID: "RSA", Method: catalog.AuthPrivateKey, Algorithm: "RS384"})
	h.rows.add(tenant, catalog.ClientAuth{ID: "EC", Method: catalog.AuthPrivateKey, Algorithm: "ES384"})
	set, err := h.keys.JWKS(t.Context(), "RSA")
	if err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	token := h.base + "/with/client-auth:private_key_jwt,jwks:" + base64.RawURLEncoding.EncodeToString(document) +
		"/oauth/token"
	for authID, want := range map[string]string{"RSA": "invalid_grant", "EC": "invalid_client"} {
		if got := h.request(t, authID, "public", token, token); got != want {
			t.Errorf("%s: got %s, want %s", authID, got, want)
		}
	}
}
