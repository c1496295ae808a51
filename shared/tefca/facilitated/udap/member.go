package udap

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/secret/jws"
)

var (
	errCertificates = errors.New("udap: the certificates are not a chain in PEM, leaf first")
	errKey          = errors.New(
		"udap: the key is not one of RSA, or on P-256, in PEM (PKCS #8) for the first certificate")
	errName = errors.New("udap: the first certificate does not name the client's URI")
)

// Member is the service's identity within a trust community.
type Member struct {
	uri       string
	chain     []string // x5c: base64 of DER, leaf first
	key       crypto.Signer
	algorithm jose.SignatureAlgorithm
}

// NewMember returns a Member. certificates holds the member's certificate, which must contain uri, and the intermediate
// certificates. key is the certificate's private key. Both are PEM.
func NewMember(uri, certificates string, key secret.Text) (Member, error) {
	var chain []*x509.Certificate
	for block, rest := pem.Decode([]byte(certificates)); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return Member{}, errCertificates
		}
		chain = append(chain, certificate)
	}
	if !inOrder(chain) {
		return Member{}, errCertificates
	}
	if !names(chain[0], uri) {
		return Member{}, errName
	}
	signer, algorithm, ok := parseKey(key)
	if !ok {
		return Member{}, errKey
	}
	if public, ok := signer.Public().(interface {
		Equal(other crypto.PublicKey) bool
	}); !ok || !public.Equal(chain[0].PublicKey) {
		return Member{}, errKey
	}
	m := Member{uri: uri, key: signer, algorithm: algorithm}
	for _, certificate := range chain {
		m.chain = append(m.chain, base64.StdEncoding.EncodeToString(certificate.Raw))
	}
	return m, nil
}

func parseKey(key secret.Text) (crypto.Signer, jose.SignatureAlgorithm, bool) {
	block, _ := pem.Decode([]byte(key.Reveal()))
	if block == nil {
		return nil, "", false
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, "", false
	}
	switch private := parsed.(type) {
	case *rsa.PrivateKey:
		return private, jose.RS256, verifier().Accepts(private.Public())
	case *ecdsa.PrivateKey:
		return private, jose.ES256, verifier().Accepts(private.Public())
	}
	return nil, "", false
}

// names reports whether certificate contains uri. URIs are compared character by character (RFC 7519 section 2).
func names(certificate *x509.Certificate, uri string) bool {
	for _, one := range certificate.URIs {
		if one.String() == uri {
			return true
		}
	}
	return false
}

// signs reports whether algorithms includes the member's signature algorithm.
func (m Member) signs(algorithms []string) bool {
	return slices.Contains(algorithms, string(m.algorithm))
}

// sign returns a signed JWT whose header contains the member's certificates.
func (m Member) sign(claims any) (string, error) {
	return jws.Sign(m.algorithm, m.key, map[jose.HeaderKey]any{"x5c": m.chain}, claims)
}
