package ihe

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Authority is a certificate authority for a test's gateways and clients.
type Authority struct {
	certificate *x509.Certificate
	key         *rsa.PrivateKey
}

// NewAuthority creates an authority with a new self-signed certificate.
func NewAuthority(name string) (*Authority, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	template := certificate(name)
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make authority: %w", err)
	}
	own, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read authority: %w", err)
	}
	return &Authority{certificate: own, key: key}, nil
}

// PEM returns the authority's PEM-encoded certificate.
func (a *Authority) PEM() string { return encoded("CERTIFICATE", a.certificate.Raw) }

// Issue creates a client certificate and its RSA key, both PEM-encoded. The key is used for both TLS and signatures.
func (a *Authority) Issue(name string) (certificatePEM, keyPEM string, err error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", "", fmt.Errorf("make key: %w", err)
	}
	der, err := a.sign(name, key.Public())
	if err != nil {
		return "", "", err
	}
	return encoded("CERTIFICATE", der), encoded("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)), nil
}

// serves returns a TLS server certificate for a gateway at 127.0.0.1.
func (a *Authority) serves() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make key: %w", err)
	}
	der, err := a.sign("gateway", key.Public())
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

func (a *Authority) sign(name string, key crypto.PublicKey) ([]byte, error) {
	template := certificate(name)
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key, a.key)
	if err != nil {
		return nil, fmt.Errorf("issue certificate: %w", err)
	}
	return der, nil
}

func certificate(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name, Organization: []string{"Example"}},
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
}

func encoded(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
