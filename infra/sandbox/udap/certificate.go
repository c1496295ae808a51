package udap

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
)

const (
	maxBody      = 128 << 10
	pemType      = "application/x-pem-file"
	certificates = "CERTIFICATE"
)

// anchor serves GET /udap/anchor. It responds with the PEM-encoded anchor certificate of the sandbox's trust community.
func (s *Server) anchor(w http.ResponseWriter, r *http.Request) {
	keys, err := s.community.keys(r.Context())
	if err != nil {
		s.fail(w, r, err)

		return
	}
	writePEM(w, keys.anchor.Raw)
}

// certificate serves POST /udap/certificate. It issues a client certificate to any caller, for the public key and the
// single URI in a PEM-encoded PKCS #10 request (RFC 2986). The private key is known only to the caller.
func (s *Server) certificate(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	block, _ := pem.Decode(body)
	if err != nil || block == nil {
		s.refuse(w, problem{"invalid_request", "the body must be a certificate request in PEM"})

		return
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil || request.CheckSignature() != nil || len(request.URIs) != 1 {
		s.refuse(w, problem{"invalid_request", "the request must be signed with its own key and name one URI"})

		return
	}
	keys, err := s.community.keys(r.Context())
	if err != nil {
		s.fail(w, r, err)

		return
	}
	now := s.config.Now()
	der, err := keys.issue(s.config.Random, request.PublicKey, request.URIs[0], now.Add(-skew), now.Add(leafLasts))
	if err != nil {
		s.fail(w, r, err)

		return
	}
	writePEM(w, der)
}

func writePEM(w http.ResponseWriter, der []byte) {
	w.Header().Set("Content-Type", pemType)
	_, _ = w.Write(pem.EncodeToMemory(&pem.Block{Type: certificates, Bytes: der}))
}
