package identity_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"maps"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/secret"
)

func payloadOf(t *testing.T, said object) []byte {
	t.Helper()
	raw, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestAssertAcceptsEveryKeyOfIssuer(t *testing.T) {
	t.Parallel()
	payload := payloadOf(t, shapes()["CMS-aligned"])
	for by, header := range map[string]object{
		"rsa": {"alg": "RS256", "kid": "rsa", "typ": "JWT"}, "ec": {"alg": "ES256", "kid": "ec", "x5t": "harmless"},
	} {
		if _, err := assert(authority(), signed(t, by, header, payload), now); err != nil {
			t.Errorf("%s: %v", by, err)
		}
	}
}

// TestParseAndAssertRejectForgedTokens covers the attacks in RFC 8725 section 2 that apply to a relying party.
func TestParseAndAssertRejectForgedTokens(t *testing.T) {
	t.Parallel()
	payload := payloadOf(t, shapes()["CMS-aligned"])
	good := object{"alg": "RS256", "kid": "rsa", "typ": "JWT"}
	with := func(changes object) object {
		header := maps.Clone(good)
		maps.Copy(header, changes)
		return header
	}
	own := jose.JSONWebKey{Key: signers()["other rsa"].Public(), KeyID: "rsa"}
	whole := signed(t, "rsa", good, payload)
	parts := strings.Split(whole, ".")
	another := strings.Split(signed(t, "rsa", good, payloadOf(t, about(object{"sub": "another"}))), ".")
	for name, test := range map[string]struct{ token, check string }{
		"another's claims under its signature": {parts[0] + "." + another[1] + "." + parts[2], "signature"},
		"no signature":                         {parts[0] + "." + parts[1] + ".", "signature"},
		"no algorithm, no signature": {
			encode([]byte(`{"alg":"none","kid":"rsa"}`)) + "." + parts[1] + ".",
			"algorithm",
		},
		"None in capitals": {
			encode([]byte(`{"alg":"None","kid":"rsa"}`)) + "." + parts[1] + ".",
			"algorithm",
		},
		"the public key as a shared secret":    {sharedSecret(t, payload), "algorithm"},
		"an algorithm that is not accepted":    {signed(t, "rsa", with(object{"alg": "RS384"}), payload), "algorithm"},
		"the algorithm of another kind of key": {signed(t, "rsa", with(object{"alg": "ES256"}), payload), "signature"},
		"the key of a curve that is not taken": {signed(t, "p384", with(object{"alg": "ES256", "kid": "p384"}),
			payload), "key"},
		"a key of somebody else":              {signed(t, "other rsa", good, payload), "signature"},
		"a key that the issuer does not have": {signed(t, "other rsa", with(object{"kid": "other rsa"}), payload), "key"},
		"a key of its own":                    {signed(t, "other rsa", with(object{"jwk": own}), payload), "own_key"},
		"keys at an address of its own": {signed(t, "other rsa", with(object{"jku": "https://evil.example/jwks"}),
			payload), "own_key"},
		"a certificate at an address": {signed(t, "other rsa", with(object{"x5u": "https://evil.example/x"}),
			payload), "own_key"},
		"a certificate of its own": {signed(t, "other rsa", with(object{"x5c": []string{"bm8="}}),
			payload), "own_key"},
		"no key id":                {signed(t, "rsa", object{"alg": "RS256"}, payload), "key"},
		"a key id that is no text": {signed(t, "rsa", with(object{"kid": 1}), payload), "key"},
		"what is critical": {signed(t, "rsa", with(object{"crit": []string{"b64"}, "b64": true}),
			payload), "critical"},
		"an access token of the same keys": {signed(t, "rsa", with(object{"typ": "at+jwt"}), payload), "type"},
		"a type that is no text":           {signed(t, "rsa", with(object{"typ": 1}), payload), "type"},
		"encrypted": {
			encode([]byte(`{"alg":"RSA-OAEP","enc":"A256GCM"}`)) + ".YQ.YQ.YQ.YQ",
			"encrypted",
		},
		"too long": {signed(t, "rsa", good,
			payloadOf(t, about(object{"more": strings.Repeat("x", 16<<10)}))), "size"},
		"a line break in it": {parts[0] + "." + parts[1][:4] + "\n" + parts[1][4:] + "." +
			parts[2], "form"},
		"its signature in other letters": {whole[:len(whole)-1] + sameBits(whole[len(whole)-1:]), "form"},
		"four parts":                     {whole + ".YQ", "form"},
		"two parts":                      {parts[0] + "." + parts[1], "form"},
		"nothing":                        {"", "form"},
		"in another serialization": {`{"payload":"` + parts[1] + `","protected":"` + parts[0] +
			`","signature":"` + parts[2] + `"}`, "form"},
		"a header that is a list": {encode([]byte(`[]`)) + "." + parts[1] + "." + parts[2], "form"},
		"a header that is null":   {encode([]byte(`null`)) + "." + parts[1] + "." + parts[2], "form"},
		"two algorithms": {encode([]byte(`{"alg":"none","alg":"RS256","kid":"rsa"}`)) + "." + parts[1] +
			"." + parts[2], "form"},
		"claims that are a list": {signed(t, "rsa", good, []byte(`[]`)), "claims"},
		"claims that are null":   {signed(t, "rsa", good, []byte(`null`)), "claims"},
		"claims that are broken": {signed(t, "rsa", good, payload[:len(payload)-1]), "claims"},
		"a claim twice":          {signed(t, "rsa", good, twice(payload, `"sub":"another",`)), "claims"},
		"a claim twice, deeper": {signed(t, "rsa", good,
			twice(payload, `"x":{"y":[{"region":"WI","region":"AZ"}]},`)), "claims"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := assert(authority(), test.token, now)
			refused(t, err, "token_invalid", test.check)
		})
	}
}

func TestParseKeysSkipsWeakAndSlowKeys(t *testing.T) {
	t.Parallel()
	modulus := func(size int) string { return encode(bytes.Repeat([]byte{0xff}, size)) }
	for name, test := range map[string]struct {
		modulus, exponent string
		good              bool
	}{
		"as usual":           {modulus(256), "AQAB", true},
		"the longest":        {modulus(512), "AQAB", true},
		"too short":          {modulus(255), "AQAB", false},
		"too long":           {modulus(513), "AQAB", false},
		"the exponent one":   {modulus(256), "AQ", false},
		"no exponent at all": {modulus(256), "", false},
	} {
		document := `{"keys":[{"kty":"RSA","kid":"a","n":"` + test.modulus + `","e":"` + test.exponent + `"}]}`
		if keys, err := identity.ParseKeys([]byte(document)); err != nil || keys.Has("a") != test.good {
			t.Errorf("%s: taken %t, %v", name, keys.Has("a"), err)
		}
	}
	many := `{"keys":[` + strings.Repeat(`{},`, 64) + `{"kty":"RSA","kid":"a","n":"` + modulus(256) + `","e":"AQAB"}]}`
	if keys, err := identity.ParseKeys([]byte(many)); err != nil || keys.Has("a") {
		t.Errorf("the 65th key is looked at, %v", err)
	}
}

// sameBits returns a different last character for the encoding of a 256-byte signature. Most decoders decode both
// characters to the same bits.
func sameBits(last string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return string(alphabet[strings.Index(alphabet, last)^1])
}

// sharedSecret signs a token with the public key's text as a symmetric key. Any attacker can do so (RFC 8725 section
// 2.1).
func sharedSecret(t *testing.T, payload []byte) string {
	t.Helper()
	public, err := x509.MarshalPKIXPublicKey(signers()["rsa"].Public())
	if err != nil {
		t.Fatal(err)
	}
	text := encode([]byte(`{"alg":"HS256","kid":"rsa"}`)) + "." + encode(payload)
	mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
	mac.Write([]byte(text))
	return text + "." + encode(mac.Sum(nil))
}

// twice returns a JSON object with members inserted at its start.
func twice(payload []byte, members string) []byte {
	return append([]byte("{"+members), payload[1:]...)
}

func TestKeySetRequiresMatchingUseAlgorithmAndKeyID(t *testing.T) {
	t.Parallel()
	parsed, err := identity.Parse(secret.New(token(t, shapes()["CMS-aligned"])))
	if err != nil {
		t.Fatal(err)
	}
	private, isRSA := signers()["rsa"].Signer.(*rsa.PrivateKey)
	if !isRSA {
		t.Fatal("not RSA")
	}
	for name, test := range map[string]struct {
		key  any
		good bool
	}{
		"as it is": {jose.JSONWebKey{Key: &private.PublicKey, KeyID: "rsa"}, true},
		"for signatures": {jose.JSONWebKey{
			Key: &private.PublicKey, KeyID: "rsa", Use: "sig",
			Algorithm: "RS256",
		}, true},
		"for encrypting":       {jose.JSONWebKey{Key: &private.PublicKey, KeyID: "rsa", Use: "enc"}, false},
		"of another algorithm": {jose.JSONWebKey{Key: &private.PublicKey, KeyID: "rsa", Algorithm: "PS256"}, false},
		"under another id":     {jose.JSONWebKey{Key: &private.PublicKey, KeyID: "RSA"}, false},
		"without an id":        {jose.JSONWebKey{Key: &private.PublicKey}, false},
		// A private key that has been published is compromised.
		"with its other half": {jose.JSONWebKey{Key: private, KeyID: "rsa"}, false},
		"a shared secret":     {jose.JSONWebKey{Key: []byte("hush"), KeyID: "rsa"}, false},
		"no key":              {"rsa", false},
	} {
		document, err := json.Marshal(map[string]any{"keys": []any{object{"kty": "unheard-of", "kid": "rsa"}, test.key}})
		if err != nil {
			t.Fatal(err)
		}
		keys, err := identity.ParseKeys(document)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := authority().Assert(parsed, keys, flow.HashNonce(nonce), now); (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, document := range []string{"", "[]", "{}", `{"keys":null}`, `{"keys":{}}`, "<html>"} {
		if _, err := identity.ParseKeys([]byte(document)); err == nil {
			t.Errorf("%q is a key set", document)
		}
	}
}
