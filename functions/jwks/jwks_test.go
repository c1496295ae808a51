package jwks_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"recordbridge/functions/jwks"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/words/secret/jws"
)

// vault holds the elliptic-curve key whose private scalar is 1. If away is set, every attempt to read the key fails.
type vault struct{ away bool }

func (v vault) Public(context.Context, string) (crypto.PublicKey, error) {
	if v.away {
		return nil, errors.New("arn:aws:kms:us-east-1:000000000000:key/1 is away")
	}
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P384(), append(make([]byte, 47), 1))
	if err != nil {
		return nil, err
	}
	return &key.PublicKey, nil
}

func (vault) Signer(context.Context, string, crypto.PublicKey) crypto.Signer { return nil }

func get(v vault, method, query string, names ...string) *httptest.ResponseRecorder {
	return getAt(jwks.Route, query, method, jwks.Deps{API: keyedtest.NewAPI(), Keys: jws.NewKeyring(v, names)})
}

func getAt(route, query, method string, d jwks.Deps) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, route+query, http.NoBody)
	r.Pattern = route
	jwks.New(d).ServeHTTP(w, r)
	return w
}

func TestKeySetRequiresNoAuthentication(t *testing.T) {
	t.Parallel()
	// generator is the key set whose only key is the generator of P-384 (SEC 2 section 2.5.1).
	const generator = `{"keys":[{"kty":"EC","kid":"-W6Wzot_wuerYbKBVKfGEks3iY2EALna-hBqObnPuJE","use":"sig",` +
		`"key_ops":["verify"],"alg":"ES384",` +
		`"crv":"P-384","x":"qofKIr6LBTeOscce8yCtdG4dO2KLp5uYWfdB4IJUKjhVAvJdv1UpbDpUXjhydgq3",` +
		`"y":"NhfeSpYmLG9dnpi_kpLcKfj0Hb0omhR86doxE7XwuMAKYLHOHX6BnXpDHXyQ6g5f"}]}`
	unknown := keyedtest.FailureBody("svc_invalid_request", "kty must be RSA or EC.")
	failed := keyedtest.FailureBody("svc_server_error", "Something went wrong on our side. Please try again.")
	for name, c := range map[string]struct {
		vault  vault
		query  string
		keys   []string
		status int
		want   string
		cache  string
	}{
		"all":      {keys: []string{"ec"}, status: 200, want: generator, cache: "public, max-age=3600"},
		"elliptic": {query: "?kty=EC", keys: []string{"ec"}, status: 200, want: generator, cache: "public, max-age=3600"},
		"RSA": {
			query: "?kty=RSA", keys: []string{"ec"}, status: 200, want: `{"keys":[]}`,
			cache: "public, max-age=3600",
		},
		"none":         {status: 200, want: `{"keys":[]}`, cache: "public, max-age=3600"},
		"left empty":   {query: "?kty=", keys: []string{"ec"}, status: 200, want: generator, cache: "public, max-age=3600"},
		"unknown":      {query: "?kty=oct", keys: []string{"ec"}, status: 400, want: unknown, cache: "no-store"},
		"lower case":   {query: "?kty=rsa", keys: []string{"ec"}, status: 400, want: unknown, cache: "no-store"},
		"the KMS away": {vault: vault{away: true}, keys: []string{"ec"}, status: 500, want: failed, cache: "no-store"},
	} {
		w := get(c.vault, http.MethodGet, c.query, c.keys...)
		if got := strings.TrimSpace(w.Body.String()); w.Code != c.status || got != c.want {
			t.Errorf("%s: got %d %s, want %d %s", name, w.Code, got, c.status, c.want)
		}
		for header, want := range map[string]string{
			"Cache-Control": c.cache, "Content-Type": "application/json", "Access-Control-Allow-Origin": "*",
		} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%s: %s: got %q, want %q", name, header, got, want)
			}
		}
	}
}

func TestKeySetRejectsOtherMethods(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]int{"HEAD": 200, "OPTIONS": 204, "POST": 405, "PUT": 405, "DELETE": 405} {
		if w := get(vault{}, method, ""); w.Code != want {
			t.Errorf("%s: got %d, want %d", method, w.Code, want)
		}
	}
}

func TestManifestKeySetContainsOnlyManifestKeys(t *testing.T) {
	t.Parallel()
	const cached = "public, max-age=3600"
	d := jwks.Deps{API: keyedtest.NewAPI(), Keys: jws.NewKeyring(vault{}, []string{"client"})}
	d.Manifests = jws.NewKeyring(vault{}, nil)
	w := getAt(jwks.ManifestRoute, "", http.MethodGet, d)
	if got := strings.TrimSpace(w.Body.String()); got != `{"keys":[]}` || w.Header().Get("Cache-Control") != cached {
		t.Errorf("without a manifest key: got %s, %v", got, w.Header())
	}
	d.Keys, d.Manifests = jws.NewKeyring(vault{}, nil), jws.NewKeyring(vault{}, []string{"manifest"})
	if w = getAt(jwks.ManifestRoute, "", http.MethodGet, d); !strings.Contains(w.Body.String(), `"alg":"ES384"`) {
		t.Errorf("got %s", w.Body)
	}
	d.Manifests = jws.NewKeyring(vault{away: true}, []string{"manifest"})
	w = getAt(jwks.ManifestRoute, "", http.MethodGet, d)
	if w.Code != 500 || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("without KMS: got %d %v", w.Code, w.Header())
	}
}
