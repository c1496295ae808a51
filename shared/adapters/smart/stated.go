package smart

import (
	"context"
	"net/http"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/fhir"
)

// Stated holds the contents of a server's SMART configuration verbatim, for an operator to compare with the service's
// requirements. Discover decides which parts of the configuration are used.
type Stated struct {
	// Absent lists the missing or empty members that SMART App Launch 2.2 (conformance, "Metadata") requires of servers
	// that support patient sign-in.
	Absent []string
	// Unused lists the members whose URLs Discover ignores: URLs that are malformed, private or not https, and
	// token-receiving URLs outside the token endpoint's origin.
	Unused           []string
	Issuer           string
	IssParameter     bool // whether authorization responses contain iss (RFC 9207 section 3)
	Methods          []string
	Algorithms       []string
	ChallengeMethods []string
	Capabilities     []string
	Grants           []string
	Scopes           []string
}

// ReadStated reads the SMART configuration of the server at fhirBase. The error reports a malformed base or is a
// *fhir.RequestError. The error's class is fhir.Content if a 2xx response is not a SMART configuration.
func ReadStated(ctx context.Context, doer Doer, fhirBase string) (Stated, error) {
	base, err := fhir.ParseBase(fhirBase)
	if err != nil {
		return Stated{}, err
	}
	document, err := fetcher{doer: doer, base: base}.configuration(ctx)
	if err != nil {
		return Stated{}, err
	}
	found, ok := readConfiguration(document)
	if !ok {
		return Stated{}, &fhir.RequestError{Class: fhir.Content, Status: http.StatusOK}
	}
	used, _ := authority(base, found) // the URLs in an unusable configuration are not used
	return found.stated(used), nil
}

// stated compares a configuration with the authority derived from it.
func (c configuration) stated(used flow.Authority) Stated {
	said := Stated{
		Issuer: c.issuer, IssParameter: c.issParameter, Methods: c.methods, Algorithms: c.algorithms,
		ChallengeMethods: c.challengeMethods,
		Capabilities:     c.capabilities, Grants: c.grants, Scopes: c.scopes,
	}
	for _, member := range []struct {
		name  string
		there bool
	}{
		{"authorization_endpoint", c.authorizationEndpoint != ""},
		{"capabilities", len(c.capabilities) > 0},
		{"code_challenge_methods_supported", len(c.challengeMethods) > 0},
		{"grant_types_supported", len(c.grants) > 0},
	} {
		if !member.there {
			said.Absent = append(said.Absent, member.name)
		}
	}
	for _, address := range [...]struct{ name, named, used string }{
		{"authorization_endpoint", c.authorizationEndpoint, used.AuthorizationEndpoint},
		{"token_endpoint", c.tokenEndpoint, used.TokenEndpoint},
		{"jwks_uri", c.keySet, used.KeySet},
		{"userinfo_endpoint", c.userinfo, used.Userinfo},
		{"revocation_endpoint", c.revocation, used.Revocation},
		{"introspection_endpoint", c.introspection, used.Introspection},
	} {
		if address.named != "" && address.used == "" {
			said.Unused = append(said.Unused, address.name)
		}
	}
	return said
}
