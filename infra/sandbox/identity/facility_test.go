package identity_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	provider "recordbridge/infra/sandbox/identity"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/facilitated"
	"recordbridge/shared/tefca/people"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

// facility returns a network that the service has joined and whose only facility is the sandbox.
func (w world) facility(t *testing.T) *facilitated.Network {
	t.Helper()
	const uri = "https://us.example/udap#T-IAS"
	name, nameErr := url.Parse(uri)
	key, keyErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	der, derErr := x509.MarshalPKCS8PrivateKey(key)
	request, requestErr := x509.CreateCertificateRequest(rand.Reader,
		&x509.CertificateRequest{URIs: []*url.URL{name}}, key)
	for _, err := range []error{nameErr, keyErr, derErr, requestErr} {
		if err != nil {
			t.Fatal(err)
		}
	}
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	fetch := func(method, path, body string) string {
		recorded := httptest.NewRecorder()
		w.ServeHTTP(recorded, httptest.NewRequestWithContext(t.Context(), method, base+"/sandbox/udap"+path,
			strings.NewReader(body)))

		return recorded.Body.String()
	}
	network, err := facilitated.New(facilitated.Config{
		ClientURI: uri, ClientName: "Recordbridge test", Contacts: []string{"mailto:ops@us.example"},
		OrganizationID: "urn:oid:2.999.1",
		ConsentPolicy:  []string{"urn:oid:2.999.2"}, Anchors: fetch(http.MethodGet, "/anchor", ""),
		Certificates: fetch(http.MethodPost, "/certificate", text("CERTIFICATE REQUEST", request)),
		Places:       []facilitated.Place{{ID: "urn:oid:2.999.7", Name: "Orchard Health", FHIRBase: base + "/sandbox/fhir"}},
	}, secret.New(text("PRIVATE KEY", der)), facilitated.Deps{
		Doer: w, Portals: smart.NewPortal(w, nil, nil, w.now), Now: w.now, NewID: ids.Random,
	})
	if err != nil {
		t.Fatal(err)
	}

	return network
}

func TestFacilityReturnsRecordOfVerifiedPatient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	network := w.facility(t)
	for _, patient := range people.All() {
		for _, shape := range provider.Shapes {
			left, pinned := w.leave(t)
			who, err := w.comeBack(t, pinned, returned(t,
				w.get(left+"&person="+patient.Subject+"&decision=approve&shape="+shape, "")))
			if err != nil {
				t.Fatal(err)
			}
			var at tefca.Facility
			if err = network.Locate(t.Context(), who, func(f tefca.Facility) error { at = f; return nil }); err != nil {
				t.Fatal(err)
			}
			set, err := network.Open(t.Context(), who, at)
			if err != nil || at.Match != tefca.Found || set.PatientID.Reveal() != "patient-tefca-"+patient.Subject {
				t.Errorf("%s in %s: %+v, %v", patient.Subject, shape, at, err)
			}
		}
	}
}
