package smart

import (
	"context"
	"net/http"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/fhir"
)

// Stated is what a server's SMART configuration says of itself, as it stands there, for an operator who compares it
// with what we need. What of it is used, Discover decides.
type Stated struct {
	// Absent are the members without which SMART App Launch 2.2 (conformance, "Metadata") has no server that patients sign
	// in at, and that are missing or empty.
	Absent []string
	// Unused are those whose addresses Discover passes over: malformed, not https, private, or, of what is shown tokens,
	// at another origin than the token endpoint's.
	Unused           []string
	Issuer           string
	IssParameter     bool // authorization answers carry iss (RFC 9207 section 3)
	Methods          []string
	Algorithms       []string
	ChallengeMethods []string
	Capabilities     []string
	Grants           []string
	Scopes           []string
}

// ReadStated reads the SMART configuration of the server at fhirBase. The error is that of a malformed base, or
// *fhir.RequestError, of class fhir.Content for a good answer that is no SMART configuration.
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
	used, _ := authority(base, found) // one that cannot be used uses none of its addresses
	return found.stated(used), nil
}

// stated compares what a configuration says with what is used of it.
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
