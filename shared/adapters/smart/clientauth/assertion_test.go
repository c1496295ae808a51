package clientauth_test

import (
	"crypto"
	"encoding/asn1"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/vaulttest"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret/jws"
)

// assert authenticates a client and returns the resulting assertion.
func (d *fixture) assert(t *testing.T, algorithm, keyID string) token {
	t.Helper()
	id := "key " + algorithm + keyID
	d.rows.add(tenant, catalog.ClientAuth{ID: id, Method: catalog.AuthPrivateKey, Algorithm: algorithm, KeyID: keyID})
	form := url.Values{"grant_type": {"refresh_token"}}
	if err := d.Authenticate(t.Context(), tenant, use(id), form, http.Header{}); err != nil {
		t.Fatal(err)
	}
	return takeApart(t, form.Get("client_assertion"))
}

// keyID returns the published ID of the vault's key with the given name.
func (d *fixture) keyID(t *testing.T, name string) string {
	t.Helper()
	id, ok := vaulttest.Published(t, jws.NewKeyring(d.vault, []string{name}), "")[0]["kid"].(string)
	if !ok {
		t.Fatal("no kid")
	}
	return id
}

func TestAssertionContainsSMARTClaimsAndValidSignature(t *testing.T) {
	t.Parallel()
	d := newFixture(t, "ec1", "rsa1")
	for i, c := range []struct{ algorithm, key string }{{"RS384", "rsa1"}, {"ES384", "ec1"}} {
		got := d.assert(t, c.algorithm, "")
		if !got.verifies(d.vault.Keys[c.key].Public()) {
			t.Errorf("%s: the signature does not verify", c.algorithm)
		}
		header := map[string]any{"alg": c.algorithm, "kid": d.keyID(t, c.key), "typ": "JWT"}
		claims := map[string]any{
			"iss": client, "sub": client, "aud": endpoint, "jti": []string{"id-1", "id-2"}[i],
			"iat": float64(start.Unix()), "exp": float64(start.Add(4 * time.Minute).Unix()),
		}
		if diff := cmp.Diff([]any{header, claims}, []any{got.header, got.claims}); diff != "" {
			t.Errorf("%s: header and claims (-want +got):\n%s", c.algorithm, diff)
		}
	}
}

func TestAssertionRequestContainsClientID(t *testing.T) {
	t.Parallel()
	d := newFixture(t, "rsa1")
	d.rows.add(org.Tenant{}, catalog.ClientAuth{ID: "shared", Method: catalog.AuthPrivateKey, Algorithm: "RS384"})
	form, header := url.Values{"grant_type": {"refresh_token"}}, http.Header{"Accept": {"application/json"}}
	if err := d.Authenticate(t.Context(), tenant, use("shared"), form, header); err != nil {
		t.Fatal(err)
	}
	form.Del("client_assertion")
	want := url.Values{
		"grant_type": {"refresh_token"}, "client_id": {client},
		"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
	}
	if diff := cmp.Diff([]any{want, http.Header{"Accept": {"application/json"}}}, []any{form, header}); diff != "" {
		t.Errorf("form and header (-want +got):\n%s", diff)
	}
}

func TestAssertionUsesFirstKeyWithRegisteredAlgorithm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		slots, rsa, ec string
	}{
		{"rsa1 ec1", "rsa1", "ec1"},
		{"rsa1 ec1 rsa2 ec2", "rsa1", "ec1"},
		{"rsa2 ec2 rsa1 ec1", "rsa2", "ec2"},
		{"rsa2 ec2", "rsa2", "ec2"},
	} {
		d := newFixture(t, strings.Fields(c.slots)...)
		if got := d.assert(t, "RS384", ""); got.header["kid"] != d.keyID(t, c.rsa) ||
			!got.verifies(d.vault.Keys[c.rsa].Public()) {
			t.Errorf("%s: RS384 is not signed by %s", c.slots, c.rsa)
		}
		if got := d.assert(t, "ES384", ""); got.header["kid"] != d.keyID(t, c.ec) ||
			!got.verifies(d.vault.Keys[c.ec].Public()) {
			t.Errorf("%s: ES384 is not signed by %s", c.slots, c.ec)
		}
	}
}

func TestAssertionUsesKeySpecifiedByRegistration(t *testing.T) {
	t.Parallel()
	for _, slots := range []string{"rsa1 ec1", "rsa1 rsa2", "rsa2 rsa1"} {
		d := newFixture(t, strings.Fields(slots)...)
		if got := d.assert(t, "RS384", d.keyID(t, "rsa1")); !got.verifies(d.vault.Keys["rsa1"].Public()) {
			t.Errorf("%s: not signed by the key that is named", slots)
		}
	}
}

func TestAssertionErrorNamesMissingKey(t *testing.T) {
	t.Parallel()
	d := newFixture(t, "rsa1")
	for name, c := range map[string]struct{ algorithm, keyID, says string }{
		"no key of the algorithm":    {"ES384", "", `"ES384"`},
		"a key that is not there":    {"RS384", "gone", `"gone"`},
		"a key of another algorithm": {"ES384", d.keyID(t, "rsa1"), d.keyID(t, "rsa1")},
		"an algorithm of no key":     {"HS256", "", `"HS256"`},
		"no algorithm":               {"", "", `""`},
	} {
		d.rows.add(tenant, catalog.ClientAuth{
			ID: name, Method: catalog.AuthPrivateKey, Algorithm: c.algorithm,
			KeyID: c.keyID,
		})
		d.refuses(t, name, c.says)
	}
}

// odd is a signer that returns a preset signature.
type odd struct {
	crypto.Signer

	signature []byte
}

func (o odd) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) { return o.signature, nil }

func TestECDSASignatureIntegersArePadded(t *testing.T) {
	t.Parallel()
	der := func(r, s *big.Int) []byte {
		raw, err := asn1.Marshal(struct{ R, S *big.Int }{r, s})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	one := big.NewInt(1)
	most := new(big.Int).Sub(new(big.Int).Lsh(one, 384), one)
	sign := func(signature []byte) *fixture {
		d := newFixture(t, "ec")
		d.vault.Keys = map[string]crypto.Signer{"ec": odd{d.vault.Keys["ec1"], signature}}
		return d
	}
	want := slices.Concat(make([]byte, 47), []byte{1}, most.Bytes())
	if diff := cmp.Diff(want, sign(der(one, most)).assert(t, "ES384", "").signature); diff != "" {
		t.Errorf("signature (-want +got):\n%s", diff)
	}
	for name, signature := range map[string][]byte{"nothing": nil, "no ASN.1": []byte("signature")} {
		d := sign(signature)
		d.rows.add(tenant, catalog.ClientAuth{ID: name, Method: catalog.AuthPrivateKey, Algorithm: "ES384"})
		d.refuses(t, name, "asn1")
	}
}
