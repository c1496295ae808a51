package oauth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"recordbridge/infra/sandbox/jose"
)

const (
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// assertionLasts is the maximum lifetime of an assertion (SMART App Launch 2: five minutes). clockSkew is the
	// maximum clock skew allowed between client and server.
	assertionLasts = 5 * time.Minute
	clockSkew      = 10 * time.Second
	maxJTI         = 200
)

// assertedID sets given's client ID to the assertion's subject, without verifying the assertion.
func assertedID(form url.Values, given credentials) (credentials, *oauthError) {
	if form.Get("client_assertion_type") != assertionType {
		return credentials{}, &oauthError{"invalid_request", "client_assertion_type must be " + assertionType}
	}
	parts := strings.Split(given.assertion, ".")
	var claims struct {
		Subject string `json:"sub"`
	}
	if len(parts) == 3 {
		if raw, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil && json.Unmarshal(raw, &claims) != nil {
			claims.Subject = ""
		}
	}
	if claims.Subject == "" || given.id != "" && given.id != claims.Subject {
		return credentials{}, &oauthError{"invalid_client", "the assertion does not belong to this client"}
	}
	given.id = claims.Subject

	return given, nil
}

// checkAssertion verifies a client assertion. The assertion must be signed with one of the client's keys, identify the
// client and this token endpoint, be short-lived, and not have been used before (SMART App Launch 2,
// client-confidential-asymmetric).
func (g *registry) checkAssertion(ctx context.Context, assertion string, client Client) (*oauthError, error) {
	claims, err := jose.Verify(assertion, client.Keys)
	if err != nil {
		//nolint:nilerr // the client's mistake, and answered
		return &oauthError{"invalid_client", "the assertion is not signed with a registered key"}, nil
	}
	text := func(name string) string {
		value, _ := claims[name].(string)

		return value
	}
	expires, _ := claims["exp"].(float64)
	left := time.Unix(int64(expires), 0).Sub(g.now())
	jti := text("jti")
	switch {
	case text("iss") != client.ID || text("sub") != client.ID:
		return &oauthError{"invalid_client", "iss and sub of the assertion must be the client_id"}, nil
	case text("aud") != g.Endpoints().Token:
		return &oauthError{"invalid_client", "aud of the assertion must be the token URL"}, nil
	case left <= -clockSkew || left > assertionLasts+clockSkew:
		return &oauthError{"invalid_client", "exp of the assertion must be within five minutes"}, nil
	case jti == "" || len(jti) > maxJTI:
		return &oauthError{"invalid_client", "jti of the assertion is missing"}, nil
	}
	fresh, err := g.ledger.swap(ctx, "JTI#"+fingerprint(client.ID+"\n"+jti), nil, true,
		g.now().Add(2*assertionLasts).Unix())
	if err != nil {
		return nil, err
	}
	if !fresh {
		return &oauthError{"invalid_client", "the assertion was already used"}, nil
	}

	return nil, nil
}
