package sandbox_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recordbridge/infra/sandbox/switches"
)

func (p *portal) with(t *testing.T, spec string) *portal {
	t.Helper()
	there := p.in(t)
	there.base = p.base + "/with/" + spec
	there.fhir = there.base + "/fhir"

	return there
}

func TestSwitchesEndpointListsSwitches(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for _, path := range []string{"/with", "/with/", "/with/deny:*", "/with/deny:*/"} {
		a := p.get(p.base + path)
		listed, _ := a.json(t)["switches"].([]any)
		if got, want := len(listed), len(switches.Table()); a.status != http.StatusOK || got != want {
			t.Errorf("%s: %d with %d switches, want 200 with %d", path, a.status, got, want)
		}
	}
	if got, want := p.get(p.base + "/with/deny:*").json(t)["fhir_base"], p.base+"/with/deny:*/fhir"; got != want {
		t.Errorf("fhir_base = %v, want %s", got, want)
	}
}

func TestPortalReturns404ForInvalidSwitch(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for name, want := range map[string]string{
		"no-such-thing": "unknown switch", "outcome-entry,typo:1": "unknown switch", "outcome-entry:1": "invalid value",
		"slow": "invalid value", "slow:soon": "invalid value", "slow:0s": "invalid value", "limit-date:0": "invalid value",
		"deny:observation": "invalid value", "refresh-fails:often": "invalid value", "label:a,label:b": "repeated",
		"jwks:e30": "invalid value", "jwks:x": "invalid value",
	} {
		a := p.get(p.base + "/with/" + name + "/fhir/metadata")
		body := a.json(t)
		problem, _ := body["error"].(string)
		listed, _ := body["switches"].([]any)
		if a.status != http.StatusNotFound || !strings.Contains(problem, want) || len(listed) == 0 {
			t.Errorf("%s: got %d %q and %d switches, want 404, %q and the list", name, a.status, problem, len(listed), want)
		}
	}
}

func TestPortalWithSwitchesIsIsolatedFromOtherPortals(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there := p.with(t, "label:one")
	found := there.get(there.fhir + "/.well-known/smart-configuration").json(t)
	for key, path := range map[string]string{
		"issuer": "", "authorization_endpoint": "/oauth/authorize", "token_endpoint": "/oauth/token",
		"revocation_endpoint": "/oauth/revoke", "introspection_endpoint": "/oauth/introspect",
	} {
		if found[key] != there.base+path {
			t.Errorf("%s = %v, want %s", key, found[key], there.base+path)
		}
	}
	if a := there.get(there.fhir + "/metadata"); !strings.Contains(string(a.body), there.base+"/oauth/token") {
		t.Error("the CapabilityStatement names other endpoints")
	}
	got := there.connect("alder-maple")
	page := there.searchset(there.read(got.Access, "Observation?patient="+got.Patient+"&_count=2"))
	if next := page.link("next"); !strings.HasPrefix(next, there.fhir+"/Observation?") {
		t.Errorf("next = %q, want it below %s", next, there.fhir)
	}
	code := there.code("alder-maple")
	for name, other := range map[string]*portal{"default": p, "neighbour": p.with(t, "label:two")} {
		wantOutcome(t, other.read(got.Access, "Observation"), http.StatusUnauthorized, "login")
		wantError(t, other.refresh(got.Refresh), 400, "invalid_grant")
		wantError(t, other.post("/oauth/token", exchangeForm(code)), 400, "invalid_grant")
		if active := other.introspect(got.Access, clientID)["active"]; active != false {
			t.Errorf("%s: a token of another portal is active", name)
		}
	}
	wantError(t, there.authorizeError("aud", p.fhir), 0, "invalid_request")
	there.tokens(there.post("/oauth/token", exchangeForm(code)))
	there.tokens(there.refresh(got.Refresh))
}

// authorizeError returns the error of an authorization request as a JSON body that wantError accepts.
func (p *oauthClient) authorizeError(pairs ...string) answer {
	p.t.Helper()
	landing := p.landing(p.authorize(append([]string{"persona", "alder-maple", "decision", "approve"}, pairs...)...))

	return answer{body: []byte(`{"error":"` + landing.Get("error") + `"}`)}
}

func TestSwitchTableListsOnlyTestedSwitches(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(raw)
	}
	seen := map[string]bool{}
	for _, row := range switches.Table() {
		if seen[row.Name] || row.About == "" || row.Platform == "" {
			t.Errorf("%s: listed twice, or not described", row.Name)
		}
		seen[row.Name] = true
		quoted := []string{
			`"` + row.Name + `"`, `"` + row.Name + `:`, `"` + row.Name + `,`, `,` + row.Name + `"`,
			`,` + row.Name + `:`,
		}
		named := false
		for _, one := range quoted {
			named = named || strings.Contains(source.String(), one)
		}
		if !named {
			t.Errorf("%s: no test names it", row.Name)
		}
	}
}
