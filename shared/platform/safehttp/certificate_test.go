package safehttp_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"recordbridge/shared/platform/safehttp"
)

// shown returns a self-signed client certificate with the given name.
func shown(t *testing.T, name string) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// asking starts a server that requests a client certificate. The server responds with the name in the client's
// certificate.
func asking(t *testing.T, need tls.ClientAuthType) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	s := server(t, func(s *httptest.Server) { s.TLS = &tls.Config{ClientAuth: need}; s.StartTLS() },
		func(w http.ResponseWriter, r *http.Request) {
			for _, c := range r.TLS.PeerCertificates {
				_, _ = io.WriteString(w, c.Subject.CommonName)
			}
		})
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, roots
}

func TestClientPresentsCertificateOnRequest(t *testing.T) {
	t.Parallel()
	s, roots := asking(t, tls.RequireAnyClientCert)
	options := loopback()
	options.Roots = roots
	if _, _, err := get(t, safehttp.New(options), s.URL, 100); err == nil {
		t.Error("a client without a certificate was answered")
	}
	options.Certificate = shown(t, "ours")
	status, body, err := get(t, safehttp.New(options), s.URL, 100)
	if status != http.StatusOK || body != "ours" || err != nil {
		t.Errorf("got %d, %q, %v", status, body, err)
	}
}

func TestClientsDoNotShareCertificate(t *testing.T) {
	t.Parallel()
	s, roots := asking(t, tls.RequestClientCert)
	with, without := loopback(), loopback()
	with.Roots, without.Roots = roots, roots
	with.Certificate = shown(t, "ours")
	_, first, err := get(t, safehttp.New(with), s.URL, 100)
	_, second, err2 := get(t, safehttp.New(without), s.URL, 100)
	if first != "ours" || second != "" || err != nil || err2 != nil {
		t.Errorf("with a certificate %q, without %q, %v, %v", first, second, err, err2)
	}
}

func TestClientRejectsCertificateOutsideConfiguredRoots(t *testing.T) {
	t.Parallel()
	s, roots := asking(t, tls.NoClientCert)
	trusting, doubting := loopback(), loopback()
	trusting.Roots, doubting.Roots = roots, x509.NewCertPool()
	if _, _, err := get(t, safehttp.New(trusting), s.URL, 100); err != nil {
		t.Errorf("a server of a given root: %v", err)
	}
	_, _, err := get(t, safehttp.New(doubting), s.URL, 100)
	wantClass(t, err, safehttp.TLS)
}

func TestCertificateDoesNotBypassGuard(t *testing.T) {
	t.Parallel()
	s, roots := asking(t, tls.RequestClientCert)
	client := safehttp.New(safehttp.Options{Certificate: shown(t, "ours"), Roots: roots})
	for _, address := range []string{
		s.URL, "https://169.254.169.254/", "https://10.0.0.1/", "http://8.8.8.8/",
		"https://8.8.8.8:8443/",
	} {
		_, _, err := get(t, client, address, 100)
		wantClass(t, err, safehttp.BlockedAddress)
	}
}
