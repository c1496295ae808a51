package oidc_test

import (
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/smart/clientauth"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/tefca/identity/oidc"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// verification holds the state of a patient's identity verification at the authorization server.
type verification struct {
	oidc.RelyingParty

	left   string
	pinned identity.Authority
	back   identity.Return
}

// verify starts an identity verification with client c.
func (j judge) verify(t *testing.T, clients oidc.Clients, c client) *verification {
	t.Helper()
	v := &verification{RelyingParty: oidc.NewRelyingParty(doer(), clients, time.Now)}
	provider := identity.Provider{
		ID: "judge", Name: "Judge", Mode: org.Test, Issuer: j.Issuer, ClientID: c.id, ClientAuthID: c.authID,
		Audiences: []string{c.id},
		Scope:     "openid profile address",
	}
	expect.NoError(t, provider.Check())
	verifier, challenge, err := portal().NewVerifier()
	expect.NoError(t, err)
	nonce := ids.Random()
	v.back = identity.Return{Provider: provider.ID, Verifier: verifier, NonceHash: binding.Hash(nonce)}
	v.left, v.pinned, err = v.Begin(t.Context(), provider, identity.Request{
		RedirectURI: callback, State: ids.Random(), Nonce: nonce, Challenge: challenge,
	})
	expect.NoError(t, err)
	if !strings.Contains(v.left, "request_uri=") || strings.Contains(v.left, nonce) {
		t.Errorf("the request was not pushed: %s", v.left)
	}
	return v
}

// end signs the patient in at the authorization server and completes the verification.
func (v *verification) end(t *testing.T) (tefca.Assertion, error) {
	t.Helper()
	told := browse(t, v.left)
	v.back.Code, v.back.Issuer, v.back.Error = secret.New(told.Get("code")), told.Get("iss"), told.Get("error")
	return v.Exchange(t.Context(), v.pinned, v.back)
}

func TestIdentityVerificationAcceptsReferenceServerToken(t *testing.T) {
	t.Parallel()
	keys := keyring(t)
	elliptic := registered("public ES256", "none")
	elliptic["id_token_signed_response_alg"] = "ES256"
	all := []confidential{
		{client: client{id: "public"}, known: registered("public", "none")},
		{client: client{id: "public ES256"}, known: elliptic},
		secretive(catalog.AuthSecretBasic), keyed(t, keys, "RS384"), keyed(t, keys, "ES384"),
	}
	known := make([]registration, 0, len(all))
	for _, c := range all {
		known = append(known, c.known)
	}
	j := start(t, known...)
	for _, c := range all {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			c.auth.Origins = []string{catalog.Origin(j.Issuer)}
			registry := clientauth.NewRegistry(clientauth.Deps{
				Store: drawer{c.authID: c.auth}, Opener: glass{}, Keys: keys, Now: time.Now, NewID: ids.Random,
			})
			v := j.verify(t, registry, c.client)
			who, err := v.end(t)
			expect.NoError(t, err)
			if who.Person.Given != "Maple" || who.Person.Addresses[0].State != "WI" || who.Level != 2 || who.Subject == "" ||
				!v.pinned.IssRequired {
				t.Errorf("%+v of %+v", who, v.pinned)
			}
			if _, err = v.Exchange(t.Context(), v.pinned, v.back); identity.CauseOf(err) != "code_refused" {
				t.Errorf("a second exchange: %v", err)
			}
		})
	}
}

// TestIdentityVerificationRejectsMismatchedToken checks that a validly signed token is rejected if its nonce, code
// verifier, issuer or assurance level does not match.
func TestIdentityVerificationRejectsMismatchedToken(t *testing.T) {
	t.Parallel()
	j := start(t, registered("public", "none"))
	for cause, spoil := range map[string]func(v *verification){
		"token_invalid":   func(v *verification) { v.back.NonceHash = binding.Hash("another sign-in's") },
		"code_refused":    func(v *verification) { v.back.Verifier = secret.New(strings.Repeat("v", 43)) },
		"issuer_mismatch": func(v *verification) { v.pinned.Provider.Issuer = "https://another.example" },
		"level_too_low":   func(v *verification) { v.pinned.Provider.Assurance.Claim = "a claim that is not there" },
	} {
		v := j.verify(t, noClients{}, client{id: "public"})
		spoil(v)
		if _, err := v.end(t); identity.CauseOf(err) != cause {
			t.Errorf("got %v, want %s", err, cause)
		}
	}
	v := j.verify(t, noClients{}, client{id: "public"})
	told := decline(t, v.left)
	v.back.Error, v.back.Issuer = told.Get("error"), told.Get("iss")
	if _, err := v.Exchange(t.Context(), v.pinned, v.back); identity.CauseOf(err) != "declined" {
		t.Error(err)
	}
}
