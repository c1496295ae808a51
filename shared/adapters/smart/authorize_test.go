package smart_test

import (
	"bytes"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/connect/flow"
)

func TestAuthorizeURLAppendsParametersToEndpointQuery(t *testing.T) {
	t.Parallel()
	address, err := smart.Authorizer{}.AuthorizeURL(
		flow.Authorization{
			Endpoint: "https://login.example/authorize?tenant=7&state=theirs&nonce=theirs",
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

func TestAuthorizeURLOmitsEmptyAud(t *testing.T) {
	t.Parallel()
	address, err := smart.Authorizer{}.AuthorizeURL(flow.Authorization{Endpoint: "https://login.example/"})
	if err != nil || strings.Contains(address, "aud=") {
		t.Errorf("got %s, %v", address, err)
	}
}

func TestAuthorizeURLOmitsMissingChallenge(t *testing.T) {
	t.Parallel()
	address, err := smart.Authorizer{}.AuthorizeURL(
		flow.Authorization{Endpoint: "https://login.example/?code_challenge=theirs&code_challenge_method=plain"})
	if err != nil || strings.Contains(address, "code_challenge") {
		t.Errorf("got %s, %v", address, err)
	}
}

func TestAuthorizeURLRejectsMalformedEndpoint(t *testing.T) {
	t.Parallel()
	if address, err := (smart.Authorizer{}).AuthorizeURL(flow.Authorization{Endpoint: "https://\x7f"}); err == nil {
		t.Errorf("got %s, want an error", address)
	}
}

// TestNewVerifierMatchesRFC7636Example uses the random octets, verifier and challenge of RFC 7636 appendix B.
func TestNewVerifierMatchesRFC7636Example(t *testing.T) {
	t.Parallel()
	octets := []byte{
		116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186,
		22, 212, 37, 77, 105, 214, 191, 240, 91, 88, 5, 88, 83, 132, 141, 121,
	}
	verifier, challenge, err := smart.NewAuthorizer(nil, bytes.NewReader(octets), nil).NewVerifier()
	if err != nil || verifier.Reveal() != "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" {
		t.Errorf("got %s, %v", verifier.Reveal(), err)
	}
	if want := "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"; challenge != want {
		t.Errorf("got %s, want %s", challenge, want)
	}
	for name, random := range map[string]io.Reader{
		"31 random bytes": bytes.NewReader(make([]byte, 31)), "a broken source": iotest.ErrReader(iotest.ErrTimeout),
	} {
		if _, _, err := smart.NewAuthorizer(nil, random, nil).NewVerifier(); err == nil {
			t.Errorf("%s: was enough", name)
		}
	}
}
