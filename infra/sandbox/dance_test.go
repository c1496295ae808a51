package sandbox_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/sandbox/persona"
)

func TestConnectedPatientRecordCanBeRead(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for _, person := range persona.Builtin() {
		t.Run(person.ID, func(t *testing.T) {
			t.Parallel()
			mine := p.in(t)
			landing := mine.landing(mine.authorize("persona", person.ID, "decision", "approve"))
			if got, want := landing.Get("state"), "st-1"; got != want {
				t.Errorf("state = %q, want %q", got, want)
			}
			if got, want := landing.Get("iss"), mine.base; got != want {
				t.Errorf("iss = %q, want %q", got, want)
			}
			a := mine.post("/oauth/token", exchangeForm(landing.Get("code")))
			got := mine.tokens(a)
			want := tokens{
				Access: got.Access, Refresh: got.Refresh, Type: "Bearer", Scope: allScopes,
				Patient: person.PatientID, ExpiresIn: 3600,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("token answer (-want +got):\n%s", diff)
			}
			if got.Refresh == "" {
				t.Error("offline_access was granted without a refresh token")
			}
			if got, want := a.header.Get("Cache-Control"), "no-store"; got != want {
				t.Errorf("Cache-Control = %q, want %q", got, want)
			}
			patient := mine.read(got.Access, "Patient/"+got.Patient)
			if patient.status != http.StatusOK || patient.json(t)["id"] != got.Patient {
				t.Errorf("reading the patient: %d %.200s", patient.status, patient.body)
			}
		})
	}
}

func TestHandlerAcceptsPathsWithAndWithoutStagePrefix(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	host := strings.TrimSuffix(p.base, "/v1/sandbox")
	for _, mount := range []string{"/v1/sandbox", "/sandbox"} {
		if got := p.get(host + mount + "/fhir/metadata").status; got != http.StatusOK {
			t.Errorf("%s: status = %d, want 200", mount, got)
		}
	}
	for _, path := range []string{
		"/other/fhir/metadata", "/v1/sandbox/fhir/Patient/1/_history",
		"/v1/sandbox/fhir/Patient/", "/v1/sandbox/nothing", "/v1/sandbox/oauth/assets/secret",
	} {
		if got := p.get(host + path).status; got != http.StatusNotFound {
			t.Errorf("%s: status = %d, want 404", path, got)
		}
	}
}

func TestHandlerReturns405ForWrongMethod(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for path, allow := range map[string]string{
		"/oauth/authorize": "GET", "/oauth/token": "POST", "/oauth/revoke": "POST", "/oauth/introspect": "POST",
		"/fhir/metadata": "GET", "/fhir/Patient/x": "GET", "/fhir/Observation": "GET",
	} {
		a := p.do(p.request(http.MethodPut, p.base+path, nil))
		if a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != allow {
			t.Errorf("PUT %s: got %d Allow %q, want 405 %s", path, a.status, a.header.Get("Allow"), allow)
		}
	}
}

func TestDiscoveryListsWorkingEndpoints(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got := p.get(p.fhir + "/.well-known/smart-configuration").json(t)
	for key, want := range map[string]any{
		"issuer":                           p.base,
		"authorization_endpoint":           p.base + "/oauth/authorize",
		"token_endpoint":                   p.base + "/oauth/token",
		"revocation_endpoint":              p.base + "/oauth/revoke",
		"introspection_endpoint":           p.base + "/oauth/introspect",
		"code_challenge_methods_supported": []any{"S256"},
		"grant_types_supported":            []any{"authorization_code", "refresh_token"},
		"response_types_supported":         []any{"code"},
		"token_endpoint_auth_methods_supported": []any{
			"none", "client_secret_basic", "client_secret_post",
		},
		"authorization_response_iss_parameter_supported": true,
	} {
		if diff := cmp.Diff(want, got[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	listed, _ := got["scopes_supported"].([]any)
	if len(listed) == 0 {
		t.Fatal("scopes_supported is empty")
	}
	for _, one := range listed {
		name, _ := one.(string)
		asked := name
		if !strings.HasPrefix(name, "patient/") {
			asked = "patient/*.read " + name
		}
		if granted := p.connect("juniper-vale", "scope", asked).Scope; granted != asked {
			t.Errorf("scope %q: granted %q", asked, granted)
		}
	}
}

func TestAccessTokenExpires(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got := p.connect("juniper-vale")
	p.advance(accessTTL - time.Second)
	if a := p.read(got.Access, "Condition"); a.status != http.StatusOK {
		t.Errorf("a second before its end: status = %d, want 200", a.status)
	}
	p.advance(time.Second)
	a := p.read(got.Access, "Condition")
	wantOutcome(t, a, http.StatusUnauthorized, "login")
	if got, want := a.header.Get("WWW-Authenticate"), `Bearer realm="sandbox", error="invalid_token"`; got != want {
		t.Errorf("WWW-Authenticate = %q, want %q", got, want)
	}
}
