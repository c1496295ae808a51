package sandbox_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/infra/sandbox"
)

const memberURI = "https://app.example/udap#T-IAS"

// rsaKeys returns the identity provider's key and an unrelated key.
var rsaKeys = sync.OnceValue(func() [2]*rsa.PrivateKey {
	var keys [2]*rsa.PrivateKey
	for i := range keys {
		keys[i], _ = rsa.GenerateKey(rand.Reader, 2048)
	}

	return keys
})

// issuers trusts only the issuer https://id.example.
type issuers struct{}

func (issuers) Keys(_ context.Context, issuer string) (jose.JSONWebKeySet, error) {
	if issuer != "https://id.example" {
		return jose.JSONWebKeySet{}, nil
	}

	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: rsaKeys()[0].Public(), KeyID: "1"}}}, nil
}

func withIdentities(d *sandbox.Deps) { d.Identities = issuers{} }

// communityMember is a client that belongs to a portal's trust community. It implements UDAP Security STU2
// (hl7.org/fhir/us/udap-security) independently of the service's client.
type communityMember struct {
	*portal

	key   crypto.Signer
	chain []string
}

func (p *portal) join(key *rsa.PrivateKey, uri string) *communityMember {
	p.t.Helper()
	name, err := url.Parse(uri)
	if err != nil {
		p.t.Fatal(err)
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{URIs: []*url.URL{name}}, key)
	if err != nil {
		p.t.Fatal(err)
	}
	issued := p.do(p.request(http.MethodPost, p.base+"/udap/certificate",
		bytes.NewReader(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}))))
	block, _ := pem.Decode(issued.body)
	if block == nil {
		p.t.Fatalf("no certificate: %d %s", issued.status, issued.body)
	}

	return &communityMember{portal: p, key: key, chain: []string{base64.StdEncoding.EncodeToString(block.Bytes)}}
}

func (p *wire) seconds(d time.Duration) int64 { return p.clock.Load() + int64(d.Seconds()) }

func (m *communityMember) signed(claims map[string]any) string {
	return sign(m.t, jose.SigningKey{Algorithm: jose.RS256, Key: m.key}, claims, "x5c", m.chain)
}

func sign(t *testing.T, key jose.SigningKey, claims map[string]any, header string, value any) string {
	t.Helper()
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithHeader(jose.HeaderKey(header), value))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	object, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}

	return token
}

// statement returns the claims of a software statement. changes overrides claims; a nil value removes the claim.
func (m *communityMember) statement(jti string, changes map[string]any) map[string]any {
	return changed(map[string]any{
		"iss": memberURI, "sub": memberURI, "aud": m.base + "/udap/register", "iat": m.seconds(0),
		"exp": m.seconds(5 * time.Minute), "jti": jti,
		"client_name": "App", "contacts": []string{"mailto:a@app.example"}, "grant_types": []string{"client_credentials"},
		"token_endpoint_auth_method": "private_key_jwt", "scope": "patient/*.read",
	}, changes)
}

func changed(claims, changes map[string]any) map[string]any {
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })

	return claims
}

func (m *communityMember) register(statement string) answer {
	m.t.Helper()
	body, err := json.Marshal(map[string]any{"software_statement": statement, "udap": "1"})
	if err != nil {
		m.t.Fatal(err)
	}

	return m.do(m.request(http.MethodPost, m.base+"/udap/register", bytes.NewReader(body)))
}

func (m *communityMember) registered(jti string) string {
	m.t.Helper()
	id, _ := m.register(m.signed(m.statement(jti, nil))).json(m.t)["client_id"].(string)
	if id == "" {
		m.t.Fatal("not registered")
	}

	return id
}

// idToken returns the identity provider's id_token for the persona Alder Maple.
func (m *communityMember) idToken(changes map[string]any) string {
	return sign(m.t, jose.SigningKey{Algorithm: jose.RS256, Key: rsaKeys()[0]}, changed(map[string]any{
		"iss": "https://id.example", "exp": m.seconds(time.Minute), "given_name": "Alder", "family_name": "Maple",
		"birthdate": "1985-11-03",
	}, changes), "kid", "1")
}

func (m *communityMember) extensions(idToken string) map[string]any {
	oneself := []any{map[string]any{"coding": []any{map[string]any{"code": "ONESELF"}}}}

	return map[string]any{
		"hl7-b2b": map[string]any{
			"version": "1", "organization_id": "urn:oid:2.999.1",
			"purpose_of_use": []string{"urn:oid:2.16.840.1.113883.3.7204.1.5.2.1#T-IAS"},
		},
		"tefca_ias": map[string]any{
			"version": "1", "user_information": map[string]any{"resourceType": "RelatedPerson", "relationship": oneself},
			"patient_information": map[string]any{
				"resourceType": "Patient", "birthDate": "1985-11-03",
				"name": []any{map[string]any{"family": "Maple", "given": []string{"Alder"}}},
			},
			"consent_policy": []string{"urn:oid:2.999.2"}, "id_token": idToken,
		},
	}
}

func (m *communityMember) assertion(client, jti string, changes map[string]any) map[string]any {
	return changed(map[string]any{
		"iss": client, "sub": client, "aud": m.base + "/udap/token", "iat": m.seconds(0),
		"exp": m.seconds(5 * time.Minute), "jti": jti,
		"extensions": m.extensions(m.idToken(nil)),
	}, changes)
}

func (m *communityMember) ask(assertion string, headers ...string) answer {
	m.t.Helper()

	return m.post("/udap/token", url.Values{
		"grant_type": {"client_credentials"}, "scope": {"patient/*.read"}, "udap": {"1"}, "client_assertion": {assertion},
		"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
	}, headers...)
}

func unsigned(t *testing.T, claims map[string]any, chain []string) string {
	t.Helper()
	header, err := json.Marshal(map[string]any{"alg": "none", "x5c": chain})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}

	return base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload) + "."
}
