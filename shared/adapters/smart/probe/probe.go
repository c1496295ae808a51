// Package probe tests an endpoint for the operator before a patient meets it: everything that a sign-in and an
// export need, short of a patient (docs/operate/health-systems.md, "Test an endpoint"). It looks through the code that
// patients' sign-ins run, so that what passes here passes there: discovery and token requests are package
// smart's, the authorization request is package flow's, what a client may be is package operator's. It owns what
// is compared and how it is told. It stores nothing and changes nothing; what it tells holds no secret, no token
// and no query of an address.
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

// Registrations finds what connections are made with (operator.Registrations).
type Registrations interface {
	// InEffect is what connections of an organisation at a place are made with; fault.NotFound and fault.Invalid.
	InEffect(ctx context.Context, tenant org.Tenant, place catalog.Place) (operator.Registered, error)
}

// Keys asks the running service for our public keys, as a health system would (operator.Clients).
type Keys interface {
	PublicKeys(ctx context.Context, onlyRSA bool) (operator.KeySet, error)
}

// Deps are what a Probe works with. All are needed.
type Deps struct {
	HTTP          smart.Doer    // with the guard that the functions have
	Clients       smart.Clients // proves who our client is, and to whom it may
	Registrations Registrations
	Keys          Keys
	Platforms     platform.Registry
	Known         Known
	BaseURL       string // of the running service
	Now           func() time.Time
	NewID         ids.Source
	Random        io.Reader
}

// Probe tests endpoints.
type Probe struct{ deps Deps }

// New makes a Probe.
func New(d Deps) Probe { return Probe{deps: d} }

// Subject is what is tested.
type Subject struct {
	// Endpoint is one that is stored, or one that could be made: without pins, and with an empty PlatformType to have its
	// platform told from the server.
	Endpoint catalog.Endpoint
	Stored   bool
	Tenant   org.Tenant // whose registration is used; zero for an organisation that has none of its own
	// TokenRequest allows two token requests with grants that cannot be good. Some health systems count failed ones.
	TokenRequest bool
}

// Run tests one endpoint. It returns a check or more for each step, in the order of the steps. The error is trouble of
// our own, which says nothing of the endpoint.
func (p Probe) Run(ctx context.Context, s Subject) ([]Check, error) {
	web := &witness{doer: p.deps.HTTP}
	t := &test{
		Deps: p.deps, subject: s, endpoint: s.Endpoint, web: web,
		authorizer: smart.NewAuthorizer(web, p.deps.Random, p.deps.Now),
	}
	if err := t.run(ctx); err != nil {
		return nil, err
	}
	return t.told(), nil
}

// test is one run. It holds the findings that several groups of steps need; each group has a type of its own.
type test struct {
	Deps
	report

	subject    Subject
	endpoint   catalog.Endpoint // as it is, or would be once the operator approves what the discovery says
	web        *witness
	authorizer smart.Authorizer

	stated     smart.Stated    // of the SMART configuration; empty when there is none
	capability fhir.Capability // empty when there is none that can be read
	authority  flow.Authority  // what is used of the discovery
	trusted    bool            // all of it is where our client may go
	used       operator.Registered
	registered bool
	attempt    flow.Attempt // the sign-in as it would begin now
	address    string       // where it would send the browser
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

// discovery checks the SMART configuration, and whether our client may use the addresses in it.
type discovery struct {
	*test

	asked    exchange // for the SMART configuration
	isStated bool
}

// conformance checks what can be requested, by the CapabilityStatement and by what exports have learned.
type conformance struct {
	*test

	known   known.Server // what exports have learned; zero for an endpoint that is not stored
	isKnown bool         // it could be read
}

// client checks our registration at the server, and how our client authenticates.
type client struct{ *test }

// tokenRequest checks the token endpoint.
type tokenRequest struct {
	*test

	accepted bool // our client proved who it is at the token endpoint
}

// signIn begins a patient's sign-in, and opens the page that it leads to.
type signIn struct{ *test }
