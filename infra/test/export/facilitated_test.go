package exporttest_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/facilitated"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

const issuer = "https://id.example"

// provider is the identity provider that the sandbox trusts.
type provider struct{ key *ecdsa.PrivateKey }

var identityProvider = sync.OnceValue(func() provider {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return provider{key}
})

// Keys implements the sandbox's udap.Issuers.
func (p provider) Keys(context.Context, string) (jose.JSONWebKeySet, error) {
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: "1"}}}, nil
}

// vouchesFor returns a signed assertion of a person's identity.
func (p provider) vouchesFor(t *testing.T, who tefca.Person) tefca.Assertion {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: p.key},
		(&jose.SignerOptions{}).WithHeader("kid", "1"))
	expect.NoError(t, err)
	ends := time.Now().Add(15 * time.Minute)
	claims, err := json.Marshal(map[string]any{
		"iss": issuer, "exp": ends.Unix(), "given_name": who.Given, "family_name": who.Family, "birthdate": who.BirthDate,
	})
	expect.NoError(t, err)
	signed, err := signer.Sign(claims)
	expect.NoError(t, err)
	token, err := signed.CompactSerialize()
	expect.NoError(t, err)
	return tefca.Assertion{Issuer: issuer, Subject: "s", Level: 2, Person: who, Token: secret.New(token), ExpiresAt: ends}
}

// member returns a network that consists of a single facility and has the service as a member.
func member(t *testing.T, doer smart.Doer, base string) *facilitated.Network {
	t.Helper()
	const uri = "https://us.example/udap#T-IAS"
	name, err := url.Parse(uri)
	expect.NoError(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	expect.NoError(t, err)
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{URIs: []*url.URL{name}}, key)
	expect.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	expect.NoError(t, err)
	network, err := facilitated.New(facilitated.Config{
		ClientURI: uri, ClientName: "Recordbridge test", Contacts: []string{"mailto:ops@us.example"},
		OrganizationID: "urn:oid:2.999.1",
		ConsentPolicy:  []string{"urn:oid:2.999.2"}, Anchors: fromSandbox(t, http.MethodGet, "/udap/anchor", ""),
		Certificates: fromSandbox(t, http.MethodPost, "/udap/certificate", inPEM("CERTIFICATE REQUEST", request)),
		Places:       []facilitated.Place{{ID: "urn:oid:2.999.7", Name: "A facility", FHIRBase: base}},
	}, secret.New(inPEM("PRIVATE KEY", der)),
		facilitated.Deps{Doer: doer, Portals: portalOf(doer), Now: time.Now, NewID: ids.Random})
	expect.NoError(t, err)
	return network
}

func inPEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func fromSandbox(t *testing.T, method, path, body string) string {
	t.Helper()
	handler, err := portal()
	expect.NoError(t, err)
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, mount+path, strings.NewReader(body)))
	return answer.Body.String()
}

// opened locates a person at the facility and returns the tokens issued.
func opened(t *testing.T, doer smart.Doer, base string, who tefca.Person) tokens.Set {
	t.Helper()
	network, identity := member(t, doer, base), identityProvider().vouchesFor(t, who)
	var at tefca.Facility
	expect.NoError(t, network.Locate(t.Context(), identity, func(f tefca.Facility) error { at = f; return nil }))
	if at.Match != tefca.Found {
		t.Fatalf("located: %+v", at)
	}
	set, err := network.Open(t.Context(), identity, at)
	expect.NoError(t, err)
	return set
}

func TestFacilitatedFHIRExportIsComplete(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		id, switches string
		who          tefca.Person
	}{
		{"willow-ash", "", tefca.Person{Given: "Willow", Family: "Ash", BirthDate: "1962-08-09"}},
		{
			"rowan-birch", "no-patient,outcome-entry,next-relative",
			tefca.Person{Given: "Rowan", Family: "Birch", BirthDate: "2017-03-21"},
		},
	} {
		t.Run(one.id, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := scenario{
					person: named(t, one.id), label: "facilitated-" + one.id, switches: one.switches,
					opens: func(t *testing.T, doer smart.Doer, base string) tokens.Set {
						t.Helper()
						return opened(t, doer, base, one.who)
					},
				}.run(t)
				checkWhole(t, r)
			})
		})
	}
}

func TestExportFailsWhenAccessTokenExpiresWithoutRefreshToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := scenario{
			person: named(t, "willow-ash"), label: "facilitated-short", switches: "access:5s,slow:2s",
			opens: func(t *testing.T, doer smart.Doer, base string) tokens.Set {
				t.Helper()
				return opened(t, doer, base, tefca.Person{Given: "Willow", Family: "Ash", BirthDate: "1962-08-09"})
			},
		}.run(t)
		checkConduct(t, r)
		if r.task.Status != export.Failed || r.task.FailureReason != export.TokenRefreshFailure {
			t.Errorf("%s, %s", r.task.Status, r.task.FailureReason)
		}
	})
}

func TestExportFailsWithTokenOfAnotherPatient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := scenario{
			person: named(t, "willow-ash"), label: "facilitated-other",
			opens: func(t *testing.T, doer smart.Doer, base string) tokens.Set {
				t.Helper()
				set := opened(t, doer, base, tefca.Person{Given: "Rowan", Family: "Birch", BirthDate: "2017-03-21"})
				set.PatientID = secret.New("patient-willow-ash") // a patient that exists but is not the token's
				return set
			},
		}.run(t)
		checkConduct(t, r)
		if r.task.Status != export.Failed || r.task.FailureReason != export.ResourcePatientFailure || len(r.file) > 0 {
			t.Errorf("%s, %s, %d bytes", r.task.Status, r.task.FailureReason, len(r.file))
		}
	})
}
