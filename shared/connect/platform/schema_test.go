package platform_test

import (
	"strings"
	"testing"

	"recordbridge/shared/connect/platform"
)

const good = `
name: A platform
client: {methods: [private_key_jwt], algorithms: [RS384], jwks: url}
authorize: {aud: base, pkce: S256, scopes: [openid], wildcard: true}
tokens: {rotation: rolling, patient: [token], extra: [practice]}
fhir: {query: {p: "Organization/{practice}"}, denials: [{status: 403}]}
sandbox: {fhir_base: "https://fhir.example.org/r4"}
sources: [a document]
`

func TestParseRejectsInvalidProfile(t *testing.T) {
	t.Parallel()
	if _, err := platform.Parse(good); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ part, replacement, want string }{
		"an unknown field":         {"name:", "nam:", "field nam not found"},
		"an unknown method":        {"methods: [private_key_jwt]", "methods: [mtls]", `client.methods: "mtls"`},
		"an address as a host":     {"name: A platform", "name: A platform\nhosts: [https://ehr.example]", "hosts:"},
		"a star inside a host":     {"name: A platform", "name: A platform\nhosts: [a.*.example]", "hosts:"},
		"no method":                {"methods: [private_key_jwt], ", "", "client.methods is missing"},
		"no algorithm":             {"algorithms: [RS384], ", "", "client.algorithms is missing"},
		"an algorithm of no use":   {"RS384", "HS256", `"HS256"`},
		"an unknown aud policy":    {"aud: base", "aud: host", "authorize.aud"},
		"plain PKCE":               {"S256", "plain", "authorize.pkce"},
		"nothing that may be read": {"wildcard: true", "wildcard: false", "set exactly one of"},
		"two ways to say it":       {"wildcard: true", "wildcard: true, types: [Patient]", "set exactly one of"},
		"an unknown rotation":      {"rotation: rolling", "rotation: often", "tokens.rotation"},
		"a field that nobody has":  {"extra: [practice]", "extra: [site]", "{practice} is not in tokens.extra"},
		"a second field, unknown":  {"{practice}", "{practice}/{site}", "{site} is not in tokens.extra"},
		"a field without a name":   {"{practice}", "{practice}{}", "{} is not in tokens.extra"},
		"a brace left open":        {"{practice}", "{practice}{", "fhir.query.p: unbalanced brace"},
		"a brace only closed":      {"{practice}", "practice}", "fhir.query.p: unbalanced brace"},
		"braces in braces":         {"{practice}", "{{practice}}", "fhir.query.p: unbalanced brace"},
		"a token as a field": {
			"[practice]", "[practice, access_token]",
			`"access_token" is not a field that can be kept`,
		},
		"a secret as a field": {
			"[practice]", "[practice, clientSecret]",
			`"clientSecret" is not a field that can be kept`,
		},
		"a field of many words":    {"[practice]", "[practice, a site]", `"a site" is not a field that can be kept`},
		"too many fields":          {"[practice]", "[practice, a, b, c, d, e, f, g, h]", "at most 8"},
		"a denial with success":    {"status: 403", "status: 200", "200 is not an error status"},
		"a page of less than none": {"denials:", "page_size: -1, denials:", "fhir.page_size: must be a number"},
		"requests without end": {
			"denials:", "rate: {in_flight: 5000}, denials:",
			"fhir.rate.in_flight: must be a number",
		},
		"a plain address":  {"https://", "http://", "sandbox.fhir_base"},
		"a trailing slash": {"/r4", "/r4/", "sandbox.fhir_base"},
		"no source":        {"sources: [a document]", "sources: []", "must cite its sources"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(good, tt.part) {
				t.Fatalf("the example does not hold %q", tt.part)
			}
			_, err := platform.Parse(strings.Replace(good, tt.part, tt.replacement, 1))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}
