package smart_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/connect/flow"
)

func TestKeySetIgnoresKeysUnsuitableForSignature(t *testing.T) {
	t.Parallel()
	with := func(by string, changes map[string]any) map[string]any {
		key := maps.Clone(signers()[by].jwk)
		maps.Copy(key, changes)
		return key
	}
	rsa := func(changes map[string]any) map[string]any { return with("rsa", changes) }
	ec := func(changes map[string]any) map[string]any { return with("p256", changes) }
	for name, test := range map[string]struct {
		alg, by string
		key     map[string]any
		good    bool
	}{
		"RSA":                                {"RS256", "rsa", rsa(nil), true},
		"RSA with its algorithm":             {"RS256", "rsa", rsa(map[string]any{"alg": "RS256", "use": "sig"}), true},
		"RSA with padding":                   {"RS256", "rsa", rsa(map[string]any{"e": "AQAB===="}), true},
		"RSA with an unreadable certificate": {"RS256", "rsa", rsa(map[string]any{"x5c": []string{"bm8="}}), true},
		"RSA that shows its private part":    {"RS256", "rsa", rsa(map[string]any{"d": "AQAB"}), false},
		"RSA of another algorithm":           {"RS256", "rsa", rsa(map[string]any{"alg": "RS384"}), false},
		"RSA for encrypting":                 {"RS256", "rsa", rsa(map[string]any{"use": "enc"}), false},
		"RSA that calls itself EC":           {"RS256", "rsa", rsa(map[string]any{"kty": "EC"}), false},
		"an even exponent":                   {"RS256", "rsa", rsa(map[string]any{"e": encode([]byte{2})}), false},
		"the exponent one":                   {"RS256", "rsa", rsa(map[string]any{"e": encode([]byte{1})}), false},
		"a large exponent": {
			"RS256", "rsa",
			rsa(map[string]any{"e": encode(bytes.Repeat([]byte{0xff}, 9))}), false,
		},
		"no exponent": {"RS256", "rsa", rsa(map[string]any{"e": ""}), false},
		"an even modulus": {
			"RS256", "rsa",
			rsa(map[string]any{"n": encode(append(bytes.Repeat([]byte{0xff}, 255), 0xfe))}), false,
		},
		"a huge modulus": {
			"RS256", "rsa",
			rsa(map[string]any{"n": encode(bytes.Repeat([]byte{0xff}, 1025))}), false,
		},
		"a modulus that is no number": {"RS256", "rsa", rsa(map[string]any{"n": "%%%"}), false},
		"EC":                          {"ES256", "p256", ec(nil), true},
		"EC with a zero before x": {
			"ES256", "p256",
			ec(map[string]any{"x": zeroBefore(signers()["p256"].jwk["x"])}), true,
		},
		"EC of another curve": {"ES256", "p256", ec(map[string]any{"crv": "P-384"}), false},
		"EC beside the curve": {
			"ES256", "p256",
			ec(map[string]any{"x": encode(bytes.Repeat([]byte{1}, 32))}), false,
		},
		"EC at infinity": {"ES256", "p256", ec(map[string]any{"x": "", "y": ""}), false},
		"EC with too long a coordinate": {
			"ES256", "p256",
			ec(map[string]any{"x": encode(bytes.Repeat([]byte{1}, 33))}), false,
		},
		"EC without a coordinate":          {"ES256", "p256", ec(map[string]any{"y": nil}), false},
		"EC of a coordinate in other form": {"ES256", "p256", ec(map[string]any{"y": 7}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := sign(t, test.by, map[string]any{"alg": test.alg}, claims(nil))
			_, _, err := identification{
				members: map[string]any{"id_token": token}, keys: marshal(t, map[string]any{"keys": []any{test.key}}),
			}.exchange(t)
			if (err == nil) != test.good {
				t.Errorf("got %v, want it accepted: %v", err, test.good)
			}
		})
	}
}

// zeroBefore adds a leading zero byte to a base64url-encoded number.
func zeroBefore(number any) string {
	text, _ := number.(string)
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	return encode(append([]byte{0}, raw...))
}

// signedBy signs an id_token with go-jose, applies change to the token, and returns the error from verifying it with
// keys.
func signedBy(t *testing.T, algorithm jose.SignatureAlgorithm, key any, keys map[string]any,
	change func(token string) string,
) error {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(marshal(t, claims(nil))))
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = identification{
		members: map[string]any{"id_token": change(token)}, keys: marshal(t, map[string]any{"keys": []any{keys}}),
	}.exchange(t)
	return err
}

func TestIDTokenSignatureRequiresCanonicalFormAndAcceptedAlgorithm(t *testing.T) {
	t.Parallel()
	by := signers()["rsa"]
	same := func(token string) string { return token }
	if err := signedBy(t, jose.RS256, by.key, by.jwk, same); err != nil {
		t.Error(err)
	}
	for _, algorithm := range []jose.SignatureAlgorithm{jose.PS256, jose.PS384, jose.RS512} {
		if signedBy(t, algorithm, by.key, by.jwk, same) == nil {
			t.Errorf("%s was accepted", algorithm)
		}
	}
	// Some libraries support the b64 header parameter and accept it if its value doesn't change the result.
	critical := sign(t, "rsa", map[string]any{"alg": "RS256", "crit": []string{"b64"}, "b64": true}, claims(nil))
	if signedBy(t, jose.RS256, by.key, by.jwk, func(string) string { return critical }) == nil {
		t.Error("a critical header was accepted")
	}
	// The base64url encoding of 256 bytes leaves four bits of the last character unused. Some decoders ignore the
	// unused bits.
	if signedBy(t, jose.RS256, by.key, by.jwk, func(token string) string {
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		last := len(token) - 1
		return token[:last] + alphabet[strings.IndexByte(alphabet, token[last])+1:][:1]
	}) == nil {
		t.Error("a signature in another form was accepted")
	}
}

func TestKeySetAcceptsCoordinateWithoutLeadingZeros(t *testing.T) {
	t.Parallel()
	for range 10_000 { // one random number in 256 begins with a zero byte
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		point, err := key.PublicKey.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if point[1] != 0 {
			continue
		}
		jwk := map[string]any{"kty": "EC", "crv": "P-256", "x": encode(point[2:33]), "y": encode(point[33:])}
		if err := signedBy(t, jose.ES256, key, jwk, func(token string) string { return token }); err != nil {
			t.Error(err)
		}
		return
	}
	t.Error("no such key was found")
}

func TestIDTokenVerificationIgnoresKeysOutsideKeySet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		header string // header members other than alg
		good   bool
	}{
		"an embedded key":             {`"kid":"rsa","jwk":` + marshal(t, signers()["p256"].jwk), true},
		"a set at a URL":              {`"kid":"rsa","jku":"https://evil.example/keys"`, true},
		"a certificate at a URL":      {`"kid":"rsa","x5u":"https://evil.example/x"`, true},
		"a duplicate key id":          {`"kid":"p256","kid":"rsa"`, false},
		"an embedded duplicate of it": {`"kid":"rsa","jwk":{"kty":"RSA","kty":"EC"}`, false},
	} {
		signed := encode([]byte(`{"alg":"RS256",`+test.header+`}`)) + "." + encode([]byte(marshal(t, claims(nil))))
		digest := sha256.Sum256([]byte(signed))
		signature, err := signers()["rsa"].key.Sign(rand.Reader, digest[:], crypto.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		set, _, err := identification{members: map[string]any{"id_token": signed + "." + encode(signature)}}.exchange(t)
		if (err == nil) != test.good || test.good && set.PatientID.Reveal() != "of-id-token" {
			t.Errorf("%s: %v, want it accepted: %t", name, err, test.good)
		}
	}
}

func TestKeySetLimitsNumberOfKeys(t *testing.T) {
	t.Parallel()
	for fillers, good := range map[int]bool{63: true, 64: false} {
		keys := make([]any, 0, fillers+1)
		for range fillers {
			keys = append(keys, map[string]any{"kty": "RSA"})
		}
		keys = append(keys, signers()["p256"].jwk)
		_, _, err := identification{
			members: map[string]any{"id_token": sign(t, "p256", map[string]any{"alg": "ES256"}, claims(nil))},
			keys:    marshal(t, map[string]any{"keys": keys}),
		}.exchange(t)
		if (err == nil) != good {
			t.Errorf("behind %d others: %v", fillers, err)
		}
	}
}

// hanging grants tokens, and blocks every other request until the request's context ends.
type hanging struct{ granted string }

func (h hanging) Do(r *http.Request) (*http.Response, error) {
	if r.URL.Path != "/token" {
		<-r.Context().Done()
		return nil, errors.New("gave up")
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(h.granted)),
	}, nil
}

func TestExchangeSucceedsWhenOptionalRequestsHang(t *testing.T) {
	t.Parallel()
	granted := marshal(t, map[string]any{
		"access_token": "a", "refresh_token": "r", "id_token": sign(t, "p256", map[string]any{"alg": "ES256"}, claims(nil)),
	})
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		set, err := portal(hanging{granted}, time.Now, &proving{}).Exchange(t.Context(), flow.Grant{
			Attempt: flow.Attempt{
				Server: flow.Server{
					TokenEndpoint: "https://ehr.example/token", KeySet: "https://ehr.example/keys",
					Userinfo: "https://ehr.example/userinfo", FHIRBase: "https://ehr.example/r4",
					Upstream: flow.Upstream{Introspection: "https://ehr.example/introspect"},
				},
				Client: flow.Client{ClientAuthID: "auth-7"},
			},
		})
		if got := time.Since(started); err != nil || set.AccessToken.Reveal() != "a" || got != 20*time.Second {
			t.Errorf("%v after %v, want tokens after 20 s", err, got)
		}
	})
}
