package flow_test

import (
	"testing"

	"recordbridge/shared/words/fault"
)

// TestCallbackAcceptsUnadvertisedIssuerOnlyIfItCoversPinnedURLs covers iss from a portal that does not advertise its
// issuer. If a hostile portal redirects another portal's code to this callback URL, iss identifies the other portal. An
// honest portal's iss is a prefix of both its authorization URL and its token URL.
func TestCallbackAcceptsUnadvertisedIssuerOnlyIfItCoversPinnedURLs(t *testing.T) {
	t.Parallel()
	const honest = "https://sso.example/realms/alder"
	for name, c := range map[string]struct {
		authorize, token, iss string
		good                  bool
	}{
		"its own":                            {honest + "/auth", honest + "/token", honest, true},
		"with a slash":                       {honest + "/auth", honest + "/token", honest + "/", true},
		"its host":                           {honest + "/auth?x=1", honest + "/token", "https://sso.example", true},
		"sent on from a hostile sign-in":     {"https://evil.example/auth", "https://evil.example/token", honest, false},
		"its sign-in named by a hostile one": {honest + "/auth", "https://evil.example/token", honest, false},
		"its tokens named by a hostile one":  {"https://evil.example/auth", honest + "/token", honest, false},
		"a neighbour at its host": {
			"https://sso.example/realms/evil/auth",
			"https://sso.example/realms/evil/token", honest, false,
		},
		"a neighbour that begins alike": {honest + "2/auth", honest + "2/token", honest, false},
		"a neighbour by dots":           {honest + "/%2e./evil/auth", honest + "/%2e%2E/evil/token", honest, false},
		"a longer host": {
			"https://sso.example.evil.example/auth",
			"https://sso.example.evil.example/token", "https://sso.example", false,
		},
		"a user before the host": {
			"https://sso.example@evil.example/auth",
			"https://sso.example@evil.example/token", "https://sso.example", false,
		},
		"no host":          {honest + "/auth", honest + "/token", "https:/", false},
		"nothing like one": {honest + "/auth", honest + "/token", "%", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.base = honest + "/fhir"
			w.authority.Issuer, w.authority.AuthorizationEndpoint, w.authority.TokenEndpoint = "", c.authorize, c.token
			w.profile.Known = []string{
				"https://evil.example", "https://sso.example", "https://sso.example.evil.example",
				"https://sso.example@evil.example",
			}
			r := w.start(t, request(t)).back()
			r.Issuer = c.iss
			_, err := w.completer(t).Complete(t.Context(), r)
			if c.good {
				if err != nil || len(w.grants) != 1 {
					t.Errorf("got %v, %d exchanges", err, len(w.grants))
				}
				return
			}
			if wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest); len(w.grants) != 0 {
				t.Error("the code went to the token endpoint")
			}
		})
	}
}
