package oidc_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
)

func TestBeginRejectsUntrustedDiscoveryDocument(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(p *provider){
		"another issuer":          func(p *provider) { p.discovery["issuer"] = "https://id.example" },
		"a longer issuer":         func(p *provider) { p.discovery["issuer"] = issuer + "/" },
		"no issuer":               func(p *provider) { delete(p.discovery, "issuer") },
		"no sign-in":              func(p *provider) { delete(p.discovery, "authorization_endpoint") },
		"a sign-in by a script":   func(p *provider) { p.discovery["authorization_endpoint"] = "javascript:alert(1)" },
		"a token endpoint, plain": func(p *provider) { p.discovery["token_endpoint"] = "http://id.example/token" },
		"a token endpoint's path": func(p *provider) { p.discovery["token_endpoint"] = "/token" },
		"keys in the plain":       func(p *provider) { p.discovery["jwks_uri"] = "http://id.example/jwks" },
		"no keys":                 func(p *provider) { delete(p.discovery, "jwks_uri") },
		"a push in the plain": func(p *provider) {
			p.discovery["pushed_authorization_request_endpoint"] = "http://id.example/par"
		},
		"plain challenges": func(p *provider) { p.discovery["code_challenge_methods_supported"] = []string{"plain"} },
		"no JSON":          func(p *provider) { p.body[address] = "<html>" },
		"a redirect":       func(p *provider) { p.status[address] = http.StatusFound },
		"nothing there":    func(p *provider) { p.status[address] = http.StatusNotFound },
		"no answer":        func(p *provider) { p.status[address] = -1 },
	} {
		p := newProvider()
		spoil(p)
		party := p.party()
		left, _, err := party.Begin(t.Context(), configured(), request())
		if identity.CauseOf(err) != "provider_unavailable" || left != "" || fault.SpotOf(err).Step != fault.StepDiscovery {
			t.Errorf("%s: left for %q, %v", name, left, err)
		}
		p.discovery, p.body, p.status = newProvider().discovery, map[string]string{}, map[string]int{}
		if _, _, err := party.Begin(t.Context(), configured(), request()); err != nil {
			t.Errorf("%s: the failure was remembered: %v", name, err)
		}
	}
}

func TestDiscoveryIsCachedForTenMinutes(t *testing.T) {
	t.Parallel()
	p := newProvider()
	p.discovery["code_challenge_methods_supported"] = []string{"plain", "S256"}
	party := p.party()
	begun(t, party)
	p.pass(10*time.Minute - 1)
	begun(t, party)
	if n := p.times("GET " + address); n != 1 {
		t.Errorf("asked %d times within ten minutes", n)
	}
	p.pass(1)
	begun(t, party)
	if n := p.times("GET " + address); n != 2 {
		t.Errorf("asked %d times after ten minutes", n)
	}
}

// TestUnknownKeyTriggersOneRefetchPerInterval checks that a provider can rotate its keys without causing failed
// sign-ins, and that tokens with unknown keys can't cause unlimited requests.
func TestUnknownKeyTriggersOneRefetchPerInterval(t *testing.T) {
	t.Parallel()
	p := newProvider()
	party := p.party()
	_, pinned := begun(t, party)
	exchange := func(by string) error {
		p.body["/token"] = `{"id_token":"` + p.signed(by, nil) + `"}`
		_, err := party.Exchange(t.Context(), pinned, back())
		return err
	}
	step := func(what string, err error, good bool, asked int) {
		t.Helper()
		if n := p.times("GET /jwks"); (err == nil) != good || n != asked {
			t.Errorf("%s: %v, asked %d times, want %d", what, err, n, asked)
		}
	}
	step("the first token", exchange("a"), true, 1)
	step("a second one", exchange("a"), true, 1)
	step("an unknown key at once", exchange("b"), false, 1)
	p.pass(30*time.Second - 1)
	step("an unknown key soon", exchange("b"), false, 1)
	p.pass(1)
	step("an unknown key later", exchange("b"), false, 2)
	step("an unknown key again", exchange("b"), false, 2)
	p.keys = []jose.JSONWebKey{{Key: key("b").Public(), KeyID: "b"}}
	p.pass(30 * time.Second)
	step("the new key", exchange("b"), true, 3)
	step("the old key", exchange("a"), false, 3)
	p.pass(10 * time.Minute)
	step("keys that are too old", exchange("b"), true, 4)
	p.status["/jwks"] = http.StatusInternalServerError
	p.pass(10 * time.Minute)
	err := exchange("b")
	step("no keys", err, false, 5)
	if identity.CauseOf(err) != "provider_unavailable" {
		t.Error(err)
	}
	p.status["/jwks"], p.body["/jwks"] = 0, "<html>"
	if err := exchange("b"); identity.CauseOf(err) != "provider_unavailable" {
		t.Error(err)
	}
}
