package smart

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/url"

	"recordbridge/shared/secret"
)

// AuthRequest is a request for an authorization code (SMART App Launch 2.2, "Obtain authorization code").
type AuthRequest struct {
	ClientID    string
	RedirectURI string
	State       string
	Scope       string // space-separated
	Aud         string // the FHIR base; empty for servers that reject the parameter
	// Challenge is the S256 challenge of the verifier; empty for platforms that refuse one. Then nothing binds the code to
	// us but our client's authentication, of which a public client has none, and nothing binds it to this sign-in but the
	// state, which only the browser with the cookie can bring back, and the nonce (RFC 9700 section 2.1.1).
	Challenge string
	Nonce     string // what the id_token must repeat; empty when none is asked for (OpenID Connect Core 1.0)
}

// AuthorizeURL returns the address of the sign-in page for the request. Parameters that the authorization endpoint's
// own query holds stay, unless the request sets them.
func AuthorizeURL(server Server, request AuthRequest) (string, error) {
	target, err := url.Parse(server.AuthorizationEndpoint)
	if err != nil {
		return "", fmt.Errorf("authorization endpoint: %w", err)
	}
	query := target.Query()
	query.Set("response_type", "code")
	query.Set("client_id", request.ClientID)
	query.Set("redirect_uri", request.RedirectURI)
	query.Set("state", request.State)
	query.Set("scope", request.Scope)
	if request.Aud != "" {
		query.Set("aud", request.Aud)
	}
	query.Del("nonce")
	if request.Nonce != "" {
		query.Set("nonce", request.Nonce)
	}
	query.Del("code_challenge")
	query.Del("code_challenge_method")
	if request.Challenge != "" {
		query.Set("code_challenge", request.Challenge)
		query.Set("code_challenge_method", "S256")
	}
	target.RawQuery = query.Encode()
	return target.String(), nil
}

// NewVerifier makes a PKCE code verifier of 256 bits from random (RFC 7636 section 4.1).
func NewVerifier(random io.Reader) (secret.Text, error) {
	var bits [32]byte
	if _, err := io.ReadFull(random, bits[:]); err != nil {
		return secret.Text{}, fmt.Errorf("random bytes for a code verifier: %w", err)
	}
	return secret.New(base64.RawURLEncoding.EncodeToString(bits[:])), nil
}

// Challenge returns the S256 challenge of a verifier (RFC 7636 section 4.2).
func Challenge(verifier secret.Text) string {
	sum := sha256.Sum256([]byte(verifier.Reveal()))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
