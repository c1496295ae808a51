package sandbox_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/switches"
)

func TestAuthorizeSwitchesControlAudAndNonceChecks(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for _, c := range []struct{ spec, parameter, value, want string }{
		{"aud:required", "aud", "", "invalid_request"},
		{"aud:required", "aud", "{fhir}", ""},
		{"aud:none", "aud", "{fhir}", "invalid_request"},
		{"aud:none", "aud", "", ""},
		{"aud:trimmed", "aud", "{fhir}/", "invalid_request"},
		{"aud:trimmed", "aud", "{fhir}", ""},
		{"nonce-required", "nonce", "", "invalid_request"},
		{"nonce-required", "nonce", "n-1", ""},
	} {
		there := p.with(t, c.spec)
		landing := there.landing(there.authorize(
			"persona", "alder-maple", "decision", "approve", c.parameter, strings.ReplaceAll(c.value, "{fhir}", there.fhir),
		))
		if got := landing.Get("error"); got != c.want || (got == "") != landing.Has("code") {
			t.Errorf("%s with %s=%q: got %v, want error %q", c.spec, c.parameter, c.value, landing, c.want)
		}
	}
}

func TestAuthorizeSwitchesAlterAuthorizationResponse(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there := p.with(t, "fragment")
	location, err := url.Parse(there.authorize("persona", "alder-maple", "decision", "approve").header.Get("Location"))
	if err != nil || location.RawQuery != "" {
		t.Fatalf("Location = %v, %v: want no query", location, err)
	}
	if answer, err := url.ParseQuery(location.EscapedFragment()); err != nil || answer.Get("code") == "" ||
		answer.Get("state") != "st-1" {
		t.Errorf("fragment = %v, %v", answer, err)
	}
	for value, want := range map[string]string{
		"present": p.base + "/with/iss:present", "missing": "", "wrong": "https://another-portal.example",
	} {
		there := p.with(t, "iss:"+value)
		landing := there.landing(there.authorize("persona", "alder-maple", "decision", "approve"))
		if got := landing.Get("iss"); got != want || landing.Has("iss") != (want != "") || !landing.Has("code") {
			t.Errorf("iss:%s: got %v, want iss %q", value, landing, want)
		}
		declared := there.get(there.fhir +
			"/.well-known/smart-configuration").json(t)["authorization_response_iss_parameter_supported"]
		if declared != (value != "missing") {
			t.Errorf("iss:%s: discovery says %v", value, declared)
		}
	}
}

func TestAuthorizeErrorSwitchReturnsEachError(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	table := switches.Table()
	row := table[slices.IndexFunc(table, func(s switches.Switch) bool { return s.Name == "authorize-error" })]
	for code := range strings.SplitSeq(row.Value, "|") {
		wantError(t, p.with(t, "authorize-error:"+code).authorizeError(), 0, code)
	}
}

func TestAuthorizeRejectsHTTPRedirectURIWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	const plain = "http://127.0.0.1:4566/v1/bridge/callback"
	p := newPortal(t, func(d *sandbox.Deps) {
		d.Clients = append(d.Clients, oauth.Client{ID: "local", RedirectURIs: []string{plain}})
	})
	there := p.with(t, "https-redirect")
	if a := there.authorize("client_id", "local", "redirect_uri", plain); a.status != http.StatusBadRequest {
		t.Errorf("http: %d, want the error page", a.status)
	}
	if a := there.authorize(); a.status != http.StatusOK {
		t.Errorf("https: %d, want 200", a.status)
	}
}

func TestScopeSwitchesNarrowGrantedScopes(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for _, c := range []struct{ spec, asked, granted string }{
		{"scopes:no-wildcards", "launch/patient patient/*.rs", ""},
		{"scopes:no-wildcards", "patient/Goal.rs patient/Patient.r", "patient/Goal.rs patient/Patient.r"},
		{"scopes:v1", "patient/*.rs", ""},
		{"scopes:v1", "launch/patient patient/*.read patient/Goal.rs", "launch/patient patient/*.read"},
		{"scopes:v2", "patient/*.read", ""},
		{"scopes:v2", "patient/*.read patient/Goal.rs", "patient/Goal.rs"},
		{"scopes:types-v1", "patient/*.read", ""},
		{"scopes:types-v1", "patient/Patient.read patient/Goal.rs", "patient/Patient.read"},
		{"scopes:types-v2", "patient/*.rs", ""},
		{"scopes:types-v2", "patient/Patient.rs patient/Goal.read", "patient/Patient.rs"},
		{"grant-only:Patient+Goal", "launch/patient patient/*.rs", "launch/patient patient/Patient.rs patient/Goal.rs"},
		{"grant-only:Observation", "patient/Patient.read patient/Observation.read", "patient/Observation.read"},
		{"require-scope:sandbox", "patient/*.read", ""},
		{"require-scope:sandbox", "patient/*.read sandbox", "patient/*.read"},
		{"no-patient-scope", "patient/Patient.read patient/Goal.read", "patient/Goal.read"},
	} {
		there := p.with(t, c.spec)
		if c.granted == "" {
			wantError(t, there.authorizeError("scope", c.asked), 0, "invalid_scope")

			continue
		}
		if got := there.connect("alder-maple", "scope", c.asked).Scope; got != c.granted {
			t.Errorf("%s asked %q: got %q, want %q", c.spec, c.asked, got, c.granted)
		}
	}
	there := p.with(t, "no-patient-scope")
	got := there.connect("alder-maple", "scope", "patient/*.rs")
	wantOutcome(t, there.read(got.Access, "Patient/"+got.Patient), http.StatusForbidden, "forbidden")
	if a := there.read(got.Access, "Observation"); a.status != http.StatusOK {
		t.Errorf("Observation: %d, want 200", a.status)
	}
}

func TestDiscoveryListsSupportedScopes(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for spec, c := range map[string]struct{ capability, scope string }{
		"scopes:v1": {"permission-v2", "patient/*.rs"}, "scopes:v2": {"permission-v1", "patient/*.read"},
		"scopes:no-wildcards": {"", "patient/*.rs"}, "scopes:types-v1": {"permission-v2", "patient/*.read"},
		"scopes:types-v2": {"permission-v1", "patient/*.rs"},
		"patient-unnamed": {"context-standalone-patient", "patient/Patient.rs"},
	} {
		there := p.with(t, spec)
		found := there.get(there.fhir + "/.well-known/smart-configuration").json(t)
		capabilities, _ := found["capabilities"].([]any)
		scopes, _ := found["scopes_supported"].([]any)
		if len(capabilities) == 0 || len(scopes) == 0 || slices.Contains(capabilities, any(c.capability)) ||
			slices.Contains(scopes, any(c.scope)) {
			t.Errorf("%s: capabilities %v, scopes %v", spec, capabilities, scopes)
		}
	}
}

func TestDiscoveryListsTypeScopesAlphabetically(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for spec, rights := range map[string]string{"scopes:types-v1": "read", "scopes:types-v2": "rs"} {
		there := p.with(t, spec)
		scopes, _ := there.get(there.fhir + "/.well-known/smart-configuration").json(t)["scopes_supported"].([]any)
		var listed []string
		for _, one := range scopes {
			if text, _ := one.(string); strings.HasPrefix(text, "patient/") {
				listed = append(listed, text)
			}
		}
		patient := slices.Index(listed, "patient/Patient."+rights)
		if len(listed) != 146 || !slices.IsSorted(listed) || patient < 80 {
			t.Errorf("%s: %d scopes, Patient at %d: %v", spec, len(listed), patient, listed)
		}
	}
}

func TestAuthorizeLimitsRequestLengthWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for length, want := range map[int]int{10: http.StatusOK, 3000: http.StatusNotFound} {
		there := p.with(t, "query-limit:2048")
		if a := there.authorize("scope", "patient/*.rs "+strings.Repeat("x", length)); a.status != want {
			t.Errorf("%d bytes more: %d, want %d", length, a.status, want)
		}
	}
}
