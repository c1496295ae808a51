package jws_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/secret/jws"
)

func accepted() jws.Verifier {
	return jws.Verifier{Algorithms: []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.ES384}, MaxBytes: 2000}
}

func curveKey(t *testing.T, curve elliptic.Curve) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	expect.NoError(t, err)
	return key
}

func rsaKey(t *testing.T, bits int) crypto.Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	expect.NoError(t, err)
	return key
}

func TestVerifierAcceptsSignedToken(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		algorithm jose.SignatureAlgorithm
		key       crypto.Signer
	}{
		{jose.RS256, rsaKey(t, 2048)},
		{jose.ES256, curveKey(t, elliptic.P256())},
		{jose.ES384, curveKey(t, elliptic.P384())},
	} {
		text, err := jws.Sign(test.algorithm, test.key, map[jose.HeaderKey]any{"kid": "one"}, map[string]string{"sub": "a"})
		expect.NoError(t, err)
		token, err := accepted().Parse(secret.New(text))
		expect.NoError(t, err)
		payload, err := token.VerifyWith(test.key.Public())
		if err != nil || string(payload) != `{"sub":"a"}` || token.KeyID != "one" || token.Header["kid"] != "one" {
			t.Errorf("%s: %s of key %q, %v", test.algorithm, payload, token.KeyID, err)
		}
		if _, err = token.VerifyWith(curveKey(t, elliptic.P256()).Public()); !errors.Is(err, jws.ErrForged) {
			t.Errorf("%s with another key: %v", test.algorithm, err)
		}
	}
}

func TestParseReturnsReasonForInvalidToken(t *testing.T) {
	t.Parallel()
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for name, test := range map[string]struct {
		token string
		want  jws.FlawError
	}{
		"too long":  {part(`{"alg":"RS256"}`) + "." + strings.Repeat("a", 2000) + ".YQ", jws.ErrOversized},
		"encrypted": {part(`{"alg":"dir","enc":"A128GCM"}`) + "..YQ.YQ.YQ", jws.ErrEncrypted},
		"long and encrypted": {
			part(`{"alg":"dir","enc":"A128GCM"}`) + "..YQ." + strings.Repeat("a", 2000) + ".YQ",
			jws.ErrEncrypted,
		},
		"five parts":          {part(`{"alg":"RS256"}`) + ".YQ.YQ.YQ.YQ", jws.ErrMalformed},
		"not canonical":       {part(`{"alg":"RS256"}`) + ".YQ.YR", jws.ErrMalformed},
		"a duplicate member":  {part(`{"alg":"none","alg":"RS256"}`) + ".YQ.YQ", jws.ErrMalformed},
		"without a signature": {part(`{"alg":"none"}`) + ".YQ.", jws.ErrAlgorithm},
		"not in the list":     {part(`{"alg":"RS384"}`) + ".YQ.YQ", jws.ErrAlgorithm},
		"in another spelling": {part(`{"ALG":"RS256"}`) + ".YQ.YQ", jws.ErrAlgorithm},
		"critical":            {part(`{"alg":"RS256","crit":["b64"],"b64":true}`) + ".YQ.YQ", jws.ErrCritical},
		"critical and null":   {part(`{"alg":"RS256","crit":null}`) + ".YQ.YQ", jws.ErrCritical},
	} {
		if _, err := accepted().Parse(secret.New(test.token)); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

func TestVerifierRejectsWeakOrUnsuitableKeys(t *testing.T) {
	t.Parallel()
	whole, short, p256, p521 := rsaKey(t, 2048), rsaKey(t, 1024), curveKey(t, elliptic.P256()),
		curveKey(t, elliptic.P521())
	for name, test := range map[string]struct {
		key  any
		want bool
	}{
		"RSA": {whole.Public(), true}, "its private half": {whole, false}, "short RSA": {short.Public(), false},
		"P-256": {p256.Public(), true}, "P-521": {p521.Public(), false}, "a secret": {[]byte("secret"), false},
		"none": {nil, false},
	} {
		if got := accepted().Accepts(test.key); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
