package udap

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"recordbridge/infra/sandbox/jose"
	"recordbridge/infra/sandbox/scope"
)

const elsewhere = "https://elsewhere.example"

// metadata serves GET /fhir/.well-known/udap.
func (s *Server) metadata(w http.ResponseWriter, r *http.Request) {
	document := map[string]any{
		"udap_versions_supported":                                []string{"1"},
		"udap_profiles_supported":                                []string{"udap_dcr", "udap_authn", "udap_authz"},
		"udap_authorization_extensions_supported":                []string{extensionB2B, extensionIAS},
		"udap_authorization_extensions_required":                 []string{extensionB2B, extensionIAS},
		"udap_certifications_supported":                          []string{},
		"grant_types_supported":                                  []string{clientCredentials},
		"scopes_supported":                                       scope.Supported(),
		"token_endpoint":                                         s.tokenURL(),
		"token_endpoint_auth_methods_supported":                  []string{keyAuthentication},
		"token_endpoint_auth_signing_alg_values_supported":       []string{"RS256", "ES256"},
		"registration_endpoint":                                  s.registrationURL(),
		"registration_endpoint_jwt_signing_alg_values_supported": []string{"RS256", "ES256"},
	}
	if !s.misbehaves("unsigned") {
		signed, err := s.signedMetadata(r.Context())
		if err != nil {
			s.fail(w, r, err)

			return
		}
		document["signed_metadata"] = signed
	}
	s.answer(w, http.StatusOK, document)
}

// signedMetadata returns a JWT that contains the endpoints' URLs and is signed by a member of the trust community.
func (s *Server) signedMetadata(ctx context.Context) (string, error) {
	keys, err := s.community.keys(ctx)
	if err != nil {
		return "", err
	}
	if s.misbehaves("other-authority") {
		if keys, err = s.impostor(); err != nil {
			return "", err
		}
	}
	now, issuer, named := s.config.Now(), s.fhirBase(), s.fhirBase()
	from, until := now.Add(-skew), now.Add(leafLasts)
	claims := map[string]any{
		"iat": now.Unix(), "exp": now.Add(24 * time.Hour).Unix(), "token_endpoint": s.tokenURL(),
		"registration_endpoint": s.registrationURL(),
	}
	switch {
	case s.misbehaves("wrong-san"):
		named = elsewhere + "/fhir"
	case s.misbehaves("expired-certificate"):
		from, until = now.Add(-leafLasts), now.Add(-time.Hour)
	case s.misbehaves("expired-metadata"):
		claims["iat"], claims["exp"] = now.Add(-2*time.Hour).Unix(), now.Add(-time.Hour).Unix()
	case s.misbehaves("other-issuer"):
		issuer, named = elsewhere+"/fhir", elsewhere+"/fhir"
	case s.misbehaves("other-endpoints"):
		claims["token_endpoint"], claims["registration_endpoint"] = elsewhere+"/token", elsewhere+"/register"
	}
	claims["iss"], claims["sub"] = issuer, issuer
	if claims["jti"], err = s.nonce(); err != nil {
		return "", err
	}
	uri, err := url.Parse(named)
	if err != nil {
		return "", fmt.Errorf("parse the portal's name: %w", err)
	}
	leaf, err := keys.issue(s.config.Random, keys.portal.Public(), uri, from, until)
	if err != nil {
		return "", err
	}

	return jose.SignCertified(keys.portal, []string{base64.StdEncoding.EncodeToString(leaf)}, claims)
}

// impostor returns the keys of a newly generated community, which no client trusts.
func (s *Server) impostor() (*keys, error) {
	raw, err := s.community.fresh()
	if err != nil {
		return nil, err
	}

	return parseKeys(raw)
}

func (s *Server) nonce() (string, error) {
	raw := make([]byte, 16)
	if _, err := io.ReadFull(s.config.Random, raw); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}

	return hex.EncodeToString(raw), nil
}
