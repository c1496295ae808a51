package jws_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/vaulttest"
	"recordbridge/shared/words/secret/jws"
)

// holder is a Vault that holds a single public key and can't sign.
type holder struct{ public crypto.PublicKey }

func (h holder) Public(context.Context, string) (crypto.PublicKey, error) { return h.public, nil }

func (holder) Signer(context.Context, string, crypto.PublicKey) crypto.Signer { return nil }

func decode(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	expect.NoError(t, err)
	return raw
}

// TestJWKSKeyIDIsRFC7638Thumbprint uses the example of RFC 7638 section 3.1.
func TestJWKSKeyIDIsRFC7638Thumbprint(t *testing.T) {
	t.Parallel()
	const modulus = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebW" +
		"KRXjBZCi" +
		"FV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgd" +
		"AZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEg" +
		"U8awapJzKnqDKgw"
	public := &rsa.PublicKey{N: new(big.Int).SetBytes(decode(t, modulus)), E: 65537}
	want := []map[string]any{{
		"kty": "RSA", "kid": "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs", "use": "sig", "key_ops": []any{"verify"},
		"alg": "RS384", "n": modulus, "e": "AQAB",
	}}
	if diff := cmp.Diff(want, vaulttest.Published(t, jws.NewKeyring(holder{public}, []string{"k"}), "")); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestJWKSCoordinatesArePadded(t *testing.T) {
	t.Parallel()
	short := map[byte]bool{} // point offsets (1 for x, 49 for y) at which a leading zero byte was found
	for scalar := byte(1); len(short) < 2 && scalar < 255; scalar++ {
		for low := range byte(255) {
			raw := make([]byte, 48)
			raw[46], raw[47] = scalar, low
			key, err := ecdsa.ParseRawPrivateKey(elliptic.P384(), raw)
			if err != nil {
				t.Fatal(err)
			}
			point, err := key.PublicKey.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			for _, begins := range []byte{1, 49} {
				if point[begins] != 0 || short[begins] {
					continue
				}
				short[begins] = true
				got := vaulttest.Published(t, jws.NewKeyring(holder{&key.PublicKey}, []string{"k"}), "")[0]
				x, _ := got["x"].(string)
				y, _ := got["y"].(string)
				if diff := cmp.Diff(point[1:], append(decode(t, x), decode(t, y)...)); diff != "" || got["crv"] != "P-384" ||
					got["alg"] != "ES384" {
					t.Errorf("key %v (-want +got):\n%s", got, diff)
				}
			}
		}
	}
	if len(short) != 2 {
		t.Errorf("no key with a short coordinate was found: %v", short)
	}
}

func TestJWKSListsRSAKeysFirst(t *testing.T) {
	t.Parallel()
	keys := jws.NewKeyring(vaulttest.New(t), []string{"ec1", "rsa2", "ec2", "rsa1"})
	types := func(keyType string) string {
		keys := vaulttest.Published(t, keys, keyType)
		all := make([]string, len(keys))
		for i, key := range keys {
			all[i], _ = key["kty"].(string)
		}
		return strings.Join(all, " ")
	}
	for keyType, want := range map[string]string{"": "RSA RSA EC EC", "RSA": "RSA RSA", "EC": "EC EC", "oct": ""} {
		if got := types(keyType); got != want {
			t.Errorf("%q: got %q, want %q", keyType, got, want)
		}
	}
	private, err := json.Marshal(vaulttest.Published(t, keys, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range []string{`"d"`, `"p"`, `"q"`, `"dp"`, `"dq"`, `"qi"`, `"k"`} {
		if strings.Contains(string(private), member) {
			t.Errorf("the set has a private member %s", member)
		}
	}
	all := vaulttest.Published(t, keys, "")
	swapped := vaulttest.Published(t, jws.NewKeyring(vaulttest.New(t), []string{"ec1", "rsa1", "ec2", "rsa2"}), "")
	if diff := cmp.Diff([]any{all[1], all[0], all[2], all[3]},
		[]any{swapped[0], swapped[1], swapped[2], swapped[3]}); diff != "" {
		t.Errorf("keys after swapping (-want +got):\n%s", diff)
	}
}

func TestJWKSIsEmptyWithoutKeys(t *testing.T) {
	t.Parallel()
	set, err := jws.NewKeyring(vaulttest.New(t), nil).JWKS(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(set); err != nil || string(got) != `{"keys":[]}` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestKeyringRejectsUnsupportedKeyTypes(t *testing.T) {
	t.Parallel()
	p256, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), append(make([]byte, 31), 7))
	if err != nil {
		t.Fatal(err)
	}
	for name, public := range map[string]crypto.PublicKey{
		"P-256": &p256.PublicKey, "Ed25519": make(ed25519.PublicKey, ed25519.PublicKeySize), "none": nil,
	} {
		if _, err := jws.NewKeyring(holder{public}, []string{"k"}).JWKS(t.Context(), ""); err == nil {
			t.Errorf("%s was published", name)
		}
	}
}

func TestKeyringLoadsKeysOnceForConcurrentCallers(t *testing.T) {
	t.Parallel()
	vault := vaulttest.New(t)
	keys := jws.NewKeyring(vault, []string{"rsa1", "ec1"})
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if set, err := keys.JWKS(t.Context(), ""); err != nil || len(set.Keys) != 2 {
				t.Errorf("got %d keys, %v", len(set.Keys), err)
			}
		})
	}
	all.Wait()
	if diff := cmp.Diff(map[string]int{"rsa1": 1, "ec1": 1}, vault.Asked()); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}

func TestKeyringResumesFailedLoadAtFailedKey(t *testing.T) {
	t.Parallel()
	vault := vaulttest.New(t)
	keys := jws.NewKeyring(vault, []string{"rsa1", "ec1"})
	vault.Fail("ec1", true)
	for range 2 {
		if _, err := keys.JWKS(t.Context(), "RSA"); !errors.Is(err, vaulttest.ErrAway) {
			t.Errorf("got %v, want the vault's error: half a set must not be published", err)
		}
	}
	vault.Fail("ec1", false)
	if got := len(vaulttest.Published(t, keys, "")); got != 2 {
		t.Errorf("got %d keys", got)
	}
	if diff := cmp.Diff(map[string]int{"rsa1": 1, "ec1": 3}, vault.Asked()); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}

func TestKeyringStopsWaitingWhenContextIsDone(t *testing.T) {
	t.Parallel()
	vault := vaulttest.New(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	vault.Meet = func() { entered <- struct{}{}; <-leave }
	keys := jws.NewKeyring(vault, []string{"rsa1"})
	var first sync.WaitGroup
	first.Go(func() {
		if _, err := keys.JWKS(t.Context(), ""); err != nil {
			t.Error(err)
		}
	})
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := keys.JWKS(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	close(leave)
	first.Wait()
}
