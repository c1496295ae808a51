package platform

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"recordbridge/shared/connect/tokens"
)

// problems returns the profile's schema violations.
func (p Profile) problems() []error {
	c := &checker{}
	c.need("name", p.Name)
	for _, host := range p.Hosts {
		if !hostName.MatchString(host) {
			c.failf("hosts: %q is not a lower-case host name, nor *. followed by one", host)
		}
	}
	c.oneOf("client.methods", p.Client.Methods, "private_key_jwt", "client_secret_basic", "client_secret_post", "public")
	if slices.Contains(p.Client.Methods, "private_key_jwt") {
		c.oneOf("client.algorithms", p.Client.Algorithms, "RS384", "ES384")
		c.oneOf("client.jwks", []string{p.Client.JWKS}, "url", "inline")
	}
	if p.Client.Basic != "" {
		c.oneOf("client.basic", []string{p.Client.Basic}, "raw")
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
		c.failf("authorize: set exactly one of wildcard, types and at_registration")
	}
	c.oneOf("tokens.rotation", []string{p.Tokens.Rotation}, "none", "rolling", "one-time", "absent", "unknown")
	c.oneOf("tokens.patient", p.Tokens.Patient, "token", "id_token", "access_token", "userinfo", "search")
	if p.Tokens.Introspection != "" {
		c.oneOf("tokens.introspection", []string{p.Tokens.Introspection}, "client", "bearer")
	}
	c.fields(p)
	c.asking(p.FHIR)
	for name, address := range map[string]string{
		"sandbox.fhir_base":        p.Sandbox.FHIRBase,
		"tokens.introspection_url": p.Tokens.Introspect,
	} {
		if u, err := url.Parse(address); address != "" &&
			(err != nil || u.Scheme != "https" || strings.HasSuffix(address, "/")) {
			c.failf("%s: want an https URL without a trailing slash", name)
		}
	}
	if len(p.Sources) == 0 {
		c.failf("sources: a profile must cite its sources")
	}
	return c.found
}

// maxNumber is the upper limit for numeric query settings.
const maxNumber = 1000

// hostName matches a host name with at least two labels. The first label may be a wildcard.
var hostName = regexp.MustCompile(`^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$`)

// placeholder matches a reference to a token response field, as in Organization/{ah_practice}.
var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// fields returns, in sorted order, the token response fields to which the profile's placeholders refer, but not fields
// that are only listed.
func (p Profile) fields() []string {
	var names []string
	for _, value := range p.FHIR.Query {
		for _, found := range placeholder.FindAllStringSubmatch(value, -1) {
			names = append(names, found[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
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

// fields checks the token response fields that the profile retains. A parameter with a placeholder for any other field
// would never be sent.
func (c *checker) fields(p Profile) {
	if len(p.Tokens.Extra) > tokens.MaxExtra {
		c.failf("tokens.extra: at most %d fields are kept", tokens.MaxExtra)
	}
	for _, name := range p.Tokens.Extra {
		if !tokens.MayBeExtra(name) {
			c.failf("tokens.extra: %q is not a field that can be kept", name)
		}
	}
	for name, value := range p.FHIR.Query {
		if strings.ContainsAny(placeholder.ReplaceAllString(value, ""), "{}") {
			c.failf("fhir.query.%s: unbalanced brace", name)
		}
	}
	for _, name := range p.fields() {
		if !slices.Contains(p.Tokens.Extra, name) {
			c.failf("fhir.query: {%s} is not in tokens.extra", name)
		}
	}
}

// asking checks the FHIR server's query settings in a profile.
func (c *checker) asking(f FHIR) {
	for _, d := range f.Denials {
		if d.Status < 400 || d.Status > 599 {
			c.failf("fhir.denials: %d is not an error status", d.Status)
		}
	}
	for name, number := range map[string]int{"page_size": f.PageSize, "rate.in_flight": f.Rate.InFlight} {
		if number < 0 || number > maxNumber {
			c.failf("fhir.%s: must be a number from 0 (unknown) to %d", name, maxNumber)
		}
	}
}

// oneOf requires at least one value and requires every value to be known.
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
