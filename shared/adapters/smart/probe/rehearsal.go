package probe

import (
	"context"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// rehearsal provides the dependencies of a sign-in that starts but is never completed. It returns the endpoint and the
// registration under test, and stores only the attempt. It implements flow.Catalog, flow.StartStore, tokens.Sealer and
// smart.Endpoints.
type rehearsal struct {
	endpoint     catalog.Endpoint
	registration catalog.Registration
	begun        flow.Attempt
}

// Endpoint returns the endpoint under test.
func (r *rehearsal) Endpoint(context.Context, string) (catalog.Endpoint, error) {
	return r.endpoint, nil
}

// Way returns fault.NotFound, because the record of the endpoint under test names the institution.
func (*rehearsal) Way(context.Context, string, string) (catalog.Way, error) {
	return catalog.Way{}, fault.NotFound
}

// Registration returns the registration under test.
func (r *rehearsal) Registration(context.Context, org.Tenant, catalog.Endpoint) (catalog.Registration, error) {
	return r.registration, nil
}

// BeginAttempt stores the attempt for the test.
func (r *rehearsal) BeginAttempt(_ context.Context, attempt flow.Attempt, _ binding.State) error {
	r.begun = attempt
	return nil
}

// Attempt returns fault.NotFound, because the sign-in is never completed.
func (*rehearsal) Attempt(context.Context, org.Tenant, string) (flow.Attempt, error) {
	return flow.Attempt{}, fault.NotFound
}

// Ticket returns fault.NotFound, because the sign-in does not begin on a hosted page.
func (*rehearsal) Ticket(context.Context, string, time.Time) (binding.Ticket, error) {
	return binding.Ticket{}, fault.NotFound
}

// OpenAttempt always returns fault.Conflict.
func (*rehearsal) OpenAttempt(context.Context, binding.Ticket, flow.Attempt, binding.State) error {
	return fault.Conflict
}

// Seal discards the code verifier, because the sign-in never receives an authorization code.
func (*rehearsal) Seal(context.Context, org.Tenant, string, []byte) ([]byte, error) { return nil, nil }

// Open returns an error because Seal doesn't store anything.
func (*rehearsal) Open(context.Context, org.Tenant, string, []byte) ([]byte, error) {
	return nil, fault.NotFound
}

// rehearse starts a sign-in in the same way as the connect endpoint, and reports whether it started.
func (t *signIn) rehearse(ctx context.Context) bool {
	endpoint := t.endpoint
	endpoint.Status = catalog.EndpointActive // an earlier step has already reported a suspension
	if endpoint.Shared() {                   // represents any institution that a patient may choose
		endpoint.BrandID, endpoint.PortalID = t.NewID(), t.NewID()
	}
	stage := &rehearsal{endpoint: endpoint, registration: t.used.Registration}
	starter := flow.Starter{
		Preparation: flow.Preparation{
			Catalog: stage, Connections: flow.NoConnections{}, Portal: t.authorizer, Platforms: t.Platforms,
			BaseURL: t.BaseURL, Now: t.Now, NewID: t.NewID, Random: t.Random,
		},
		Store: stage, Sealer: stage,
	}
	tenant := org.Tenant{Mode: org.Mode(endpoint.Mode), OrgID: t.subject.Tenant.OrgID}
	started, err := starter.Start(ctx, flow.Request{Caller: org.Caller{Tenant: tenant}, EndpointID: endpoint.ID})
	if err != nil {
		t.add(Authorize, Failed, exchange{}, "A sign-in can't start: "+fault.Of(err).Public,
			"See the checks above, and run endpoint show.")
		return false
	}
	t.attempt, t.address = stage.begun, started.URL
	return true
}
