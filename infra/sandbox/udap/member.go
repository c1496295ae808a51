package udap

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// longest is the maximum lifetime of a client's JWT.
const longest = 5 * time.Minute

var errMember = errors.New("not signed by a member of the trust community")

type memberJWT struct {
	payload []byte
	uris    []string
	claims  common
}

type common struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	ID       string `json:"jti"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
}

// member verifies a JWT's signature and that the anchor issued the signing certificate. It does not check the JWT's
// claims.
func (s *Server) member(ctx context.Context, token string) (memberJWT, error) {
	keys, err := s.community.keys(ctx)
	if err != nil {
		return memberJWT{}, err
	}
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.RS256, jose.ES256})
	if err != nil {
		return memberJWT{}, errMember
	}
	roots := x509.NewCertPool()
	roots.AddCert(keys.anchor)
	chains, err := signed.Signatures[0].Protected.Certificates(x509.VerifyOptions{
		Roots: roots, CurrentTime: s.config.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	if err != nil {
		return memberJWT{}, errMember
	}
	leaf := chains[0][0]
	payload, err := signed.Verify(leaf.PublicKey)
	if err != nil {
		return memberJWT{}, errMember
	}
	said := memberJWT{payload: payload}
	for _, uri := range leaf.URIs {
		said.uris = append(said.uris, uri.String())
	}
	if json.Unmarshal(payload, &said.claims) != nil {
		return memberJWT{}, errMember
	}

	return said, nil
}

// flaw checks the claims of a member's JWT for the given audience and marks its jti as used. It returns the first
// error, or "" if the claims are valid.
func (s *Server) flaw(ctx context.Context, said memberJWT, audience string) (string, error) {
	now, c := s.config.Now(), said.claims
	issued, expires := time.Unix(c.IssuedAt, 0), time.Unix(c.Expires, 0)
	switch {
	case c.Issuer == "" || c.Issuer != c.Subject:
		return "iss and sub must be the same", nil
	case c.Audience != audience:
		return "aud must be this endpoint", nil
	case expires.Sub(issued) > longest || !now.Before(expires.Add(skew)) || issued.After(now.Add(skew)):
		return "exp must be within five minutes of iat, and later than now", nil
	case c.ID == "" || len(c.ID) > 200:
		return "jti is missing", nil
	}
	fresh, err := s.config.Store.Swap(ctx, s.key("jti", c.Issuer, c.ID), nil, []byte("used"), expires.Add(2*skew))
	if err != nil {
		return "", err
	}
	if !fresh {
		return "the jti was used before", nil
	}

	return "", nil
}

// calls reports whether the member's certificate contains the given URI.
func (s memberJWT) calls(name string) bool { return slices.Contains(s.uris, name) }
