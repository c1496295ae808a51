package smart_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/fault"
)

const defaultV1 = "patient/*.read"

// configuration returns a valid smart-configuration with the given changes, removing members whose value is nil.
func configuration(t *testing.T, changes map[string]any) string {
	t.Helper()
	document := map[string]any{
		"issuer":                           "SELF/r4",
		"authorization_endpoint":           "SELF/authorize?tenant=7",
		"token_endpoint":                   "https://login.example/token",
		"code_challenge_methods_supported": []string{"S256"},
		"capabilities":                     []string{"launch-standalone"},
	}
	maps.Copy(document, changes)
	maps.DeleteFunc(document, func(_ string, value any) bool { return value == nil })
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const statementFormat = `{"resourceType":"CapabilityStatement","rest":[{"mode":"server","security":{"extension":[{
	"url":"http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris","extension":[
	{"url":"authorize","valueUri":"AUTHORIZE"},{"url":"token","valueUri":"TOKEN"},{"url":"revoke","valueUri":"/revoke"},
	{"url":"introspect","valueUri":"https://login.example/introspect"}]}]}}]}`

func statement(authorize, token string) string {
	return strings.NewReplacer("AUTHORIZE", authorize, "TOKEN", token).Replace(statementFormat)
}

func TestDiscoverReadsSMARTConfiguration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changes map[string]any
		want    flow.Authority
	}{
		"absolute": {nil, flow.Authority{
			Issuer: "SELF/r4", AuthorizationEndpoint: "SELF/authorize?tenant=7", TokenEndpoint: "https://login.example/token",
		}},
		"relative to the base": {
			map[string]any{"authorization_endpoint": "oauth/authorize", "token_endpoint": "/token", "issuer": nil},
			flow.Authority{AuthorizationEndpoint: "SELF/r4/oauth/authorize", TokenEndpoint: "SELF/token"},
		},
		"with iss": {map[string]any{"authorization_response_iss_parameter_supported": true}, flow.Authority{
			Issuer: "SELF/r4", AuthorizationEndpoint: "SELF/authorize?tenant=7", TokenEndpoint: "https://login.example/token",
			IssRequired: true,
		}},
		"with keys and userinfo": {
			map[string]any{"jwks_uri": "keys", "userinfo_endpoint": "SELF/userinfo", "token_endpoint": "SELF/token"},
			flow.Authority{
				Issuer: "SELF/r4", AuthorizationEndpoint: "SELF/authorize?tenant=7", TokenEndpoint: "SELF/token",
				KeySet: "SELF/r4/keys", Userinfo: "SELF/userinfo",
			},
		},
		"with userinfo elsewhere and keys nowhere": {
			map[string]any{"jwks_uri": "file:///keys", "userinfo_endpoint": "SELF/userinfo"},
			flow.Authority{
				Issuer: "SELF/r4", AuthorizationEndpoint: "SELF/authorize?tenant=7", TokenEndpoint: "https://login.example/token",
			},
		},
		"with revocation and introspection": {
			map[string]any{
				"revocation_endpoint": "/revoke", "introspection_endpoint": "SELF/introspect",
				"token_endpoint": "SELF/token",
			},
			flow.Authority{
				Issuer: "SELF/r4", AuthorizationEndpoint: "SELF/authorize?tenant=7", TokenEndpoint: "SELF/token",
				Revocation: "SELF/revoke", Introspection: "SELF/introspect",
			},
		},
		"with revocation and introspection elsewhere": {
			map[string]any{
				"revocation_endpoint":    "SELF/revoke",
				"introspection_endpoint": "https://login.example:8443/introspect",
			},
			flow.Authority{
				Issuer: "SELF/r4", AuthorizationEndpoint: "SELF/authorize?tenant=7", TokenEndpoint: "https://login.example/token",
			},
		},
		"with ways to authenticate": {
			map[string]any{
				"token_endpoint_auth_methods_supported": []string{
					"tls_client_auth", "client_secret_basic",
					"private_key_jwt", "none",
				},
				"token_endpoint_auth_signing_alg_values_supported": []string{"HS256", "ES384", "RS384"},
			},
			flow.Authority{
				Issuer: "SELF/r4", AuthorizationEndpoint: "SELF/authorize?tenant=7", TokenEndpoint: "https://login.example/token",
				Methods: []string{"private_key_jwt", "client_secret_basic", "none"}, Algorithms: []string{"RS384", "ES384"},
			},
		},
		"with version 2 scopes": {map[string]any{"capabilities": []string{"permission-v2"}}, flow.Authority{
			Issuer: "SELF/r4", AuthorizationEndpoint: "SELF/authorize?tenant=7", TokenEndpoint: "https://login.example/token",
			Scope: "patient/*.rs", Access: "rs",
		}},
		"lists as text and of other types": {map[string]any{
			"capabilities": 7, "scopes_supported": "patient/Patient.read patient/Goal.read",
			"code_challenge_methods_supported": "S256", "authorization_response_iss_parameter_supported": "yes",
			"Token_Endpoint": "x",
		}, flow.Authority{
			Issuer: "SELF/r4", AuthorizationEndpoint: "SELF/authorize?tenant=7", TokenEndpoint: "https://login.example/token",
			Scope: "patient/Patient.read patient/Goal.read", Access: "read",
		}},
		"with iss, but no issuer to compare it with": {
			map[string]any{"authorization_response_iss_parameter_supported": true, "issuer": nil},
			flow.Authority{AuthorizationEndpoint: "SELF/authorize?tenant=7", TokenEndpoint: "https://login.example/token"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, map[string]http.HandlerFunc{
				"/r4/.well-known/smart-configuration": reply(http.StatusOK, configuration(t, test.changes)),
			})
			got, err := smart.Discover(t.Context(), doer(), e.URL+"/r4/")
			if err != nil {
				t.Fatal(err)
			}
			if test.want.Scope == "" {
				test.want.Scope, test.want.Access = defaultV1, "read"
			}
			test.want.S256 = true
			for _, text := range []*string{
				&test.want.KeySet, &test.want.Userinfo, &test.want.Revocation,
				&test.want.Introspection, &test.want.Issuer, &test.want.AuthorizationEndpoint, &test.want.TokenEndpoint,
			} {
				*text = strings.ReplaceAll(*text, "SELF", e.URL)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Discover (-want +got):\n%s", diff)
			}
			if got := e.requests()[0].Header; got.Get("Accept") != "application/json" || got.Get("Authorization") != "" {
				t.Errorf("sent %v", got)
			}
		})
	}
}

func TestDiscoverFallsBackToCapabilityStatement(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]http.HandlerFunc{
		"404":                     reply(http.StatusNotFound, "<html></html>"),
		"a web page":              reply(http.StatusOK, "<html></html>"),
		"500":                     reply(http.StatusInternalServerError, ""),
		"another JSON document":   reply(http.StatusOK, `{"resourceType":"OperationOutcome"}`),
		"broken JSON":             reply(http.StatusOK, `{"token_endpoint":`),
		"a redirect to a sign-in": reply(http.StatusFound, "", "Location", "https://login.example/"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, map[string]http.HandlerFunc{
				"/r4/.well-known/smart-configuration": first,
				"/r4/metadata":                        reply(http.StatusOK, statement("SELF/authorize", "oauth/token")),
			})
			got, err := smart.Discover(t.Context(), doer(), e.URL+"/r4")
			want := flow.Authority{
				AuthorizationEndpoint: e.URL + "/authorize", TokenEndpoint: e.URL + "/r4/oauth/token",
				Revocation: e.URL + "/revoke",
				Scope:      defaultV1, Access: "read", Substitute: name == "500", // only status 500 is temporary
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Discover (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiscoverAcceptsServerWithoutChallengeMethods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		methods  any
		declared bool
	}{
		"absent":           {nil, false},
		"empty":            {[]string{}, false},
		"an empty text":    {"", false},
		"of another type":  {7, false},
		"S256":             {[]string{"S256"}, true},
		"S256 among plain": {[]string{"plain", "S256"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			canned := answering{body: configuration(t, map[string]any{
				"authorization_endpoint": "authorize", "code_challenge_methods_supported": test.methods,
			})}
			server, err := smart.Discover(t.Context(), canned, "https://ehr.example/r4")
			if err != nil || server.S256 != test.declared {
				t.Errorf("S256 is declared: %t, %v; want %t", server.S256, err, test.declared)
			}
		})
	}
}

func TestDiscoverRejectsInvalidConfigurations(t *testing.T) {
	t.Parallel()
	configured := func(changes map[string]any) map[string]http.HandlerFunc {
		return map[string]http.HandlerFunc{
			"/r4/.well-known/smart-configuration": reply(http.StatusOK, configuration(t, changes)),
			"/r4/metadata":                        reply(http.StatusOK, statement("SELF/authorize", "SELF/token")),
		}
	}
	stated := func(answer http.HandlerFunc) map[string]http.HandlerFunc {
		return map[string]http.HandlerFunc{"/r4/metadata": answer}
	}
	for name, test := range map[string]struct {
		answers map[string]http.HandlerFunc
		kind    fault.Kind
	}{
		"plain only": {
			configured(map[string]any{"code_challenge_methods_supported": []string{"plain"}}),
			fault.Upstream,
		},
		"a challenge of its own": {
			configured(map[string]any{"code_challenge_methods_supported": "S512"}),
			fault.Upstream,
		},
		"no authorization endpoint": {configured(map[string]any{"authorization_endpoint": nil}), fault.Upstream},
		"a user in the endpoint": {
			configured(map[string]any{"token_endpoint": "https://a@login.example/"}),
			fault.Upstream,
		},
		"a fragment in the endpoint": {
			configured(map[string]any{"authorization_endpoint": "https://login.example/#x"}),
			fault.Upstream,
		},
		"a script as endpoint": {
			configured(map[string]any{"authorization_endpoint": "javascript:alert(1)"}),
			fault.Upstream,
		},
		"an endpoint without host":   {configured(map[string]any{"token_endpoint": "https:///token"}), fault.Upstream},
		"an endpoint that is no URL": {configured(map[string]any{"token_endpoint": "https://\x7f"}), fault.Upstream},
		"neither document":           {nil, fault.Upstream},
		"a statement without OAuth": {
			stated(reply(http.StatusOK, `{"resourceType":"CapabilityStatement"}`)),
			fault.Upstream,
		},
		"a web page for a statement":  {stated(reply(http.StatusOK, `<html></html>`)), fault.Upstream},
		"a statement of another kind": {stated(reply(http.StatusOK, `{"resourceType":"Bundle"}`)), fault.Upstream},
		"a statement that fails":      {stated(reply(http.StatusBadGateway, "")), fault.Unavailable},
		"a busy server":               {stated(reply(http.StatusTooManyRequests, "")), fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, test.answers)
			got, err := smart.Discover(t.Context(), doer(), e.URL+"/r4")
			if !errors.Is(err, test.kind) {
				t.Errorf("got %+v, %v; want %s", got, err, test.kind)
			}
		})
	}
}

func TestDiscoverRejectsHTTPEndpointsForHTTPSBase(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"http://login.example/token": false, "https://login.example/token": true,
		"token": true,
	} {
		canned := answering{body: configuration(t,
			map[string]any{"token_endpoint": text, "authorization_endpoint": "authorize"})}
		if _, err := smart.Discover(t.Context(), canned, "https://ehr.example/r4"); (err == nil) != want {
			t.Errorf("token endpoint %q: %v", text, err)
		}
	}
}

func TestDiscoverRejectsPrivateHosts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"login.example": true, "login.example.": true, "93.184.216.34": true, "[2606:2800:21f::1]": true,
		"localhost": false, "a.localhost": false, "127.0.0.1": false, "10.0.0.7": false, "169.254.169.254": false,
		"0.0.0.0": false,
		"[::1]":   false, "[fd00::1]": false, "[::ffff:10.0.0.7]": false, "0x7f000001": false, "2130706433": false,
		"127.1":         false,
		"löгin.example": false, "login.example:8443": true, "ehr.example": true,
	} {
		for _, member := range []string{"authorization_endpoint", "token_endpoint"} {
			canned := answering{body: configuration(t, map[string]any{
				"authorization_endpoint": "authorize", member: "https://" + host + "/x",
			})}
			if _, err := smart.Discover(t.Context(), canned, "https://ehr.example/r4"); (err == nil) != want {
				t.Errorf("%s at %s: %v", member, host, err)
			}
		}
	}
	// If the operator allows a base with a private address, the server's endpoints may use the same address.
	canned := answering{body: configuration(t,
		map[string]any{"authorization_endpoint": "authorize", "token_endpoint": "/token"})}
	if _, err := smart.Discover(t.Context(), canned, "https://127.0.0.1:8443/r4"); err != nil {
		t.Error(err)
	}
}

func TestDiscoverReportsUnavailableServer(t *testing.T) {
	t.Parallel()
	e := newEHR(t, nil)
	e.Close()
	if _, err := smart.Discover(t.Context(), doer(), e.URL); !errors.Is(err, fault.Unavailable) {
		t.Errorf("a closed port: %v", err)
	}
	if _, err := smart.Discover(t.Context(), doer(), "ehr.example"); !errors.Is(err, fault.Invalid) {
		t.Errorf("no address: %v", err)
	}
}
