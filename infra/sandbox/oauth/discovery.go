package oauth

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"recordbridge/infra/sandbox/scope"
	"recordbridge/infra/sandbox/switches"
)

// Endpoints holds the server's absolute URLs, as listed in the discovery document and the CapabilityStatement.
type Endpoints struct{ Authorize, Token, Revoke, Introspect string }

// Endpoints returns the server's URLs.
func (p *profile) Endpoints() Endpoints {
	at := Endpoints{
		Authorize:  p.issuer + "/oauth/authorize",
		Token:      p.issuer + "/oauth/token",
		Revoke:     p.issuer + "/oauth/revoke",
		Introspect: p.issuer + "/oauth/introspect",
	}
	if p.tokenMoved {
		at.Token += "/moved"
	}

	return at
}

// discoveryEndpoints serves the documents that a client reads before sign-in. It has no access to authorization codes,
// tokens or grants.
type discoveryEndpoints struct {
	*profile
	responder

	registry *registry
	scopes   *scopeRules
	signer   *signer
}

// Discovery serves GET {FHIR base}/.well-known/smart-configuration.
func (e *discoveryEndpoints) Discovery(w http.ResponseWriter, _ *http.Request) {
	at := e.Endpoints()
	capabilities, methods := e.registry.clientKinds()
	document := map[string]any{
		"issuer":                                         e.issuer,
		"authorization_endpoint":                         e.address(at.Authorize),
		"token_endpoint":                                 e.address(at.Token),
		"revocation_endpoint":                            e.address(at.Revoke),
		"introspection_endpoint":                         e.address(at.Introspect),
		"grant_types_supported":                          []string{grantCode, grantRefresh},
		"response_types_supported":                       []string{"code"},
		"code_challenge_methods_supported":               []string{"S256"},
		"scopes_supported":                               e.supportedScopes(),
		"token_endpoint_auth_methods_supported":          methods,
		"capabilities":                                   slices.Concat(e.launchCapabilities(), capabilities),
		"authorization_response_iss_parameter_supported": !e.with.Is(switches.Issuer, "missing"),
	}
	if slices.Contains(methods, methodKeys) {
		document["token_endpoint_auth_signing_alg_values_supported"] = []string{"RS384", "ES384"}
	}
	if e.identifies() {
		document["jwks_uri"] = e.address(e.issuer + "/oauth/jwks")
	}
	if e.with.Has(switches.PatientUserinfo) {
		document["userinfo_endpoint"] = e.address(e.issuer + "/oauth/userinfo")
	}
	if e.with.Has(switches.DiscoveryNoS256) {
		delete(document, "code_challenge_methods_supported")
	}
	if omitted := e.with.Text(switches.OmitEndpoint); omitted != "" {
		delete(document, omitted+"_endpoint")
	}
	e.deceive(document)
	e.writeJSON(w, http.StatusOK, document)
}

// otherPortal is the origin of a hostile portal's foreign URLs. The host name is reserved and never resolves (RFC
// 2606).
const otherPortal = "https://mulberry-hospital.example"

// deceive modifies a discovery document as an attacker's portal would (RFC 9700 section 4.4).
func (e *discoveryEndpoints) deceive(document map[string]any) {
	switch e.with.Text(switches.Hostile) {
	case "no-issuer":
		delete(document, "issuer")
	case "other-issuer":
		document["issuer"] = otherPortal
	case "other-sign-in":
		document["authorization_endpoint"] = otherPortal + "/authorize"
	case "other-token":
		document["token_endpoint"] = otherPortal + "/token"
	case "this-service":
		api, _, _ := strings.Cut(e.issuer, "/sandbox")
		document["authorization_endpoint"] = api + "/bridge/connect?attempt=theirs"
	}
}

// address returns an endpoint's absolute or relative URL as published in the discovery document.
func (e *discoveryEndpoints) address(absolute string) string {
	parsed, err := url.Parse(absolute)
	if err != nil || !e.with.Has(switches.DiscoveryRelative) {
		return absolute
	}
	// An absolute path resolves to the same URL whether or not the client appends a slash to the FHIR base URL.
	return parsed.Path
}

func (e *discoveryEndpoints) launchCapabilities() []string {
	all := []string{
		"launch-standalone", "context-standalone-patient", "permission-patient", "permission-offline",
		"permission-online", "permission-v1", "permission-v2",
	}
	if e.identifies() {
		all = append(all, "sso-openid-connect")
	}

	return slices.DeleteFunc(all, func(one string) bool {
		return one == "context-standalone-patient" && e.with.Has(switches.PatientUnnamed) ||
			one == "permission-v2" && !e.scopes.speaks("patient/Patient.rs") ||
			one == "permission-v1" && !e.scopes.speaks("patient/Patient.read")
	})
}

func (e *discoveryEndpoints) supportedScopes() []string {
	all := scope.Supported()
	if rights := e.scopes.listsTypes(); rights != "" {
		all = append(all, scope.Listed(rights)...)
	}
	if e.identifies() {
		all = append(all, scopeOpenID, scopeFHIRUser)
	}

	return slices.DeleteFunc(all, func(one string) bool {
		return !e.scopes.speaks(one) || e.scopes.asksWildcard(one)
	})
}

// clientKinds returns the client capabilities and authentication methods to advertise.
func (g *registry) clientKinds() (capabilities, methods []string) {
	kinds := []struct {
		capability string
		methods    []string
		is         func(Client) bool
	}{
		{"client-public", []string{methodNone}, Client.public},
		{"client-confidential-symmetric", []string{methodBasic, methodPost}, func(c Client) bool { return c.Secret != "" }},
		{"client-confidential-asymmetric", []string{methodKeys}, func(c Client) bool { return len(c.Keys.Keys) > 0 }},
	}
	demanded := g.with.Text(switches.ClientAuth)
	for _, kind := range kinds {
		if demanded == "" && g.hasClient(kind.is) || slices.Contains(kind.methods, demanded) {
			capabilities = append(capabilities, kind.capability)
			methods = append(methods, kind.methods...)
		}
	}
	if demanded != "" {
		methods = []string{demanded}
	}

	return capabilities, methods
}

func (g *registry) hasClient(matches func(Client) bool) bool {
	for id := range g.clients {
		if client, _ := g.client(id); matches(client) {
			return true
		}
	}

	return false
}
