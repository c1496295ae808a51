package smart

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"

	"recordbridge/shared/fault"
	"recordbridge/shared/fhir"
	"recordbridge/shared/secret"
)

// maxConfiguration is the largest smart-configuration in bytes.
const maxConfiguration = 1 << 20

// Server is what discovery says about a health system's authorization server. Its addresses are absolute, https
// (http only where the FHIR base is http, too) and free of user information and fragments.
type Server struct {
	Issuer                string // empty when not stated
	AuthorizationEndpoint string
	TokenEndpoint         string
	// IssParameter says that the answer to the redirect URI must carry iss, equal to Issuer (RFC 9207 section 2.4).
	IssParameter bool
}

// configuration is the part of .well-known/smart-configuration that is read (SMART App Launch 2.2, conformance).
type configuration struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	IssParameter          bool     `json:"authorization_response_iss_parameter_supported"`
}

var (
	errNoS256     = errors.New("smart discovery: S256 is not among the code challenge methods")
	errNoEndpoint = errors.New("smart discovery: no usable authorization or token endpoint")
)

// Discover reads the SMART configuration of the server at fhirBase. A server without one is asked for its
// CapabilityStatement, whose extension names the endpoints (SMART App Launch 1.0); it predates PKCE, so nothing can
// be required of it there, and it ignores the challenge that is sent anyway. Errors: fault.Invalid for a malformed
// base, fault.Unavailable when the server did not answer, fault.Upstream when what it answered is of no use.
func (c *Client) Discover(ctx context.Context, fhirBase string) (Server, error) {
	base, err := fhir.ParseBase(fhirBase)
	if err != nil {
		return Server{}, fault.BadRequest("The FHIR base URL is not valid.").Because(err)
	}
	from := fetcher{doer: c.doer, base: base}
	address := base.Join(".well-known", "smart-configuration")
	document, err := from.get(ctx, address, "application/json", maxConfiguration, secret.Text{})
	var found configuration
	switch {
	case isUnanswered(err):
		return Server{}, unusable(err)
	case err == nil && json.Unmarshal(document, &found) == nil && found.TokenEndpoint != "":
		if !slices.Contains(found.ChallengeMethods, "S256") {
			return Server{}, unusable(errNoS256)
		}
		return server(base, found)
	}
	document, err = from.get(ctx, base.Join("metadata"), acceptFHIR, fhir.MaxPage, secret.Text{})
	if err != nil {
		return Server{}, unusable(err)
	}
	capability, err := fhir.ParseCapability(document)
	if err != nil {
		return Server{}, unusable(err)
	}
	return server(base, configuration{
		AuthorizationEndpoint: capability.OAuth.Authorize,
		TokenEndpoint:         capability.OAuth.Token,
	})
}

// server checks the addresses of a configuration.
func server(base fhir.Base, found configuration) (Server, error) {
	authorize, authorizeOK := endpoint(base, found.AuthorizationEndpoint)
	token, tokenOK := endpoint(base, found.TokenEndpoint)
	if !authorizeOK || !tokenOK {
		return Server{}, unusable(errNoEndpoint)
	}
	return Server{
		Issuer:                found.Issuer,
		AuthorizationEndpoint: authorize,
		TokenEndpoint:         token,
		// Without an issuer there is nothing to compare iss with.
		IssParameter: found.IssParameter && found.Issuer != "",
	}, nil
}

// endpoint resolves an address of a configuration against the FHIR base, as SMART has it, and checks it.
func endpoint(base fhir.Base, text string) (address string, ok bool) {
	root, err := url.Parse(base.String() + "/")
	if err != nil || text == "" {
		return "", false
	}
	target, err := root.Parse(text)
	if err != nil || target.Host == "" || target.User != nil || target.Fragment != "" || target.Opaque != "" {
		return "", false
	}
	return target.String(), target.Scheme == "https" || target.Scheme == "http" && root.Scheme == "http"
}

func isUnanswered(err error) bool {
	failure, ok := errors.AsType[*fhir.RequestError](err)
	return ok && failure.Class == fhir.Network
}

// unusable makes the error of a discovery that failed because of cause.
func unusable(cause error) error {
	if failure, ok := errors.AsType[*fhir.RequestError](cause); ok {
		switch failure.Class { //nolint:exhaustive // every other class is a lasting answer
		case fhir.Network, fhir.ServerFault, fhir.Limited:
			return fault.New(fault.Unavailable, fault.CodeUnavailable,
				"The health system did not answer. Please try again later.").Because(cause)
		}
	}
	return fault.New(fault.Upstream, fault.CodeServerError,
		"The health system's sign-in service cannot be used.").Because(cause)
}
