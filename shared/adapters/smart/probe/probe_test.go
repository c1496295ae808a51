package probe_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/adapters/smart/probe"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/org"
)

// told maps each step to the expected text and result of its checks.
type told map[string]struct {
	result probe.Result
	text   string
}

// wantTold compares the named steps with want and checks that no other step failed.
func wantTold(t *testing.T, what string, got map[string][]probe.Check, want told) {
	t.Helper()
	for step, checks := range got {
		named, expected := want[step]
		matches := slices.ContainsFunc(checks, func(c probe.Check) bool {
			return c.Result == named.result && strings.Contains(c.Found+" "+c.Do, named.text)
		})
		if expected && !matches {
			t.Errorf("%s: %s is %+v, want %s with %q", what, step, checks, named.result, named.text)
		}
		if i := slices.IndexFunc(checks, func(c probe.Check) bool { return c.Result == probe.Failed }); i >= 0 &&
			named.result != probe.Failed {
			t.Errorf("%s: %s has failed: %+v", what, step, checks[i])
		}
	}
}

// TestRunExplainsEverySandboxSwitch checks the report for every sandbox switch. Each switch imitates a real health
// system's behaviour.
func TestRunExplainsEverySandboxSwitch(t *testing.T) {
	t.Parallel()
	const unapproved = "endpoint approve -id " + endpointID + " -origin https://mulberry-hospital.example"
	for switches, want := range map[string]told{
		"": {
			"address": {probe.OK, "responds"}, "discovery": {probe.OK, "requires"}, "pkce": {probe.OK, "S256"},
			"grant_types":  {probe.OK, "authorization_code"},
			"capabilities": {probe.OK, "Standalone"}, "issuer": {probe.OK, "with no iss or a different one is rejected"},
			"pins":                 {probe.OK, "pinned"},
			"capability_statement": {probe.OK, "FHIR 4.0.1"},
			"resource_types":       {probe.OK, "not listed by the server: QuestionnaireResponse"},
			"searches":             {probe.OK, "MedicationRequest:medication"},
			"registration":         {probe.OK, "shared by all organisations, for the endpoint"},
			"client":               {probe.OK, "public"},
			"keys":                 {probe.Skipped, "doesn't sign"}, "token_endpoint": {probe.OK, "405"},
			"token_refresh": {probe.OK, "invalid_grant"},
			"token_code":    {probe.OK, "invalid_grant"}, "authorize": {probe.OK, "returned a page"},
		},
		"discovery-relative": {},
		"id-token:signed":    {"scopes": {probe.OK, "all requested scopes"}},
		"discovery-missing": {
			"discovery": {probe.Warning, "404"}, "pins": {probe.Failed, `to none`},
			"token_refresh": {probe.Skipped, "approved"},
		},
		"discovery-html": {"discovery": {probe.Warning, "text/html"}, "pins": {probe.Failed, "issuer from"}},
		"discovery-no-s256": {
			"discovery": {probe.Warning, "code_challenge_methods_supported"},
			"pkce":      {probe.Warning, "send a challenge anyway"},
		},
		"hostile:no-issuer":     {"issuer": {probe.Warning, "no issuer"}, "pins": {probe.Failed, `-issuer ""`}},
		"hostile:other-issuer":  {"pins": {probe.Failed, `-issuer "https://mulberry-hospital.example"`}},
		"hostile:other-sign-in": {"pins": {probe.Failed, unapproved}, "authorize": {probe.Skipped, "approved"}},
		"hostile:other-token": {
			"discovery": {probe.Warning, "revocation_endpoint"}, "pins": {probe.Failed, unapproved},
			"token_refresh": {probe.Skipped, "approved"},
		},
		"hostile:this-service": {"pins": {probe.Failed, "URL of this service"}, "authorize": {probe.Failed, "can't start"}},
		"iss:missing":          {"issuer": {probe.OK, "doesn't advertise iss"}},
		"aud:none":             {"authorize": {probe.Failed, "authorize: {aud: none}"}},
		"fragment,aud:none":    {"authorize": {probe.Failed, "invalid_request"}},
		"scopes:no-wildcards":  {"scopes": {probe.Warning, "patient/*.rs"}, "authorize": {probe.Failed, "invalid_scope"}},
		"scopes:types-v2,query-limit:2048,id-token:signed": {
			"scopes":    {probe.OK, "The server lists all requested scopes: "},
			"authorize": {probe.OK, "returned a page"},
		},
		"unknown-code-500": {
			"token_refresh": {probe.OK, "accepted"},
			"token_code":    {probe.Warning, "exchanging a real code may"},
		},
		"patient-unnamed": {"capabilities": {probe.Warning, "context-standalone-patient"}},
		"https-redirect": {"authorize": {
			probe.Warning,
			"/v1/bridge/callback/of-this-registration is registered as a redirect URI",
		}},
		"search-by:subject": {"searches": {probe.OK, "by subject"}},
		"token-moves:1": {
			"token_refresh": {probe.OK, "invalid_grant"},
			"token_code":    {probe.Failed, "404"},
		},
		"refresh-fails:401":      {"token_refresh": {probe.OK, "invalid_grant"}},
		"refresh-fails:html":     {"token_refresh": {probe.Failed, "text/html"}},
		"refresh-fails:html-503": {"token_refresh": {probe.Failed, "status 503"}},
		"refresh-fails:500":      {"token_refresh": {probe.Failed, "status 500"}},
		"refresh-fails:429":      {"token_refresh": {probe.Warning, "429"}},
		"refresh-fails:no-token": {"token_refresh": {probe.Failed, "neither a token"}},
		"client-secret:unknown": {
			"client":        {probe.Warning, "client_secret_basic"},
			"token_refresh": {probe.Failed, "public"}, "token_code": {probe.Skipped, "second"},
		},
		"gateway,deny-403-html:*":             {},
		"broken-json:*,slow:1s":               {},
		"refresh-fails:invalid_scope":         {"token_refresh": {probe.Warning, "invalid_scope"}},
		"refresh-fails:unauthorized_client":   {"token_refresh": {probe.Warning, "offline access"}},
		"authorize-error:unauthorized_client": {"authorize": {probe.Failed, "activate our app"}},
		"authorize-error:login_required":      {"authorize": {probe.Failed, "login_required"}},
	} {
		t.Run(switches, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			got, text := w.run(t, probe.Subject{Endpoint: w.endpoint(switches, "sandbox"), Stored: true, TokenRequest: true})
			wantTold(t, switches, got, want)
			w.wantNothingShown(t, text)
		})
	}
}

func TestRunExplainsClientAuthentication(t *testing.T) {
	t.Parallel()
	const secret = "s3cret=of-the-sandbox"
	for name, test := range map[string]struct {
		method   catalog.AuthMethod
		switches string
		change   func(w *world, e *catalog.Endpoint)
		want     told
	}{
		"a secret in HTTP Basic": {
			catalog.AuthSecretBasic, "client-secret:" + secret, nil,
			told{
				"client": {probe.OK, "client_secret_basic"}, "token_refresh": {probe.OK, "accepted"},
				"token_code": {probe.OK, "accepted"},
			},
		},
		"a secret in the form": {
			catalog.AuthSecretPost, "client-secret:" + secret, nil,
			told{"token_code": {probe.OK, "accepted"}},
		},
		"a wrong secret": {
			catalog.AuthSecretPost, "client-secret:another", nil,
			told{
				"token_refresh": {probe.Failed, "client rotate -id auth -secret-file"},
				"token_code":    {probe.Skipped, "rejected"},
			},
		},
		"a wrong secret that Keycloak refuses": {
			catalog.AuthSecretBasic, "client-401,client-secret:another", nil,
			told{
				"token_refresh": {probe.Failed, `The server says: "Invalid client or Invalid client credentials".`},
				"token_code":    {probe.Skipped, "rejected"},
			},
		},
		"a server that does not decode": {
			catalog.AuthSecretBasic, "basic-raw,client-secret:" + secret, nil,
			told{"token_refresh": {probe.Failed, "'client: {basic: raw}'"}},
		},
		"the same, and it is known": {
			catalog.AuthSecretBasic, "basic-raw,client-secret:" + secret,
			func(_ *world, e *catalog.Endpoint) { e.Overrides = "client: {basic: raw}" },
			told{"token_code": {probe.OK, "accepted"}},
		},
		"a server that is said not to decode": {
			catalog.AuthSecretBasic, "client-secret:another",
			func(_ *world, e *catalog.Endpoint) { e.Overrides = "client: {basic: raw}" },
			told{"token_refresh": {probe.Failed, "remove client: {basic: raw}"}},
		},
		"a method that is not taken": {
			catalog.AuthSecretBasic, "client-auth:client_secret_post,client-secret:" + secret, nil,
			told{
				"client":        {probe.Warning, "-override 'client: {methods: [client_secret_basic]}'"},
				"token_refresh": {probe.Failed, "invalid_client"},
			},
		},
		"a secret that must not go there": {
			catalog.AuthSecretPost, "client-secret:" + secret,
			func(w *world, _ *catalog.Endpoint) { w.used.Auth.Origins = []string{"https://elsewhere.example"} },
			told{
				"client":        {probe.Failed, "client set -id auth -origin https://elsewhere"},
				"token_refresh": {probe.Failed, "run ctl client list"}, "token_code": {probe.Skipped, ""},
			},
		},
		"an assertion": {
			catalog.AuthPrivateKey, "jwks", nil, told{
				"keys": {probe.OK, "publishes"}, "token_refresh": {probe.OK, "accepted"},
				"token_code": {probe.OK, "accepted"},
			},
		},
		"an assertion by a key that is not there": {
			catalog.AuthPrivateKey, "jwks", func(w *world, _ *catalog.Endpoint) { w.used.Auth.KeyID = "gone" },
			told{"keys": {probe.Failed, "gone"}, "token_refresh": {probe.Failed, "Nothing was sent"}},
		},
		"an assertion of an algorithm that is not listed": {
			catalog.AuthPrivateKey, "jwks", func(w *world, e *catalog.Endpoint) {
				w.instead = answer{
					"GET", configured, http.StatusOK, "application/json",
					strings.Replace(minimal("S256"), "{",
						`{"token_endpoint_auth_methods_supported":["private_key_jwt"],`+
							`"token_endpoint_auth_signing_alg_values_supported":["ES384"],`, 1), "", "",
				}
				e.Pins.Issuer = ""
			},
			told{"client": {probe.Warning, "It accepts ES384"}, "token_refresh": {probe.OK, "accepted"}},
		},
		"an assertion while our keys cannot be had": {
			catalog.AuthPrivateKey, "jwks", func(w *world, _ *catalog.Endpoint) { w.down = true },
			told{"keys": {probe.Failed, "the service is down"}},
		},
		"an organisation's own client, at an older callback address": {
			catalog.AuthSecretPost, "client-secret:" + secret,
			func(w *world, _ *catalog.Endpoint) {
				w.used.Owner, w.used.Registration.Callback = org.Tenant{Mode: org.Test, OrgID: "an-organisation"}, ""
			},
			told{
				"registration": {probe.Warning, "the organisation's own, for the endpoint"},
				"token_code":   {probe.OK, "accepted"}, "authorize": {probe.Warning, "/v1/bridge/callback is registered"},
			},
		},
		"an assertion that the server has no key for": {
			catalog.AuthPrivateKey, "client-auth:private_key_jwt", nil, told{"token_refresh": {probe.Failed, "keys inline"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.secret = secret
			w.confidential(test.method)
			e := w.endpoint(strings.Replace(test.switches, "jwks", w.jwks(t), 1), "smart")
			if test.change != nil {
				test.change(w, &e)
			}
			got, text := w.run(t, probe.Subject{Endpoint: e, Stored: true, TokenRequest: true})
			wantTold(t, name, got, test.want)
			w.wantNothingShown(t, text)
			nothing := strings.Contains(got["token_refresh"][0].Found, "Nothing was sent")
			if posts := len(w.asked("/oauth/token")) - 1; nothing && posts != 0 { // excluding the initial GET
				t.Errorf("%d token requests were sent", posts)
			}
		})
	}
}

func TestRunSkipsTokenRequestWithoutPermission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got, _ := w.run(t, probe.Subject{Endpoint: w.endpoint("", "sandbox"), Stored: true})
	wantTold(t, "without leave", got, told{
		"token_refresh": {probe.Skipped, "count failures"},
		"token_code":    {probe.Skipped, "-token-request"},
	})
	if sent := w.asked("/oauth/token"); len(sent) != 1 || !strings.HasPrefix(sent[0], "GET /v1/sandbox/oauth/token?  ") {
		t.Errorf("the token endpoint got %q", sent)
	}
}

// TestRunTestsProposedEndpoint checks that credentials are not sent to an unapproved server.
func TestRunTestsProposedEndpoint(t *testing.T) {
	t.Parallel()
	for switches, test := range map[string]struct {
		missing bool
		want    told
	}{
		"label:new": {false, told{
			"pins": {probe.OK, "FHIR base"}, "registration": {probe.OK, "would be detected: sandbox"},
			"token_refresh": {probe.OK, "accepted"}, "authorize": {probe.OK, "page"},
		}},
		"label:none": {true, told{
			"registration": {probe.Warning, "-client-id"}, "resource_types": {probe.OK, "searches 21 types"},
			"token_refresh": {probe.Skipped, "registered"}, "authorize": {probe.Skipped, "registered"},
			"client": {probe.Skipped, "registered"},
		}},
		"hostile:other-token": {false, told{
			"pins":           {probe.Warning, "endpoint create … -origin https://mulberry-hospital.example"},
			"token_endpoint": {probe.Skipped, "approved"},
			"token_refresh":  {probe.Skipped, "approved"}, "authorize": {probe.Skipped, "approved"},
		}},
	} {
		w := newWorld(t)
		w.missing = test.missing
		e := w.endpoint(switches, "")
		e.Pins = catalog.Pins{}
		got, _ := w.run(t, probe.Subject{Endpoint: e, TokenRequest: true})
		wantTold(t, switches, got, test.want)
		if test.want["token_refresh"].result == probe.Skipped &&
			len(slices.DeleteFunc(w.asked("/oauth/token"), func(s string) bool { return strings.HasPrefix(s, "GET") })) > 0 {
			t.Errorf("%s: a token request was sent", switches)
		}
	}
}

func TestRunReportsEveryStepInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	healthy, _ := w.run(t, probe.Subject{Endpoint: w.endpoint("", "sandbox"), Stored: true})
	w.missing = true
	suspended := w.endpoint("", "sandbox")
	suspended.Status = catalog.EndpointSuspended
	unregistered, _ := w.run(t, probe.Subject{Endpoint: suspended, Stored: true})
	wantTold(t, "suspended and unregistered", unregistered,
		told{"address": {probe.Warning, "not active"}, "registration": {probe.Failed, "registration set -endpoint"}})
	live := w.endpoint("", "sandbox")
	live.Mode = "live"
	refused, _ := w.run(t, probe.Subject{Endpoint: live, Stored: true})
	wantTold(t, "http in live mode", refused,
		told{"address": {probe.Failed, "https"}, "authorize": {probe.Skipped, "earlier check"}})
	ours := w.endpoint("", "sandbox")
	ours.FHIRBase = w.service + "/bridge"
	own, _ := w.run(t, probe.Subject{Endpoint: ours, Stored: true})
	wantTold(t, "our own address", own, told{"address": {probe.Failed, "URL of this service"}})
	for what, got := range map[string]map[string][]probe.Check{
		"unregistered": unregistered, "refused": refused,
		"own": own,
	} {
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(healthy))) {
			t.Errorf("%s: other steps are told than of a healthy one: %v", what, slices.Sorted(maps.Keys(got)))
		}
	}
}
