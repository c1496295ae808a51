package smart_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/secret"
	"recordbridge/shared/smart"
)

func TestAuthorizeURLCarriesTheRequestAndTheEndpointsOwnQuery(t *testing.T) {
	t.Parallel()
	address, err := smart.AuthorizeURL(
		smart.Server{AuthorizationEndpoint: "https://login.example/authorize?tenant=7&state=theirs&nonce=theirs"},
		smart.AuthRequest{
			ClientID: "client", RedirectURI: "https://us.example/callback?x=1&y=2", State: "ours",
			Scope: "openid patient/*.rs", Aud: "https://ehr.example/r4", Challenge: "challenge",
			Nonce: "nonce",
		})
	if err != nil {
		t.Fatal(err)
	}
	got, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	want := query(
		"tenant", "7", "response_type", "code", "client_id", "client", "redirect_uri", "https://us.example/callback?x=1&y=2",
		"state", "ours", "nonce", "nonce", "scope", "openid patient/*.rs", "aud", "https://ehr.example/r4",
		"code_challenge", "challenge", "code_challenge_method", "S256",
	)
	if diff := cmp.Diff(want, got.Query()); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	if got.Host != "login.example" || got.Path != "/authorize" {
		t.Errorf("got %s", address)
	}
}

func TestAuthorizeURLLeavesAnEmptyAudOut(t *testing.T) {
	t.Parallel()
	address, err := smart.AuthorizeURL(smart.Server{AuthorizationEndpoint: "https://login.example/"}, smart.AuthRequest{})
	if err != nil || strings.Contains(address, "aud=") {
		t.Errorf("got %s, %v", address, err)
	}
}

func TestAuthorizeURLSendsNoChallengeWhereThereIsNone(t *testing.T) {
	t.Parallel()
	address, err := smart.AuthorizeURL(
		smart.Server{AuthorizationEndpoint: "https://login.example/?code_challenge=theirs&code_challenge_method=plain"}, smart.AuthRequest{})
	if err != nil || strings.Contains(address, "code_challenge") {
		t.Errorf("got %s, %v", address, err)
	}
}

func TestAuthorizeURLRefusesABrokenEndpoint(t *testing.T) {
	t.Parallel()
	if address, err := smart.AuthorizeURL(smart.Server{AuthorizationEndpoint: "https://\x7f"}, smart.AuthRequest{}); err == nil {
		t.Errorf("got %s, want an error", address)
	}
}

func TestChallengeIsTheOneOfRFC7636(t *testing.T) {
	t.Parallel()
	got := smart.Challenge(secret.New("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
	if want := "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNewVerifierSpellsOutItsRandomBits(t *testing.T) {
	t.Parallel()
	got, err := smart.NewVerifier(bytes.NewReader(bytes.Repeat([]byte{0xfb}, 32)))
	if want := "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s"; err != nil || got.Reveal() != want {
		t.Errorf("got %s, %v; want %s", got.Reveal(), err, want)
	}
	if _, err := smart.NewVerifier(bytes.NewReader(make([]byte, 31))); err == nil {
		t.Error("31 random bytes were enough")
	}
	if _, err := smart.NewVerifier(iotest.ErrReader(iotest.ErrTimeout)); err == nil {
		t.Error("a broken source of randomness was enough")
	}
}
