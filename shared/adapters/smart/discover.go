package smart

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/fhir"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// maxConfiguration is the maximum size of a smart-configuration in bytes.
const maxConfiguration = 1 << 20

// configuration holds the members of .well-known/smart-configuration that this package reads (SMART App Launch 2.2,
// conformance).
type configuration struct {
	issuer                string
	authorizationEndpoint string
	tokenEndpoint         string
	keySet                string
	userinfo              string
	revocation            string
	introspection         string
	brandBundle           string
	methods               []string
	algorithms            []string
	challengeMethods      []string
	capabilities          []string
	grants                []string
	scopes                []string
	issParameter          bool
}

// readConfiguration parses a smart-configuration. ok is false if the document is invalid or has no token endpoint.
func readConfiguration(document []byte) (found configuration, ok bool) {
	var read answer
	if json.Unmarshal(document, &read) != nil {
		return configuration{}, false
	}
	found = configuration{
		issuer:                read.text("issuer"),
		authorizationEndpoint: read.text("authorization_endpoint"),
		tokenEndpoint:         read.text("token_endpoint"),
		keySet:                read.text("jwks_uri"),
		userinfo:              read.text("userinfo_endpoint"),
		revocation:            read.text("revocation_endpoint"),
		introspection:         read.text("introspection_endpoint"),
		brandBundle:           read.text("user_access_brand_bundle"),
		methods:               read.words("token_endpoint_auth_methods_supported"),
		algorithms:            read.words("token_endpoint_auth_signing_alg_values_supported"),
		challengeMethods:      read.words("code_challenge_methods_supported"),
		capabilities:          read.words("capabilities"),
		grants:                read.words("grant_types_supported"),
		scopes:                read.words("scopes_supported"),
		issParameter:          string(read["authorization_response_iss_parameter_supported"]) == "true",
	}
	return found, found.tokenEndpoint != ""
}

// configurationError is the class of a defect in a smart-configuration.
type configurationError string

const (
	errNoS256     configurationError = "no_s256"     // the server lists code challenge methods but not S256
	errNoEndpoint configurationError = "no_endpoint" // the server has no usable authorization or token endpoint
)

// Error implements error.
func (m configurationError) Error() string { return "smart discovery: " + string(m) }

// Failure returns the error's class, which fault.Spot records for the log line.
func (m configurationError) Failure() (class string, status int) { return string(m), 0 }

// Discover reads the SMART configuration of the server at fhirBase. The returned URLs are absolute and don't contain
// user information or fragments. The URLs use https; http is accepted only if the FHIR base also uses http.
//
// If a server has no configuration, Discover reads the endpoints from an extension of its CapabilityStatement (SMART
// App Launch 1.0). Servers without a SMART configuration predate PKCE. Servers whose configuration lists no code
// challenge methods either predate PKCE or don't advertise it. Discover therefore can't require PKCE of a server that
// lists no code challenge methods, with or without a configuration. Every server receives the challenge anyway, and
// ignores it if it doesn't support PKCE (RFC 6749 section 3.1, RFC 7636 section 5). An attacker who removes the list of
// code challenge methods in transit therefore gains nothing. A list without S256 is rejected, because the plain method
// does not protect a code from an attacker who observed the request.
//
// Discover returns fault.Invalid for a malformed base, fault.Unavailable if the server is temporarily unavailable, and
// fault.Upstream if the server's response is unusable. fault.Unavailable and fault.Upstream errors carry a fault.Spot.
func Discover(ctx context.Context, doer Doer, fhirBase string) (flow.Authority, error) {
	base, err := fhir.ParseBase(fhirBase)
	if err != nil {
		return flow.Authority{}, fault.BadRequest("The FHIR base URL is not valid.").Because(err)
	}
	spot := fault.Spot{Step: fault.StepDiscovery, Host: fault.HostOf(fhirBase)}
	stated, missing := fetchConfiguration(ctx, fetcher{doer: doer, base: base})
	var found flow.Authority
	switch {
	case missing == nil:
		found, err = authority(base, stated)
		return found, spot.Failed(err)
	case isUnanswered(missing), errors.Is(missing, errNoS256):
		return flow.Authority{}, spot.Failed(unusable(missing))
	}
	found, err = substitute(ctx, doer, base)
	if err != nil {
		// The configuration's defect is more informative than the fallback's error.
		spot = fault.SpotOf(spot.Failed(missing))
		return flow.Authority{}, spot.Failed(err)
	}
	found.Substitute = isTemporary(missing)
	return found, nil
}

// fetchConfiguration reads the smart-configuration. The error is a *fhir.RequestError or a configurationError.
func fetchConfiguration(ctx context.Context, from fetcher) (configuration, error) {
	document, err := from.configuration(ctx)
	if err != nil {
		return configuration{}, err
	}
	found, ok := readConfiguration(document)
	switch {
	case !ok:
		return configuration{}, errNoEndpoint
	case len(found.challengeMethods) > 0 && !slices.Contains(found.challengeMethods, "S256"):
		return configuration{}, errNoS256
	}
	return found, nil
}

// substitute builds an authority from the CapabilityStatement of a server without a usable SMART configuration.
func substitute(ctx context.Context, doer Doer, base fhir.Base) (flow.Authority, error) {
	document, err := Metadata(ctx, doer, base.String())
	if err != nil {
		return flow.Authority{}, unusable(err)
	}
	capability, err := fhir.ParseCapability(document)
	if err != nil {
		return flow.Authority{}, unusable(err)
	}
	return authority(base, configuration{
		authorizationEndpoint: capability.OAuth.Authorize,
		tokenEndpoint:         capability.OAuth.Token,
		revocation:            capability.OAuth.Revoke,
		introspection:         capability.OAuth.Introspect,
	})
}

func (f fetcher) configuration(ctx context.Context) ([]byte, error) {
	return f.get(ctx, f.base.Join(".well-known", "smart-configuration"), "application/json", maxConfiguration,
		secret.Text{})
}

// Metadata reads the CapabilityStatement of the server at fhirBase, up to fhir.MaxPage bytes. Metadata doesn't send a
// token, because the document is public. The error is a *fhir.RequestError unless the base is malformed.
func Metadata(ctx context.Context, doer Doer, fhirBase string) ([]byte, error) {
	base, err := fhir.ParseBase(fhirBase)
	if err != nil {
		return nil, err
	}
	return fetcher{doer: doer, base: base}.get(ctx, base.Join("metadata"), acceptFHIR, fhir.MaxPage, secret.Text{})
}

// authority checks a configuration's URLs and builds an authority. Invalid optional URLs are omitted, because a
// connection works without them.
func authority(base fhir.Base, found configuration) (flow.Authority, error) {
	authorize, authorizeOK := endpoint(base, found.authorizationEndpoint)
	token, tokenOK := endpoint(base, found.tokenEndpoint)
	if !authorizeOK || !tokenOK || len(found.issuer) > maxAddress {
		return flow.Authority{}, unusable(errNoEndpoint)
	}
	checked := flow.Authority{
		Issuer:                found.issuer,
		AuthorizationEndpoint: authorize,
		TokenEndpoint:         token,
		// Without an issuer, the iss parameter can't be checked, because the expected value is unknown.
		IssRequired: found.issParameter && found.issuer != "",
		S256:        slices.Contains(found.challengeMethods, "S256"),
		Methods:     among(found.methods, "private_key_jwt", "client_secret_basic", "client_secret_post", "none"),
		Algorithms:  among(found.algorithms, "RS384", "ES384"),
	}
	checked.Scope, checked.Access = clinicalScope(found.capabilities, found.scopes)
	if keys, ok := endpoint(base, found.keySet); ok {
		checked.KeySet = keys
	}
	if bundle, ok := endpoint(base, found.brandBundle); ok {
		checked.BrandBundle = bundle
	}
	checked.Userinfo = beside(token, base, found.userinfo)
	checked.Revocation = beside(token, base, found.revocation)
	checked.Introspection = beside(token, base, found.introspection)
	return checked, nil
}

// beside resolves the URL of an endpoint that receives tokens. It returns "" unless the URL has the same origin as the
// token endpoint, which receives all tokens anyway.
func beside(token string, base fhir.Base, text string) string {
	if address, ok := endpoint(base, text); ok && sameOrigin(address, token) {
		return address
	}
	return ""
}

// among returns the elements of known that are also in list, in the order of known.
func among(list []string, known ...string) []string {
	return slices.DeleteFunc(known, func(one string) bool { return !slices.Contains(list, one) })
}

func isUnanswered(err error) bool {
	failure, ok := errors.AsType[*fhir.RequestError](err)
	return ok && failure.Class == fhir.Network
}

func isTemporary(err error) bool {
	failure, ok := errors.AsType[*fhir.RequestError](err)
	return ok && (failure.Class == fhir.Network || failure.Class == fhir.ServerFault || failure.Class == fhir.Limited)
}

// unusable returns fault.Unavailable if the cause is temporary, and fault.Upstream otherwise.
func unusable(cause error) error {
	if failure, ok := errors.AsType[*fhir.RequestError](cause); ok && isTemporary(cause) {
		return unavailable(cause, failure.RetryAfter)
	}
	return fault.New(fault.Upstream, fault.CodeUnavailable,
		"The health system's sign-in service can't be used.").Because(cause)
}

// unavailable returns a fault.Unavailable for a request that may be retried after at least wait.
func unavailable(cause error, wait time.Duration) error {
	return fault.New(fault.Unavailable, fault.CodeUnavailable,
		"The health system did not respond. Please try again later.").After(wait).Because(cause)
}
