package jws_test

import (
	"crypto/x509"
	"encoding/base64"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/vaulttest"
	"recordbridge/shared/words/secret/jws"
)

func former(t *testing.T, vault *vaulttest.Vault, name string) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(vault.Keys[name].Public())
	expect.NoError(t, err)
	return base64.StdEncoding.EncodeToString(der)
}

func TestKeyringPublishesFormerKeysOnceAndNeverSignsWithThem(t *testing.T) {
	t.Parallel()
	vault := vaulttest.New(t)
	both := vaulttest.Published(t, jws.NewKeyring(vault, []string{"ec2", "ec1"}), "")
	keys := jws.NewKeyring(vault, []string{"ec2"}, former(t, vault, "ec1"), former(t, vault, "ec2"))
	if diff := cmp.Diff(both, vaulttest.Published(t, keys, "")); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	old, _ := both[1]["kid"].(string)
	if _, _, err := keys.Signer(t.Context(), "ES384", old); err == nil {
		t.Error("a former key signs")
	}
	id, _, err := keys.Signer(t.Context(), "ES384", "")
	if err != nil || id != both[0]["kid"] {
		t.Errorf("the key %q signs (%v), want %q", id, err, both[0]["kid"])
	}
}

func TestKeyringRejectsMalformedFormerKeys(t *testing.T) {
	t.Parallel()
	vault := vaulttest.New(t)
	for _, text := range []string{"", "no base64!", "AAAA"} {
		if set, err := jws.NewKeyring(vault, []string{"ec1"}, text).JWKS(t.Context(), ""); err == nil {
			t.Errorf("%q: published %v", text, set)
		}
	}
}

func TestSignDetachedSignsExactBytesAndOmitsThem(t *testing.T) {
	t.Parallel()
	key, content := vaulttest.New(t).Keys["ec1"], []byte(`{ "a": "\u00e4" }`)
	text, err := jws.SignDetached(jose.ES384, key, map[jose.HeaderKey]any{"typ": "example"}, content)
	expect.NoError(t, err)
	signed, err := jose.ParseDetached(text, content, []jose.SignatureAlgorithm{jose.ES384})
	expect.NoError(t, err)
	if _, err = signed.Verify(key.Public()); err != nil {
		t.Errorf("the signature does not verify: %v", err)
	}
	signed, err = jose.ParseDetached(text, append(content, ' '), []jose.SignatureAlgorithm{jose.ES384})
	expect.NoError(t, err)
	if _, err = signed.Verify(key.Public()); err == nil {
		t.Error("the signature verifies for other bytes")
	}
}
