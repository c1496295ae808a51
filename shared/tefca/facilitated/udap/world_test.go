package udap_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/tefca/facilitated/udap"
	"recordbridge/shared/words/secret"
)

const (
	base  = "https://ehr.example/fhir"
	ourID = "https://us.example/udap#T-IAS"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// keys returns keys that are generated only once: an RSA key for the server, one for another party, and one that is too
// short.
var keys = sync.OnceValue(func() (made struct{ server, other, short *rsa.PrivateKey }) {
	made.server, _ = rsa.GenerateKey(rand.Reader, 2048)
	made.other, _ = rsa.GenerateKey(rand.Reader, 2048)
	made.short, _ = rsa.GenerateKey(rand.Reader, 1024)
	return made
})

type holder struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// made creates a certificate. by is its issuer; if by is zero, the certificate is self-signed.
func made(t *testing.T, by holder, key crypto.Signer, change func(*x509.Certificate)) holder {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: rand.Text()},
		NotBefore: now.Add(-time.Hour),
		NotAfter:  now.Add(time.Hour), BasicConstraintsValid: true,
	}
	change(template)
	parent, signer := template, key
	if by.key != nil {
		parent, signer = by.certificate, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	expect.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	expect.NoError(t, err)
	return holder{certificate, key}
}

func authority(c *x509.Certificate) { c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign }

func named(uri string) func(*x509.Certificate) {
	return func(c *x509.Certificate) {
		parsed, err := url.Parse(uri)
		if err == nil {
			c.URIs = []*url.URL{parsed}
		}
	}
}

func curve(t *testing.T, c elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(c, rand.Reader)
	expect.NoError(t, err)
	return key
}

// community is a trust community with one server.
type community struct{ anchor, between, server holder }

func newCommunity(t *testing.T) community {
	t.Helper()
	anchor := made(t, holder{}, curve(t, elliptic.P256()), authority)
	between := made(t, anchor, curve(t, elliptic.P256()), authority)
	return community{anchor, between, made(t, between, keys().server, named(base))}
}

func x5c(chain ...holder) []string {
	texts := make([]string, 0, len(chain))
	for _, one := range chain {
		texts = append(texts, base64.StdEncoding.EncodeToString(one.certificate.Raw))
	}
	return texts
}

// signed returns a JWT whose header contains alg and the given headers.
func signed(t *testing.T, algorithm jose.SignatureAlgorithm, key any, headers map[jose.HeaderKey]any,
	claims map[string]any,
) string {
	t.Helper()
	options := &jose.SignerOptions{}
	for name, value := range headers {
		options.WithHeader(name, value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options)
	expect.NoError(t, err)
	payload, err := json.Marshal(claims)
	expect.NoError(t, err)
	object, err := signer.Sign(payload)
	expect.NoError(t, err)
	token, err := object.CompactSerialize()
	expect.NoError(t, err)
	return token
}

// claims returns valid metadata claims with changes applied. A nil value removes the claim.
func claims(changes map[string]any) map[string]any {
	all := map[string]any{
		"iss": base, "sub": base, "jti": "1", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"token_endpoint": "https://ehr.example/token", "registration_endpoint": "https://ehr.example/register",
	}
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	return all
}

// metadata returns a valid metadata document with changes applied. token becomes its signed_metadata.
func metadata(t *testing.T, token string, changes map[string]any) string {
	t.Helper()
	all := map[string]any{
		"udap_versions_supported": []string{"1"}, "udap_profiles_supported": []string{"udap_dcr", "udap_authn", "udap_authz"},
		"udap_authorization_extensions_supported":                []string{"hl7-b2b", "tefca_ias"},
		"grant_types_supported":                                  []string{"client_credentials"},
		"token_endpoint_auth_signing_alg_values_supported":       []string{"RS256", "ES256"},
		"registration_endpoint_jwt_signing_alg_values_supported": []string{"RS256", "ES256"}, "signed_metadata": token,
		// The metadata's signature does not cover these endpoints, so they must be ignored.
		"token_endpoint": "https://evil.example/token", "registration_endpoint": "https://evil.example/register",
	}
	maps.Copy(all, changes)
	text, err := json.Marshal(all)
	expect.NoError(t, err)
	return string(text)
}

// answers is a server that sends the same response to every request.
type answers struct {
	status int
	body   string
	header http.Header
	fails  error

	asked []*http.Request
	sent  []string
}

func (a *answers) Do(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	a.asked, a.sent = append(a.asked, r), append(a.sent, string(body))
	if a.fails != nil {
		return nil, a.fails
	}
	return &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader([]byte(a.body)))}, nil
}

// client returns a client that trusts anchor and whose certificate was issued by anchor.
func client(t *testing.T, anchor holder, doer udap.Doer) udap.Client {
	t.Helper()
	key := curve(t, elliptic.P256())
	member, err := udap.NewMember(ourID, certificatePEM(made(t, anchor, key, named(ourID))), keyPEM(t, key))
	expect.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(anchor.certificate)
	count := 0
	return udap.Client{
		Doer: doer, Member: member, Anchors: pool, Now: func() time.Time { return now },
		NewID: func() string { count++; return "id-" + string(rune('0'+count)) },
	}
}

func certificatePEM(chain ...holder) string {
	var all bytes.Buffer
	for _, one := range chain {
		all.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: one.certificate.Raw}))
	}
	return all.String()
}

func keyPEM(t *testing.T, key any) secret.Text {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	expect.NoError(t, err)
	return secret.New(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
}
