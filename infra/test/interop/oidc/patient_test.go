package oidc_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

// callback is the service's redirect URI. No server listens at this URL because the simulated browser stops before
// requesting it.
const (
	ours     = "https://us.example"
	callback = ours + "/bridge/callback"
)

const scope = "openid fhirUser launch/patient offline_access patient/*.rs"

// registration is the metadata for registering a client with the authorization server (RFC 7591 section 2).
type registration map[string]any

func registered(id, method string) registration {
	return registration{
		"client_id": id, "token_endpoint_auth_method": method, "redirect_uris": []string{callback},
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
	}
}

// browse simulates a patient who opens address, signs in and consents. It returns the callback URL's query.
func browse(t *testing.T, address string) url.Values {
	t.Helper()
	return walk(t, address, "")
}

// decline is like browse, but the patient declines consent.
func decline(t *testing.T, address string) url.Values {
	t.Helper()
	return walk(t, address, "declined")
}

// walk follows redirects from address with a cookie jar, passing decision to each of the portal's interaction pages. It
// returns the callback URL's query.
func walk(t *testing.T, address, decision string) url.Values {
	t.Helper()
	jar, err := cookiejar.New(nil)
	expect.NoError(t, err)
	browser := http.Client{
		Jar: jar, Timeout: 30 * time.Second,
		CheckRedirect: func(next *http.Request, _ []*http.Request) error {
			if strings.HasPrefix(next.URL.String(), callback) {
				return http.ErrUseLastResponse
			}
			if strings.HasPrefix(next.URL.Path, "/interaction/") {
				next.URL.RawQuery = decision
			}
			return nil
		},
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	expect.NoError(t, err)
	answer, err := browser.Do(request)
	expect.NoError(t, err)
	expect.NoError(t, answer.Body.Close())
	back, err := answer.Location()
	if err != nil {
		t.Fatalf("the browser ended at %s with status %d", answer.Request.URL.Path, answer.StatusCode)
	}
	return back.Query()
}

// client is a registered client as the service stores it.
type client struct {
	id     string
	authID string // ID of the client authentication; empty for a public client
}

// attempt is the state that the service stores while the patient is at the portal.
type attempt struct {
	authority flow.Authority
	client    client
	state     string
	nonce     string
	verifier  secret.Text
	challenge string
}

// begin reads the authorization server's discovery document and creates an attempt.
func (j judge) begin(t *testing.T, p ourSide, c client) attempt {
	t.Helper()
	authority, err := p.Discover(t.Context(), j.FHIRBase)
	expect.NoError(t, err)
	verifier, challenge, err := p.NewVerifier()
	expect.NoError(t, err)
	return attempt{
		authority: authority, client: c, state: ids.Random(), nonce: ids.Random(), verifier: verifier, challenge: challenge,
	}
}

func (a attempt) address(t *testing.T, p ourSide, fhirBase string) string {
	t.Helper()
	address, err := p.AuthorizeURL(flow.Authorization{
		Endpoint: a.authority.AuthorizationEndpoint, ClientID: a.client.id, RedirectURI: callback, Scope: scope,
		State: a.state,
		Aud:   fhirBase, Challenge: a.challenge, Nonce: a.nonce,
	})
	expect.NoError(t, err)
	return address
}

// grant returns a flow.Grant for a callback's code, with the values pinned when the attempt was created.
func (a attempt) grant(fhirBase, code string) flow.Grant {
	return flow.Grant{
		Attempt: flow.Attempt{
			Tenant: tenant,
			Server: flow.Server{
				Upstream:      flow.Upstream{Revocation: a.authority.Revocation, Introspection: a.authority.Introspection},
				TokenEndpoint: a.authority.TokenEndpoint, Issuer: a.authority.Issuer,
				KeySet: a.authority.KeySet, Userinfo: a.authority.Userinfo, FHIRBase: fhirBase,
			},
			Client:     flow.Client{ClientAuthID: a.client.authID, ClientID: a.client.id, Callback: callback},
			Parameters: flow.Parameters{Scope: scope},
			Secrets:    flow.Secrets{NonceHash: flow.HashNonce(a.nonce)},
		},
		Code: secret.New(code), Verifier: a.verifier,
	}
}

// signIn signs in a patient at the portal and returns a flow.Grant for the resulting code.
func (j judge) signIn(t *testing.T, p ourSide, c client) flow.Grant {
	t.Helper()
	a := j.begin(t, p, c)
	told := browse(t, a.address(t, p, j.FHIRBase))
	if told.Get("state") != a.state || told.Get("iss") != a.authority.Issuer || told.Get("code") == "" {
		t.Fatalf("the patient came back with error %q, iss %q and %d other members", told.Get("error"),
			told.Get("iss"), len(told))
	}
	return a.grant(j.FHIRBase, told.Get("code"))
}

func words(list string) []string { return slices.Sorted(strings.FieldsSeq(list)) }
