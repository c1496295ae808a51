// Package probe tests an endpoint for the operator before patients use the endpoint. The test covers everything that a
// sign-in and an export need, except a patient (docs/operate/health-systems.md, "Test an endpoint"). The test runs the
// same code as patients' sign-ins: package smart makes the discovery and token requests, package flow builds the
// authorization request, and package operator validates the client. Package probe compares and reports the results; it
// doesn't change stored data. The report doesn't contain secrets, tokens or URL queries.
package probe

import (
	"context"
	"io"
	"time"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/export/known"
	"recordbridge/shared/fhir"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Registrations looks up the registrations that connections use (operator.Registrations).
type Registrations interface {
	// InEffect returns the registration that an organisation's connections use at an endpoint or platform. The error is
	// fault.NotFound or fault.Invalid.
	InEffect(ctx context.Context, tenant org.Tenant, place catalog.Place) (operator.Registered, error)
}

// Keys fetches the service's public keys over HTTP, as a health system would (operator.Clients).
type Keys interface {
	PublicKeys(ctx context.Context, onlyRSA bool) (operator.KeySet, error)
}

// Deps holds the dependencies of a Probe. All fields are required.
type Deps struct {
	HTTP          smart.Doer    // client with the same network guard as production
	Clients       smart.Clients // authenticates the client and decides which URLs may receive credentials
	Registrations Registrations
	Keys          Keys
	Platforms     platform.Registry
	Known         Known
	BaseURL       string // base URL of the running service
	Now           func() time.Time
	NewID         ids.Source
	Random        io.Reader
}

// Probe tests endpoints without a patient.
type Probe struct{ deps Deps }

// New returns a Probe that uses the given dependencies.
func New(d Deps) Probe { return Probe{deps: d} }

// Subject identifies the endpoint and the registration to test.
type Subject struct {
	// Endpoint is a stored or proposed endpoint. Nothing is pinned for a proposed endpoint. If PlatformType is empty,
	// Run detects the platform from the server's responses.
	Endpoint catalog.Endpoint
	Stored   bool
	Tenant   org.Tenant // organisation whose sign-in is tested; zero for the shared registration
	// TokenRequest allows the test to send two token requests with invalid grants. Some health systems count failed
	// requests.
	TokenRequest bool
}

// Run tests one endpoint. It returns at least one check for each step that it reached, in step order. An error means an
// internal failure, not a problem with the endpoint.
func (p Probe) Run(ctx context.Context, s Subject) ([]Check, error) {
	web := &recordingDoer{doer: p.deps.HTTP}
	t := &test{
		Deps: p.deps, subject: s, endpoint: s.Endpoint, web: web,
		authorizer: smart.NewAuthorizer(web, p.deps.Random, p.deps.Now),
	}
	if err := t.run(ctx); err != nil {
		return nil, err
	}
	return t.ordered(), nil
}

// test holds the state of one run, shared by all groups of steps. Each group of steps has its own type.
type test struct {
	Deps
	report

	subject    Subject
	endpoint   catalog.Endpoint // the stored endpoint, with the discovered URLs pinned as if approved
	web        *recordingDoer
	authorizer smart.Authorizer

	stated     smart.Stated    // parsed SMART configuration; empty if the server has none
	capability fhir.Capability // parsed CapabilityStatement; empty if the server has no valid one
	authority  flow.Authority  // discovered authorization server
	trusted    bool            // whether the client may use every URL in authority
	used       operator.Registered
	registered bool
	attempt    flow.Attempt // attempt that a sign-in would create now
	address    string       // authorization URL that the browser would open
}

func (t *test) run(ctx context.Context) error {
	found, server, ours, begun := discovery{test: t}, conformance{test: t}, client{t}, signIn{t}
	if !found.reach(ctx) {
		return nil
	}
	server.readStatement(ctx)
	if !found.discover(ctx) {
		return nil
	}
	found.checkIssuer()
	found.checkPins()
	if err := ours.findRegistration(ctx); err != nil {
		return err
	}
	if !begun.rehearse(ctx) {
		return nil
	}
	server.readKnown(ctx)
	ours.checkScopes()
	server.checkCoverage()
	server.checkPlan()
	ours.checkClient()
	ours.checkKeys(ctx)
	granted := tokenRequest{test: t}
	granted.checkTokenEndpoint(ctx)
	if err := granted.requestTokens(ctx); err != nil {
		return err
	}
	return begun.askToSignIn(ctx)
}

// discovery checks the SMART configuration and whether the client may use its URLs.
type discovery struct {
	*test

	asked    exchange // request for the SMART configuration
	isStated bool
}

// conformance checks which data can be requested, based on the CapabilityStatement and earlier exports' results.
type conformance struct {
	*test

	known   known.Server // results of earlier exports; zero for an endpoint that is not stored
	isKnown bool
}

// client checks the registration and the client authentication.
type client struct{ *test }

type tokenRequest struct {
	*test

	accepted bool // whether the token endpoint accepted the client authentication
}

// signIn starts a patient's sign-in and opens the resulting page.
type signIn struct{ *test }
