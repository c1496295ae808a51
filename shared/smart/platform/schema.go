package platform

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// problems lists what the schema does not allow.
func (p Profile) problems() []error {
	c := &checker{}
	c.need("name", p.Name)
	c.oneOf("client.methods", p.Client.Methods, "private_key_jwt", "client_secret_basic", "client_secret_post", "public")
	if slices.Contains(p.Client.Methods, "private_key_jwt") {
		c.oneOf("client.algorithms", p.Client.Algorithms, "RS384", "ES384")
		c.oneOf("client.jwks", []string{p.Client.JWKS}, "url", "inline")
	}
	c.oneOf("authorize.aud", []string{p.Authorize.Aud}, "base", "trimmed", "none")
	c.oneOf("authorize.pkce", []string{p.Authorize.PKCE}, "S256", "none")
	ways := 0
	for _, chosen := range []bool{p.Authorize.Wildcard, len(p.Authorize.Types) > 0, p.Authorize.Registered} {
		if chosen {
			ways++
		}
	}
	if ways != 1 {
		c.failf("authorize: one of wildcard, types and at_registration says what may be read")
	}
	c.oneOf("tokens.rotation", []string{p.Tokens.Rotation}, "none", "rolling", "one-time", "absent", "unknown")
	c.oneOf("tokens.patient", p.Tokens.Patient, "token", "id_token", "access_token", "userinfo", "search")
	if p.Tokens.Introspection != "" {
		c.oneOf("tokens.introspection", []string{p.Tokens.Introspection}, "client", "bearer")
	}
	for name, value := range p.FHIR.Query {
		if field, ok := placeholder(value); ok && !slices.Contains(p.Tokens.Extra, field) {
			c.failf("fhir.query.%s: {%s} is no field of tokens.extra", name, field)
		}
	}
	for _, d := range p.FHIR.Denials {
		if d.Status < 400 || d.Status > 599 {
			c.failf("fhir.denials: %d is no status of a refusal", d.Status)
		}
	}
	for name, address := range map[string]string{"sandbox.fhir_base": p.Sandbox.FHIRBase, "tokens.introspection_url": p.Tokens.Introspect} {
		if u, err := url.Parse(address); address != "" && (err != nil || u.Scheme != "https" || strings.HasSuffix(address, "/")) {
			c.failf("%s: want an https URL without a trailing slash", name)
		}
	}
	if len(p.Sources) == 0 {
		c.failf("sources: a profile says what it rests on")
	}
	return c.found
}

// placeholder finds the name in a value such as Organization/{ah_practice}.
func placeholder(value string) (string, bool) {
	_, rest, opened := strings.Cut(value, "{")
	name, _, closed := strings.Cut(rest, "}")
	return name, opened && closed
}

type checker struct{ found []error }

func (c *checker) failf(format string, arguments ...any) {
	c.found = append(c.found, fmt.Errorf(format, arguments...))
}

func (c *checker) need(name, value string) {
	if value == "" {
		c.failf("%s is missing", name)
	}
}

// oneOf wants at least one value, and all of them known.
func (c *checker) oneOf(name string, values []string, known ...string) {
	if len(values) == 0 {
		c.failf("%s is missing", name)
	}
	for _, value := range values {
		if !slices.Contains(known, value) {
			c.failf("%s: %q is none of %s", name, value, strings.Join(known, ", "))
		}
	}
}
