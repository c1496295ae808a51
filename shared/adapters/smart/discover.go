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

// maxConfiguration is the largest smart-configuration in bytes.
const maxConfiguration = 1 << 20

// configuration is the part of .well-known/smart-configuration that is read (SMART App Launch 2.2, conformance).
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

// readConfiguration reads a smart-configuration; ok is false for a document that is none.
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

// misfit is what a configuration lacks that can be read.
type misfit string

const (
	errNoS256     misfit = "no_s256"     // there are code challenge methods, but not S256
	errNoEndpoint misfit = "no_endpoint" // no usable authorization or token endpoint
)

// Error implements error.
func (m misfit) Error() string { return "smart discovery: " + string(m) }

// Failure tells the class for a log line (fault.Spot).
func (m misfit) Failure() (class string, status int) { return string(m), 0 }

// Discover reads the SMART configuration of the server at fhirBase. Its addresses are absolute, https (http only where
// the FHIR base is http, too) and free of user information and fragments. A server without one is asked for its
// CapabilityStatement, whose extension names the endpoints (SMART App Launch 1.0). Such a server predates PKCE, and so
// does, or says nothing of it, one whose configuration lists no code challenge methods. Nothing can be required of
// them; they get the challenge all the same, and ignore it if they do not know it (RFC 6749 section 3.1, RFC 7636
// section 5). So whoever takes S256 off a list on its way to us weakens nothing. A list without S256 is refused: plain
// protects no code whose request was seen. Errors: fault.Invalid for a malformed base, fault.Unavailable when the
// server did not answer, fault.Upstream when what it answered is of no use; both tell their fault.Spot.
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
		// what is wrong with the configuration says more than what its substitute lacks
		spot = fault.SpotOf(spot.Failed(missing))
		return flow.Authority{}, spot.Failed(err)
	}
	found.Substitute = passes(missing)
	return found, nil
}

// fetchConfiguration reads the smart-configuration. The error is *fhir.RequestError, or what the document lacks.
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

// substitute takes what the CapabilityStatement says.
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

// configuration reads the document of the SMART configuration.
func (f fetcher) configuration(ctx context.Context) ([]byte, error) {
	return f.get(ctx, f.base.Join(".well-known", "smart-configuration"), "application/json", maxConfiguration,
		secret.Text{})
}

// Metadata reads the CapabilityStatement of the server at fhirBase, of at most fhir.MaxPage bytes, without a token,
// since servers publish it to everyone. The error is *fhir.RequestError, or that of a malformed base.
func Metadata(ctx context.Context, doer Doer, fhirBase string) ([]byte, error) {
	base, err := fhir.ParseBase(fhirBase)
	if err != nil {
		return nil, err
	}
	return fetcher{doer: doer, base: base}.get(ctx, base.Join("metadata"), acceptFHIR, fhir.MaxPage, secret.Text{})
}

// authority checks the addresses of a configuration. Without the optional ones a connection still works.
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
		// Without an issuer nobody is held to the promise, since it is not known what exactly has to come.
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

// beside checks an address that is shown tokens: it must be at the token endpoint's own origin, which knows them all.
func beside(token string, base fhir.Base, text string) string {
	if address, ok := endpoint(base, text); ok && sameOrigin(address, token) {
		return address
	}
	return ""
}

// among returns what is known of a list, in the order of the known.
func among(list []string, known ...string) []string {
	return slices.DeleteFunc(known, func(one string) bool { return !slices.Contains(list, one) })
}

func isUnanswered(err error) bool {
	failure, ok := errors.AsType[*fhir.RequestError](err)
	return ok && failure.Class == fhir.Network
}

// passes reports whether a request failed for a reason that may pass.
func passes(err error) bool {
	failure, ok := errors.AsType[*fhir.RequestError](err)
	return ok && (failure.Class == fhir.Network || failure.Class == fhir.ServerFault || failure.Class == fhir.Limited)
}

// unusable makes the error of a discovery that failed because of cause.
func unusable(cause error) error {
	if failure, ok := errors.AsType[*fhir.RequestError](cause); ok && passes(cause) {
		return unavailable(cause, failure.RetryAfter)
	}
	return fault.New(fault.Upstream, fault.CodeUnavailable,
		"The health system's sign-in service can't be used.").Because(cause)
}

// unavailable makes the error for a health system that may be asked again, no sooner than after wait where it said so.
func unavailable(cause error, wait time.Duration) error {
	return fault.New(fault.Unavailable, fault.CodeUnavailable,
		"The health system did not respond. Please try again later.").After(wait).Because(cause)
}
