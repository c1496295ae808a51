package oidc_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

var tenant = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}

func TestDiscoverReadsReferenceServerMetadata(t *testing.T) {
	t.Parallel()
	j := start(t, registered("public", "none"))
	got, err := portal().Discover(t.Context(), j.FHIRBase)
	expect.NoError(t, err)
	want := flow.Authority{
		Issuer: j.Issuer, IssRequired: true,
		AuthorizationEndpoint: j.Issuer + "/auth?prompt=consent", TokenEndpoint: j.Issuer + "/token",
		KeySet: j.Issuer + "/jwks", Userinfo: j.Issuer + "/me",
		Revocation: j.Issuer + "/token/revocation", Introspection: j.Issuer + "/token/introspection",
		Scope: "patient/*.rs", Access: "rs", S256: true,
		Methods:    []string{"private_key_jwt", "client_secret_basic", "client_secret_post", "none"},
		Algorithms: []string{"RS384", "ES384"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("discovered (-want +got):\n%s", diff)
	}
}

func TestPublicClientCanExchangeCodeWithPKCE(t *testing.T) {
	t.Parallel()
	// Only the id_token contains the patient's ID, so the token's signature, issuer, audience, lifetime and nonce must
	// be valid.
	algorithms := []string{"RS256", "RS384", "ES256", "ES384"}
	known := make([]registration, 0, len(algorithms))
	for _, algorithm := range algorithms {
		signed := registered("public "+algorithm, "none")
		signed["id_token_signed_response_alg"] = algorithm
		known = append(known, signed)
	}
	j, p := start(t, known...), portal()
	for _, algorithm := range algorithms {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			set, err := p.Exchange(t.Context(), j.signIn(t, p, client{id: "public " + algorithm}))
			expect.NoError(t, err)
			if set.PatientID.Reveal() != j.Patient || set.RefreshToken.Empty() {
				t.Errorf("patient %q, refresh token %v", set.PatientID.Reveal(), !set.RefreshToken.Empty())
			}
			if diff := cmp.Diff(words(scope), words(set.Scope)); diff != "" {
				t.Errorf("scope (-want +got):\n%s", diff)
			}
			if left := time.Until(set.ExpiresAt); left < 4*time.Minute || left > 5*time.Minute {
				t.Errorf("the access token lives %v, want the judge's 5 minutes", left)
			}
			if got := j.readPatient(t, set.AccessToken); got != http.StatusOK {
				t.Errorf("the FHIR server answered %d to the access token", got)
			}
		})
	}
}

func TestUserinfoSuppliesPatientWhenIDTokenOmitsIt(t *testing.T) {
	t.Parallel()
	told := settings{Clients: []registration{registered("public", "none")}, AccessTokenLife: 300}
	j, p := startWith(t, told), portal()
	for name, want := range map[string]string{"with userinfo": j.Patient, "without": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			grant := j.signIn(t, p, client{id: "public"})
			if want == "" {
				grant.Attempt.Userinfo = ""
			}
			set, err := p.Exchange(t.Context(), grant)
			if err != nil || set.PatientID.Reveal() != want {
				t.Errorf("patient %q, %v", set.PatientID.Reveal(), err)
			}
		})
	}
}

func TestExchangeRejectsIDTokenFromAnotherSignIn(t *testing.T) {
	t.Parallel()
	j, p := start(t, registered("public", "none")), portal()
	grant := j.signIn(t, p, client{id: "public"})
	grant.Attempt.NonceHash = flow.HashNonce("another sign-in's")
	if set, err := p.Exchange(t.Context(), grant); err == nil {
		t.Errorf("patient %q, want an error", set.PatientID.Reveal())
	}
}

func TestReferenceServerRejectsMismatchedCodeExchange(t *testing.T) {
	t.Parallel()
	j, p := start(t, registered("public", "none"), registered("other", "none")), portal()
	strange, _, err := p.NewVerifier()
	expect.NoError(t, err)
	for name, spoil := range map[string]func(*flow.Grant){
		"a verifier of another attempt": func(g *flow.Grant) { g.Verifier = strange },
		"another redirect URI":          func(g *flow.Grant) { g.Attempt.Callback = callback + "/" },
		"another client's id":           func(g *flow.Grant) { g.Attempt.ClientID = "other" },
		"an invented code":              func(g *flow.Grant) { g.Code = secret.New("invented") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			grant := j.signIn(t, p, client{id: "public"})
			spoil(&grant)
			_, err := p.Exchange(t.Context(), grant)
			wantPortalError(t, err, "invalid_grant")
		})
	}
}

func TestCodeReuseRevokesTokens(t *testing.T) {
	t.Parallel()
	j, p := start(t, registered("public", "none")), portal()
	grant := j.signIn(t, p, client{id: "public"})
	set, err := p.Exchange(t.Context(), grant)
	expect.NoError(t, err)
	_, err = p.Exchange(t.Context(), grant)
	wantPortalError(t, err, "invalid_grant")
	if _, err := p.Refresh(t.Context(), tenant, set); !errors.Is(err, tokens.ErrRefused) {
		t.Errorf("refreshed after the code came again: %v, want %v", err, tokens.ErrRefused)
	}
	if got := j.readPatient(t, set.AccessToken); got != http.StatusUnauthorized {
		t.Errorf("the FHIR server answered %d to the access token", got)
	}
}

// wantPortalError checks that an error contains the health system's error code.
func wantPortalError(t *testing.T, err error, code string) {
	t.Helper()
	if refusal, ok := errors.AsType[*flow.PortalError](err); !ok || refusal.Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

func TestReferenceServerRequiresPKCE(t *testing.T) {
	t.Parallel()
	j, p := start(t, registered("public", "none")), portal()
	a := j.begin(t, p, client{id: "public"})
	a.challenge = ""
	told := browse(t, a.address(t, p, j.FHIRBase))
	if told.Get("error") != "invalid_request" || told.Get("iss") != j.Issuer || told.Get("state") != a.state {
		t.Errorf("the patient came back with %v", told)
	}
}

// readPatient requests the Patient resource from the FHIR server and returns the response's status.
func (j judge) readPatient(t *testing.T, token secret.Text) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, j.FHIRBase+"/Patient/"+j.Patient, http.NoBody)
	expect.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+token.Reveal())
	answer, err := doer().Do(request)
	expect.NoError(t, err)
	expect.NoError(t, answer.Body.Close())
	return answer.StatusCode
}
