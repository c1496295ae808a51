package sandbox_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func (p *oauthClient) discovery() map[string]any {
	p.t.Helper()

	return p.get(p.fhir + "/.well-known/smart-configuration").json(p.t)
}

func TestDiscoveryURLsAreRelativeWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	there := newPortal(t).with(t, "discovery-relative,id-token:signed")
	base, err := url.Parse(there.fhir)
	if err != nil {
		t.Fatal(err)
	}
	found := there.discovery()
	for field, path := range map[string]string{
		"authorization_endpoint": "/oauth/authorize", "token_endpoint": "/oauth/token",
		"revocation_endpoint":    "/oauth/revoke",
		"introspection_endpoint": "/oauth/introspect", "jwks_uri": "/oauth/jwks",
	} {
		address, _ := found[field].(string)
		for _, from := range []*url.URL{base, base.JoinPath("/")} {
			resolved, err := from.Parse(address)
			if err != nil || strings.Contains(address, "://") || resolved.String() != there.base+path {
				t.Errorf("%s = %q resolves to %v, %v; want %s", field, address, resolved, err, there.base+path)
			}
		}
	}
}

func TestDiscoveryReturns404OrHTMLWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for spec, want := range map[string]int{"discovery-missing": http.StatusNotFound, "discovery-html": http.StatusOK} {
		there := p.with(t, spec)
		a := there.get(there.fhir + "/.well-known/smart-configuration")
		if isHTML := strings.HasPrefix(a.header.Get("Content-Type"), "text/html"); a.status != want ||
			isHTML != (want == http.StatusOK) {
			t.Errorf("%s: got %d %q", spec, a.status, a.header.Get("Content-Type"))
		}
		if a := there.get(there.fhir + "/metadata"); !strings.Contains(string(a.body),
			`"valueUri":"`+there.base+`/oauth/token"`) {
			t.Errorf("%s: the CapabilityStatement does not name the token URL", spec)
		}
	}
}

func TestDiscoveryOmitsFieldsWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for spec, field := range map[string]string{
		"discovery-no-s256": "code_challenge_methods_supported", "omit-endpoint:revocation": "revocation_endpoint",
		"omit-endpoint:introspection": "introspection_endpoint",
	} {
		found := p.with(t, spec).discovery()
		if _, there := found[field]; there || found["token_endpoint"] == nil {
			t.Errorf("%s: %s is there, or all is gone", spec, field)
		}
	}
}

func TestDiscoveryReturnsHostileURLsWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for kind, field := range map[string]string{
		"no-issuer": "issuer", "other-issuer": "issuer", "other-sign-in": "authorization_endpoint",
		"other-token":  "token_endpoint",
		"this-service": "authorization_endpoint",
	} {
		there := p.with(t, "hostile:"+kind)
		if address, _ := there.discovery()[field].(string); strings.HasPrefix(address, there.base) {
			t.Errorf("%s: the %s is its own, %s", kind, field, address)
		}
	}
}

func TestTokenURLMovesWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	there := newPortal(t).with(t, "token-moves:2")
	before := there.discovery()["token_endpoint"]
	got := there.connect("alder-maple")
	got = there.tokens(there.refresh(got.Refresh))
	if a := there.refresh(got.Refresh); a.status != http.StatusNotFound {
		t.Errorf("the old URL: %d, want 404", a.status)
	}
	after := there.discovery()["token_endpoint"]
	if after == before || after != there.base+"/oauth/token/moved" {
		t.Errorf("token_endpoint = %v after %v", after, before)
	}
	if a := there.get(there.fhir + "/metadata"); !strings.Contains(string(a.body), `/oauth/token/moved"`) {
		t.Error("the CapabilityStatement names the old token URL")
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}, "client_id": {clientID}}
	there.tokens(there.post("/oauth/token/moved", form))
}
