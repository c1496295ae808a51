package oauth

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"recordbridge/infra/sandbox/scope"
	"recordbridge/infra/sandbox/switches"
)

// Endpoints are the absolute URLs of the server, shared by the discovery document and the CapabilityStatement.
type Endpoints struct{ Authorize, Token, Revoke, Introspect string }

// Endpoints returns the server's URLs.
func (s *Server) Endpoints() Endpoints {
	at := Endpoints{
		Authorize:  s.issuer + "/oauth/authorize",
		Token:      s.issuer + "/oauth/token",
		Revoke:     s.issuer + "/oauth/revoke",
		Introspect: s.issuer + "/oauth/introspect",
	}
	if s.tokenMoved {
		at.Token += "/moved"
	}

	return at
}

// Discovery answers GET {FHIR base}/.well-known/smart-configuration.
func (s *Server) Discovery(w http.ResponseWriter, _ *http.Request) {
	at := s.Endpoints()
	capabilities, methods := s.clientKinds()
	document := map[string]any{
		"issuer":                                         s.issuer,
		"authorization_endpoint":                         s.address(at.Authorize),
		"token_endpoint":                                 s.address(at.Token),
		"revocation_endpoint":                            s.address(at.Revoke),
		"introspection_endpoint":                         s.address(at.Introspect),
		"grant_types_supported":                          []string{grantCode, grantRefresh},
		"response_types_supported":                       []string{"code"},
		"code_challenge_methods_supported":               []string{"S256"},
		"scopes_supported":                               s.supportedScopes(),
		"token_endpoint_auth_methods_supported":          methods,
		"capabilities":                                   slices.Concat(s.launchCapabilities(), capabilities),
		"authorization_response_iss_parameter_supported": !s.with.Is(switches.Issuer, "missing"),
	}
	if slices.Contains(methods, methodKeys) {
		document["token_endpoint_auth_signing_alg_values_supported"] = []string{"RS384", "ES384"}
	}
	if s.identifies() {
		document["jwks_uri"] = s.address(s.issuer + "/oauth/jwks")
	}
	if s.with.Has(switches.PatientUserinfo) {
		document["userinfo_endpoint"] = s.address(s.issuer + "/oauth/userinfo")
	}
	if s.with.Has(switches.DiscoveryNoS256) {
		delete(document, "code_challenge_methods_supported")
	}
	if omitted := s.with.Text(switches.OmitEndpoint); omitted != "" {
		delete(document, omitted+"_endpoint")
	}
	s.deceive(document)
	s.writeJSON(w, http.StatusOK, document)
}

// otherPortal is whose addresses a hostile portal names: a host that nobody has (RFC 2606).
const otherPortal = "https://mulberry-hospital.example"

// deceive makes the document that of a portal that attacks (RFC 9700 section 4.4).
func (s *Server) deceive(document map[string]any) {
	switch s.with.Text(switches.Hostile) {
	case "no-issuer":
		delete(document, "issuer")
	case "other-issuer":
		document["issuer"] = otherPortal
	case "other-sign-in":
		document["authorization_endpoint"] = otherPortal + "/authorize"
	case "other-token":
		document["token_endpoint"] = otherPortal + "/token"
	case "this-service":
		api, _, _ := strings.Cut(s.issuer, "/sandbox")
		document["authorization_endpoint"] = api + "/bridge/connect?attempt=theirs"
	}
}

// address is an endpoint as the discovery document names it.
func (s *Server) address(absolute string) string {
	parsed, err := url.Parse(absolute)
	if err != nil || !s.with.Has(switches.DiscoveryRelative) {
		return absolute
	}
	// A path from the root means the same whether or not a client adds a slash to the FHIR base.
	return parsed.Path
}

func (s *Server) launchCapabilities() []string {
	all := []string{
		"launch-standalone", "context-standalone-patient", "permission-patient", "permission-offline",
		"permission-online", "permission-v1", "permission-v2",
	}
	if s.identifies() {
		all = append(all, "sso-openid-connect")
	}

	return slices.DeleteFunc(all, func(one string) bool {
		return one == "context-standalone-patient" && s.with.Has(switches.PatientUnnamed) ||
			one == "permission-v2" && !s.speaks("patient/Patient.rs") ||
			one == "permission-v1" && !s.speaks("patient/Patient.read")
	})
}

func (s *Server) supportedScopes() []string {
	all := scope.Supported()
	if rights := s.listsTypes(); rights != "" {
		all = append(all, scope.Listed(rights)...)
	}
	if s.identifies() {
		all = append(all, scopeOpenID, scopeFHIRUser)
	}

	return slices.DeleteFunc(all, func(one string) bool {
		return !s.speaks(one) || s.asksWildcard(one)
	})
}

// clientKinds are the capabilities and the authentication methods of the clients that are registered.
func (s *Server) clientKinds() (capabilities, methods []string) {
	kinds := []struct {
		capability string
		methods    []string
		is         func(Client) bool
	}{
		{"client-public", []string{methodNone}, Client.public},
		{"client-confidential-symmetric", []string{methodBasic, methodPost}, func(c Client) bool { return c.Secret != "" }},
		{"client-confidential-asymmetric", []string{methodKeys}, func(c Client) bool { return len(c.Keys.Keys) > 0 }},
	}
	demanded := s.with.Text(switches.ClientAuth)
	for _, kind := range kinds {
		if demanded == "" && s.hasClient(kind.is) || slices.Contains(kind.methods, demanded) {
			capabilities = append(capabilities, kind.capability)
			methods = append(methods, kind.methods...)
		}
	}
	if demanded != "" {
		methods = []string{demanded}
	}

	return capabilities, methods
}

func (s *Server) hasClient(matches func(Client) bool) bool {
	for id := range s.clients {
		if client, _ := s.client(id); matches(client) {
			return true
		}
	}

	return false
}
