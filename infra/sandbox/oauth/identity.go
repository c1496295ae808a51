package oauth

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"recordbridge/infra/sandbox/jose"
	"recordbridge/infra/sandbox/switches"
)

const (
	scopeOpenID   = "openid"
	scopeFHIRUser = "fhirUser"
	// idTokenLasts is the lifetime of an id_token.
	idTokenLasts = 5 * time.Minute
	// SigningKeyID is the signing key's kid. signingKey is its name in the store.
	SigningKeyID = "sandbox-1"
	signingKey   = "KEY#id-token"
	signingBits  = 2048
)

var errSigningKey = errors.New("the signing key in the store is not one of RSA")

// signer signs the portal's JWTs with a key kept in the store.
type signer struct {
	*profile

	store Store
}

// identifies reports whether this portal supports OpenID Connect.
func (p *profile) identifies() bool {
	return p.with.Has(switches.IDToken) || p.with.Has(switches.PatientFHIRUser)
}

// identify adds an id_token to the response to a code exchange.
func (i *tokenIssuer) identify(ctx context.Context, answer *tokenAnswer, code codeRecord) error {
	if !i.identifies() || !slices.Contains(code.Scopes, scopeOpenID) && !i.with.Has(switches.PatientFHIRUser) {
		return nil
	}
	now := i.now()
	claims := map[string]any{
		"iss": i.issuer, "sub": code.PersonaID, "aud": code.ClientID, "iat": now.Unix(), "exp": now.Add(idTokenLasts).Unix(),
		"fhirUser": i.fhirBase + "/Patient/" + i.personas[code.PersonaID].PatientID,
	}
	if code.Nonce != "" {
		claims["nonce"] = code.Nonce
	}
	flaw := i.with.Text(switches.IDToken)
	switch flaw {
	case "wrong-nonce":
		claims["nonce"] = "another-nonce"
	case "expired":
		claims["iat"], claims["exp"] = now.Add(-2*time.Hour).Unix(), now.Add(-time.Hour).Unix()
	case "wrong-aud":
		claims["aud"] = "another-client"
	case "wrong-issuer":
		claims["iss"] = wrongIssuer
	}
	signed, err := i.signer.sign(ctx, claims)
	if err != nil {
		return err
	}
	if flaw == "bad-signature" {
		signed = spoilSignature(signed)
	}
	answer.IDToken = signed

	return nil
}

// spoilSignature flips one bit of the token's signature.
func spoilSignature(token string) string {
	cut := strings.LastIndexByte(token, '.') + 1
	signature, err := base64.RawURLEncoding.DecodeString(token[cut:])
	if err != nil {
		return token[:cut]
	}
	signature[0] ^= 1

	return token[:cut] + base64.RawURLEncoding.EncodeToString(signature)
}

// newAccessToken returns a new access token. The token is random, except that portals with switches.PatientJWT issue a
// JWT that names the patient.
func (i *tokenIssuer) newAccessToken(ctx context.Context, grant grantRecord, access tokenRecord) (string, error) {
	secret, err := i.ledger.newSecret()
	if err != nil || !i.with.Has(switches.PatientJWT) {
		return secret, err
	}

	return i.signer.sign(ctx, map[string]any{
		"iss": i.issuer, "aud": i.fhirBase, "sub": grant.PersonaID, "client_id": grant.ClientID, "jti": secret,
		"iat": access.IssuedAt, "exp": access.ExpiresAt, "local_patient_id": i.personas[grant.PersonaID].PatientID,
	})
}

// Keys serves GET /oauth/jwks. If the portal does not support OpenID Connect, Keys returns false without writing a
// response.
func (e *discoveryEndpoints) Keys(w http.ResponseWriter, r *http.Request) bool {
	if !e.identifies() {
		return false
	}
	key, err := e.signer.SigningKey(r.Context())
	if err != nil {
		e.fail(w, r, err)

		return true
	}
	e.writeJSON(w, http.StatusOK, jose.PublicKeys(key, SigningKeyID))

	return true
}

// SigningKey returns the signing key. The first call generates the key and saves it in the store, so that all processes
// of a sandbox and its identity provider sign with the same key.
func (k *signer) SigningKey(ctx context.Context) (*rsa.PrivateKey, error) {
	raw, found, err := k.store.Get(ctx, signingKey)
	if err != nil {
		return nil, fmt.Errorf("get signing key: %w", err)
	}
	if found {
		return parseSigningKey(raw)
	}
	key, err := rsa.GenerateKey(rand.Reader, signingBits)
	if err != nil {
		return nil, fmt.Errorf("make signing key: %w", err)
	}
	if raw, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
		return nil, fmt.Errorf("encode signing key: %w", err)
	}
	first, err := k.store.Swap(ctx, signingKey, nil, raw, k.now().Add(consentLasts))
	if err != nil {
		return nil, fmt.Errorf("swap signing key: %w", err)
	}
	if first {
		return key, nil
	}
	if raw, _, err = k.store.Get(ctx, signingKey); err != nil {
		return nil, fmt.Errorf("get signing key: %w", err)
	}

	return parseSigningKey(raw)
}

func (k *signer) sign(ctx context.Context, claims map[string]any) (string, error) {
	key, err := k.SigningKey(ctx)
	if err != nil {
		return "", err
	}

	return jose.Sign(key, SigningKeyID, claims)
}

func parseSigningKey(raw []byte) (*rsa.PrivateKey, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(raw)
	if err != nil {
		return nil, fmt.Errorf("decode signing key: %w", err)
	}
	key, isRSA := parsed.(*rsa.PrivateKey)
	if !isRSA {
		return nil, errSigningKey
	}

	return key, nil
}
