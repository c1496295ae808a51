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
	// maxChain is how many certificates a header may hold, and maxCertificate how large one may be in bytes.
	maxChain       = 5
	maxCertificate = 8 << 10
	// maxJWT is the longest JWT in bytes: its certificates are encoded twice.
	maxJWT = 2 * maxChain * maxCertificate
)

func verifier() jws.Verifier {
	return jws.Verifier{Algorithms: []jose.SignatureAlgorithm{jose.RS256, jose.ES256}, MaxBytes: maxJWT}
}

// What is wrong with a JWT.
const (
	errJWT       = flaw("jwt")                 // it is not signed by RS256 or ES256 with the key of its certificate
	errChain     = flaw("certificate_chain")   // x5c is not one chain of certificates
	errUntrusted = flaw("certificate_trust")   // the certificate is not one of the trust community, or not now
	errHolder    = flaw("certificate_subject") // the certificate is somebody else's
)

// verify returns what a JWT says that is signed with the key of a certificate which the trust community vouches for,
// and which names holder. The key comes from nowhere else: jwk, jku and kid are not looked at, and which algorithms are
// taken is fixed here (RFC 8725 sections 3.1 and 3.10).
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

// parseChain reads x5c of a compact JWS (RFC 7515 section 4.1.6): one chain, leaf first, and nothing besides. A header
// that has other things in it may mean something else to somebody else.
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

// inOrder reports whether each certificate is certified by the one that follows.
func inOrder(chain []*x509.Certificate) bool {
	for i := 1; i < len(chain); i++ {
		if chain[i-1].CheckSignatureFrom(chain[i]) != nil {
			return false
		}
	}
	return len(chain) > 0
}
