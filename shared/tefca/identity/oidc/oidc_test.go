package oidc_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/tefca/identity/oidc"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	issuer  = "https://id.example/tenant"
	nonce   = "nonce-1"
	pushed  = "urn:ietf:params:oauth:request_uri:1"
	address = "/tenant/.well-known/openid-configuration"
)

func configured() identity.Provider {
	return identity.Provider{
		ID: "example", Name: "Example", Mode: org.Live, Issuer: issuer, ClientID: "client-1", Audiences: []string{"client-1"},
		Scope: "openid profile", ACRValues: "ial2", MaxAge: 60,
	}
}

func request() identity.Request {
	return identity.Request{
		RedirectURI: "https://us.example/back", State: "state-1", Nonce: nonce,
		Challenge: "challenge-1",
	}
}

func back() identity.Return {
	return identity.Return{
		Provider: "example", Code: secret.New("code-1"), Verifier: secret.New("verifier-1"),
		NonceHash: binding.Hash(nonce),
	}
}

// begun calls Begin and returns the parameters of the authorization request and the pinned Authority.
func begun(t *testing.T, party oidc.RelyingParty) (url.Values, identity.Authority) {
	t.Helper()
	left, pinned, err := party.Begin(t.Context(), configured(), request())
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := url.Parse(left)
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Host != "id.example" || parsed.Path != "/authorize" {
		t.Errorf("left for %s", left)
	}
	return parsed.Query(), pinned
}

func TestBeginSendsRequestInURLWhenPARIsUnsupported(t *testing.T) {
	t.Parallel()
	p := newProvider()
	query, pinned := begun(t, p.party())
	want := url.Values{
		"response_type": {"code"}, "client_id": {"client-1"}, "redirect_uri": {"https://us.example/back"},
		"scope": {"openid profile"},
		"state": {"state-1"}, "nonce": {nonce}, "code_challenge": {"challenge-1"}, "code_challenge_method": {"S256"},
		"acr_values": {"ial2"},
		"max_age":    {"60"}, "theme": {"calm"},
	}
	if diff := cmp.Diff(want, query); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	kept := identity.Authority{
		Provider: configured(), RedirectURI: "https://us.example/back", TokenEndpoint: "https://token.example/token",
		KeySet:  "https://id.example/jwks",
		AskedAt: p.at,
	}
	if diff := cmp.Diff(kept, pinned); diff != "" {
		t.Errorf("pinned (-want +got):\n%s", diff)
	}
}

func TestBeginUsesPARWhenSupported(t *testing.T) {
	t.Parallel()
	p := newProvider()
	p.discovery["pushed_authorization_request_endpoint"] = "https://id.example/par"
	query, _ := begun(t, p.party())
	if diff := cmp.Diff(url.Values{
		"client_id": {"client-1"}, "request_uri": {pushed}, "theme": {"calm"},
		"scope": {"theirs"},
	}, query); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	want := url.Values{
		"response_type": {"code"}, "client_id": {"client-1"}, "redirect_uri": {"https://us.example/back"},
		"scope": {"openid profile"},
		"state": {"state-1"}, "nonce": {nonce}, "code_challenge": {"challenge-1"}, "code_challenge_method": {"S256"},
		"acr_values": {"ial2"},
		"max_age":    {"60"},
	}
	if diff := cmp.Diff(want, p.forms["/par"]); diff != "" {
		t.Errorf("pushed (-want +got):\n%s", diff)
	}
}

func TestExchangeReturnsVerifiedIdentity(t *testing.T) {
	t.Parallel()
	p := newProvider()
	party := p.party()
	_, pinned := begun(t, party)
	who, err := party.Exchange(t.Context(), pinned, back())
	if err != nil || who.Subject != "s" || who.Person.Given != "Maple" || who.Provider != "example" {
		t.Fatalf("%+v, %v", who, err)
	}
	want := url.Values{
		"grant_type": {"authorization_code"}, "code": {"code-1"}, "redirect_uri": {"https://us.example/back"},
		"code_verifier": {"verifier-1"},
		"client_id":     {"client-1"},
	}
	if diff := cmp.Diff(want, p.forms["/token"]); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestExchangeAuthenticatesClient(t *testing.T) {
	t.Parallel()
	p := newProvider()
	p.discovery["pushed_authorization_request_endpoint"] = "https://id.example/par"
	party, provider := p.party(), configured()
	provider.ClientAuthID = "auth-1"
	_, pinned, err := party.Begin(t.Context(), provider, request())
	if err != nil {
		t.Fatal(err)
	}
	if _, err = party.Exchange(t.Context(), pinned, back()); err != nil {
		t.Fatal(err)
	}
	for path, at := range map[string]string{"/par": "https://id.example/par", "/token": "https://token.example/token"} {
		want := "auth-1 of client-1 for https://token.example/token at " + at + ", { }"
		if got := p.forms[path].Get("client_assertion"); got != want ||
			p.headers[path].Get("Authorization") != "Basic proof" {
			t.Errorf("%s: %q, want %q; %v", path, got, want, p.headers[path])
		}
		// Only pushed requests contain client_id, even with client authentication.
		if named := p.forms[path].Get("client_id") != ""; named != (path == "/par") {
			t.Errorf("%s: the client is named: %t", path, named)
		}
	}
	p.proof = errors.New("no secret")
	p.asked = nil
	_, err = party.Exchange(t.Context(), pinned, back())
	if identity.CauseOf(err) != "client_unproven" || len(p.asked) > 0 {
		t.Errorf("%v, asked %v", err, p.asked)
	}
}

func TestExchangeRejectsReturnFromWrongProvider(t *testing.T) {
	t.Parallel()
	p := newProvider()
	p.discovery["authorization_response_iss_parameter_supported"] = true
	party := p.party()
	_, pinned := begun(t, party)
	asked := len(p.asked)
	for _, iss := range []string{"", "https://evil.example"} {
		r := back()
		r.Issuer = iss
		if _, err := party.Exchange(t.Context(), pinned, r); identity.CauseOf(err) != "issuer_mismatch" ||
			len(p.asked) != asked {
			t.Errorf("iss %q: %v, asked %v", iss, err, p.asked[asked:])
		}
	}
	r := back()
	r.Issuer = issuer
	if _, err := party.Exchange(t.Context(), pinned, r); err != nil {
		t.Error(err)
	}
}

func TestExchangeClassifiesTokenErrors(t *testing.T) {
	t.Parallel()
	p := newProvider()
	party := p.party()
	_, pinned := begun(t, party)
	for name, test := range map[string]struct {
		status int
		body   string
		cause  string
		class  string
	}{
		"no answer":        {-1, "", "provider_unavailable", "provider_unavailable"},
		"a failure":        {500, "<html>", "provider_unavailable", "status"},
		"too many":         {429, "{}", "provider_unavailable", "status"},
		"an error, of 200": {200, `{"error":"invalid_grant"}`, "code_refused", "status"},
		"a used code": {
			400, `{"error":"invalid_grant","error_description":"Maple Aster"}`,
			"code_refused", "status",
		},
		"an unknown client":      {401, `{"error":"invalid_client"}`, "provider_refused", "status"},
		"a page":                 {403, "<html>", "provider_refused", "status"},
		"a redirect":             {302, "", "provider_unavailable", "status"},
		"no JSON":                {200, "<html>", "provider_unavailable", "provider_unavailable"},
		"null":                   {200, "null", "provider_unavailable", "provider_unavailable"},
		"no token":               {200, `{"access_token":"a"}`, "token_invalid", "id_token_missing"},
		"a token that is none":   {200, `{"id_token":7}`, "token_invalid", "id_token_missing"},
		"a token of another key": {200, `{"id_token":"` + p.signed("b", nil) + `"}`, "token_invalid", "id_token_key"},
		"another nonce": {
			200, `{"id_token":"` + p.signed("a", object{"nonce": "nonce-2"}) + `"}`, "token_invalid",
			"id_token_nonce",
		},
		"a session of before": {
			200, `{"id_token":"` +
				p.signed("a", object{"auth_time": p.at.Add(-2*time.Minute - time.Second).Unix()}) + `"}`, "token_invalid",
			"id_token_auth_time",
		},
		"a low level": {
			200, `{"id_token":"` + p.signed("a", object{"identity_assurance_level": 1}) + `"}`,
			"level_too_low", "level_too_low",
		},
		"too much": {200, strings.Repeat(" ", 257<<10), "provider_unavailable", "too_large"},
	} {
		p.status["/token"], p.body["/token"] = test.status, test.body
		_, err := party.Exchange(t.Context(), pinned, back())
		spot := fault.SpotOf(err)
		if identity.CauseOf(err) != test.cause || spot.Class != test.class || spot.Host == "" || spot.Step == "" {
			t.Errorf("%s: %v at %+v", name, err, spot)
		}
		if printed := fmt.Sprintf("%+v", err); strings.Contains(printed, "Maple") || strings.Contains(printed, "code-1") {
			t.Errorf("%s: the error shows what came: %s", name, printed)
		}
	}
}

func TestBeginFailsWhenPARFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string
		cause  string
	}{
		"refused":      {400, `{"error":"invalid_request"}`, "provider_refused"},
		"no answer":    {-1, "", "provider_unavailable"},
		"no reference": {201, `{"expires_in":60}`, "provider_unavailable"},
	} {
		p := newProvider()
		p.discovery["pushed_authorization_request_endpoint"] = "https://id.example/par"
		p.status["/par"], p.body["/par"] = test.status, test.body
		left, _, err := p.party().Begin(t.Context(), configured(), request())
		if identity.CauseOf(err) != test.cause || left != "" || fault.SpotOf(err).Step != fault.StepAuthorize {
			t.Errorf("%s: left for %q, %v", name, left, err)
		}
	}
}
