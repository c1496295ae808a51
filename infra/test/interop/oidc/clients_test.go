package oidc_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/adapters/smart/clientauth"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/secret/jws"
)

// awkward is a client secret with characters that some encoding between the client and the authorization server must
// escape. The secret contains no é, because RFC 6749 appendix A.2 allows only visible ASCII and spaces, and the server
// rejects all other characters.
const awkward = `a:b%3A+c d&e=f"g\h/i?j#k;l,m%`

type confidential struct {
	client

	auth  catalog.ClientAuth
	known registration
}

// secretive returns a client whose secret contains characters that must be form-encoded.
func secretive(method catalog.AuthMethod) confidential {
	c := confidential{client: client{id: "client: 100%+" + string(method), authID: ids.Random()}}
	c.auth = catalog.ClientAuth{ID: c.authID, Method: method, Secret: []byte(awkward)}
	c.known = registered(c.id, string(method))
	c.known["client_secret"] = awkward
	return c
}

// mistaken returns a copy of the client with a secret that is not registered.
func (c confidential) mistaken() confidential {
	c.auth.Secret = []byte(awkward + "x")
	return c
}

// keyed returns a client that signs its assertions with the given algorithm. The client's public keys are registered
// with the authorization server.
func keyed(t *testing.T, keys *jws.Keyring, algorithm string) confidential {
	t.Helper()
	c := confidential{client: client{id: "client of " + algorithm, authID: ids.Random()}}
	c.auth = catalog.ClientAuth{ID: c.authID, Method: catalog.AuthPrivateKey, Algorithm: algorithm}
	published, err := keys.JWKS(t.Context(), "")
	expect.NoError(t, err)
	c.known = registered(c.id, string(catalog.AuthPrivateKey))
	c.known["jwks"], c.known["token_endpoint_auth_signing_alg"] = published, algorithm
	return c
}

// keyring returns a keyring with an RSA key and an elliptic-curve key, both in a new embedded KMS.
func keyring(t *testing.T) *jws.Keyring {
	t.Helper()
	cloud, err := aws.New(aws.Options{})
	expect.NoError(t, err)
	vault := awskms.NewFromConfig(cloud.Config("WorkerFunction"))
	specs := []types.KeySpec{types.KeySpecRsa2048, types.KeySpecEccNistP384}
	names := make([]string, 0, len(specs))
	for _, spec := range specs {
		created, err := vault.CreateKey(t.Context(),
			&awskms.CreateKeyInput{KeySpec: spec, KeyUsage: types.KeyUsageTypeSignVerify})
		expect.NoError(t, err)
		names = append(names, *created.KeyMetadata.Arn)
	}
	return jws.NewKeyring(kms.ClientKeys(vault), names)
}

// drawer stores client authentication settings by ID.
type drawer map[string]catalog.ClientAuth

func (d drawer) ClientAuthOf(_ context.Context, _ org.Tenant, id string) (catalog.ClientAuth, error) {
	auth, ok := d[id]
	if !ok {
		return catalog.ClientAuth{}, fault.Missing("no such client")
	}
	return auth, nil
}

// portalOf returns the service's side of the connection to the judge. It authenticates as client c.
func portalOf(j judge, c confidential, keys *jws.Keyring) ourSide {
	c.auth.Origins = []string{catalog.Origin(j.Issuer)}
	return portalWith(clientauth.NewRegistry(clientauth.Deps{
		Store: drawer{c.authID: c.auth}, Opener: glass{}, Keys: keys, Now: time.Now, NewID: ids.Random,
	}))
}

func TestConfidentialClientCompletesTokenLifecycle(t *testing.T) {
	t.Parallel()
	keys := keyring(t)
	all := []confidential{
		secretive(catalog.AuthSecretBasic), secretive(catalog.AuthSecretPost),
		keyed(t, keys, "RS384"), keyed(t, keys, "ES384"),
	}
	j := start(t, all[0].known, all[1].known, all[2].known, all[3].known)
	for _, c := range all {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			p := portalOf(j, c, keys)
			set, err := p.Exchange(t.Context(), j.signIn(t, p, c.client))
			expect.NoError(t, err)
			if set.PatientID.Reveal() != j.Patient {
				t.Errorf("patient %q, want %q", set.PatientID.Reveal(), j.Patient)
			}
			set, err = p.Refresh(t.Context(), tenant, set)
			expect.NoError(t, err)
			if left := time.Until(set.RefreshExpiresAt); left < 59*time.Minute || left > time.Hour ||
				!set.ConsentExpiresAt.Equal(set.RefreshExpiresAt) {
				t.Errorf("the refresh token ends at %v and the consent at %v, want the judge's hour", set.RefreshExpiresAt,
					set.ConsentExpiresAt)
			}
			if !j.active(t, p, set, set.RefreshToken) || !j.active(t, p, set, set.AccessToken) {
				t.Error("the tokens are not active")
			}
			expect.NoError(t, p.Revoke(t.Context(), tenant, set))
			if j.active(t, p, set, set.RefreshToken) || j.active(t, p, set, set.AccessToken) {
				t.Error("the tokens are active after the revocation")
			}
			if _, err := p.Refresh(t.Context(), tenant, set); !errors.Is(err, tokens.ErrRefused) {
				t.Errorf("refreshed after the revocation: %v, want %v", err, tokens.ErrRefused)
			}
			if err := p.Revoke(t.Context(), tenant, set); err != nil {
				t.Errorf("revoked again: %v", err)
			}
		})
	}
}

func TestPublicClientCanRevokeTokens(t *testing.T) {
	t.Parallel()
	j, p := start(t, registered("public", "none")), portal()
	set, err := p.Exchange(t.Context(), j.signIn(t, p, client{id: "public"}))
	expect.NoError(t, err)
	expect.NoError(t, p.Revoke(t.Context(), tenant, set))
	if _, err := p.Refresh(t.Context(), tenant, set); !errors.Is(err, tokens.ErrRefused) {
		t.Errorf("refreshed after the revocation: %v, want %v", err, tokens.ErrRefused)
	}
	if got := j.readPatient(t, set.AccessToken); got != http.StatusUnauthorized {
		t.Errorf("the FHIR server answered %d to the access token", got)
	}
}

// TestInvalidClientErrorDoesNotRevokeConnection checks that an error in the client's registration does not end a
// connection.
func TestInvalidClientErrorDoesNotRevokeConnection(t *testing.T) {
	t.Parallel()
	keys, others := keyring(t), keyring(t)
	basic, post := secretive(catalog.AuthSecretBasic), secretive(catalog.AuthSecretPost)
	rsa, elliptic := keyed(t, keys, "RS384"), keyed(t, keys, "ES384")
	j := start(t, basic.known, post.known, rsa.known, elliptic.known)
	for name, test := range map[string]struct {
		able   confidential
		unable ourSide
	}{
		"another secret, basic":               {basic, portalOf(j, basic.mistaken(), keys)},
		"another secret, post":                {post, portalOf(j, post.mistaken(), keys)},
		"an RSA key that is not on file":      {rsa, portalOf(j, rsa, others)},
		"an elliptic key that is not on file": {elliptic, portalOf(j, elliptic, others)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			able, p := portalOf(j, test.able, keys), test.unable
			grant := j.signIn(t, p, test.able.client)
			_, err := p.Exchange(t.Context(), grant)
			wantPortalError(t, err, "invalid_client")
			set, err := able.Exchange(t.Context(), grant)
			expect.NoError(t, err) // the failed exchange did not use up the code
			_, err = p.Refresh(t.Context(), tenant, set)
			refusal, ok := errors.AsType[*smart.OAuthError](err)
			if !ok || refusal.Code != "invalid_client" || !refusal.Unspent() || errors.Is(err, tokens.ErrRefused) {
				t.Errorf("got %v, want invalid_client", err)
			}
			if err = p.Revoke(t.Context(), tenant, set); !errors.Is(err, fault.Unavailable) {
				t.Errorf("revoked: %v, want %v", err, fault.Unavailable)
			}
			if _, err = able.Refresh(t.Context(), tenant, set); err != nil {
				t.Errorf("refreshed with the right proof: %v", err)
			}
		})
	}
}

// TestClientAssertionIsSingleUse checks that the judge rejects a repeated jti. Because the judge rejects repeated
// values, the other tests pass only if every assertion has a unique jti.
func TestClientAssertionIsSingleUse(t *testing.T) {
	t.Parallel()
	keys := keyring(t)
	c := keyed(t, keys, "ES384")
	j := start(t, c.known)
	p := portalOf(j, c, keys)
	set, err := p.Exchange(t.Context(), j.signIn(t, p, c.client))
	expect.NoError(t, err)
	form := proof(t, p, set)
	form.Set("token", set.AccessToken.Reveal())
	for _, want := range []int{http.StatusOK, http.StatusUnauthorized} {
		status, body := post(t, set.IntrospectionEndpoint, form, http.Header{})
		if status != want || want == http.StatusUnauthorized && !strings.Contains(body, "invalid_client") {
			t.Errorf("the judge answered %d %s, want %d", status, body, want)
		}
	}
}

func useOf(set tokens.Set) catalog.ClientUse {
	return catalog.ClientUse{
		AuthID: set.ClientAuthID, ClientID: set.ClientID, TokenEndpoint: set.TokenEndpoint,
		Address: set.TokenEndpoint,
	}
}

// proof returns form parameters with a new client assertion for the token set's client.
func proof(t *testing.T, p ourSide, set tokens.Set) url.Values {
	t.Helper()
	form := url.Values{}
	expect.NoError(t, p.clients.Authenticate(t.Context(), tenant, useOf(set), form, http.Header{}))
	return form
}

// active reports whether the authorization server's introspection endpoint (RFC 7662) considers a token active.
func (j judge) active(t *testing.T, p ourSide, set tokens.Set, token secret.Text) bool {
	t.Helper()
	form, header := url.Values{"token": {token.Reveal()}}, http.Header{}
	expect.NoError(t, p.clients.Authenticate(t.Context(), tenant, useOf(set), form, header))
	status, body := post(t, j.Issuer+"/token/introspection", form, header)
	var told struct {
		Active bool `json:"active"`
	}
	if err := json.Unmarshal([]byte(body), &told); err != nil || status != http.StatusOK {
		t.Fatalf("the judge answered %d to the introspection, %v", status, err)
	}
	return told.Active
}

func post(t *testing.T, address string, form url.Values, header http.Header) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	expect.NoError(t, err)
	request.Header = header
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := doer().Do(request)
	expect.NoError(t, err)
	read, err := io.ReadAll(answer.Body)
	expect.NoError(t, err)
	expect.NoError(t, answer.Body.Close())
	return answer.StatusCode, string(read)
}
