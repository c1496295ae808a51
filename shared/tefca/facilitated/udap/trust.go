package udap

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/secret/jws"
)

const (
	// maxChain is the maximum number of certificates in a header. maxCertificate is the maximum size of each
	// certificate in bytes.
	maxChain       = 5
	maxCertificate = 8 << 10
	// maxJWT is the maximum length of a JWT in bytes. Certificates in the JWT's header are base64-encoded twice.
	maxJWT = 2 * maxChain * maxCertificate
)

func verifier() jws.Verifier {
	return jws.Verifier{Algorithms: []jose.SignatureAlgorithm{jose.RS256, jose.ES256}, MaxBytes: maxJWT}
}

// Reasons for rejecting a JWT.
const (
	errJWT       = flaw("jwt")                 // the JWT is not signed with the certificate's key using RS256 or ES256
	errChain     = flaw("certificate_chain")   // x5c does not contain exactly one certificate chain
	errUntrusted = flaw("certificate_trust")   // the certificate is not trusted or not currently valid
	errHolder    = flaw("certificate_subject") // the certificate names a different holder
)

// verify returns the payload of a JWT. The JWT must be signed with the key of a certificate that names holder and was
// issued by the trust community. verify ignores jwk, jku and kid. The accepted algorithms are fixed (RFC 8725 sections
// 3.1 and 3.10).
func (c Client) verify(token, holder string) (payload []byte, err error) {
	signed, err := verifier().Parse(secret.New(token))
	if err != nil {
		return nil, errJWT
	}
	chain, err := parseChain(token)
	if err != nil {
		return nil, err
	}
	between := x509.NewCertPool()
	for _, certificate := range chain[1:] {
		between.AddCert(certificate)
	}
	leaf := chain[0]
	_, err = leaf.Verify(x509.VerifyOptions{
		Roots: c.Anchors, Intermediates: between, CurrentTime: c.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	isSigner := leaf.KeyUsage == 0 || leaf.KeyUsage&x509.KeyUsageDigitalSignature != 0
	switch {
	case err != nil || leaf.IsCA || !isSigner || !verifier().Accepts(leaf.PublicKey):
		return nil, errUntrusted
	case !names(leaf, holder):
		return nil, errHolder
	}
	if payload, err = signed.VerifyWith(leaf.PublicKey); err != nil {
		return nil, errJWT
	}
	return payload, nil
}

// parseChain parses the x5c header of a compact JWS (RFC 7515 section 4.1.6). The header must contain exactly one
// chain, leaf first, because implementations disagree on how to read anything else.
func parseChain(token string) ([]*x509.Certificate, error) {
	encoded, _, _ := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	var header struct {
		Chain []string `json:"x5c"`
	}
	if err != nil || json.Unmarshal(raw, &header) != nil || len(header.Chain) > maxChain {
		return nil, errChain
	}
	var chain []*x509.Certificate
	for _, text := range header.Chain {
		der, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil || len(der) > maxCertificate {
			return nil, errChain
		}
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, errChain
		}
		chain = append(chain, certificate)
	}
	if !inOrder(chain) {
		return nil, errChain
	}
	return chain, nil
}

// inOrder reports whether each certificate is signed by the next certificate in the chain.
func inOrder(chain []*x509.Certificate) bool {
	for i := 1; i < len(chain); i++ {
		if chain[i-1].CheckSignatureFrom(chain[i]) != nil {
			return false
		}
	}
	return len(chain) > 0
}
