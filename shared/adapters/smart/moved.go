package smart

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Endpoints reads what is pinned of an endpoint.
type Endpoints interface {
	// Endpoint reads an endpoint; fault.NotFound.
	Endpoint(ctx context.Context, id string) (catalog.Endpoint, error)
}

// moved asks the FHIR server, the one that the tokens are for, where its token endpoint is now, and returns the set as
// it belongs there. ok is false when that is not known, nothing has changed, or nobody has approved the new place: a
// refresh token and our client's proof go where the endpoint's pins are and nowhere else.
func (p Portal) moved(ctx context.Context, tenant org.Tenant, old tokens.Set) (set tokens.Set, ok bool) {
	server, err := Discover(ctx, p.doer, old.FHIRBase)
	if err != nil || server.TokenEndpoint == old.TokenEndpoint {
		return tokens.Set{}, false
	}
	left, err := p.departed(ctx, old, server)
	if err != nil {
		return tokens.Set{}, false
	}
	if len(left) > 0 {
		catalog.ReportMove(ctx, tenant.OrgID, old.EndpointID, left)
		return tokens.Set{}, false
	}
	old.TokenEndpoint = server.TokenEndpoint
	old.RevocationEndpoint = cmp.Or(server.Revocation, old.RevocationEndpoint)
	old.IntrospectionEndpoint = cmp.Or(server.Introspection, old.IntrospectionEndpoint)
	return old, true
}

// departed lists what of a new discovery is not where the tokens of a set may go: at the pins of its endpoint; where
// there are none, at the origin of the token endpoint that has them already.
func (p Portal) departed(ctx context.Context, old tokens.Set, server flow.Authority) ([]catalog.Departure, error) {
	var e catalog.Endpoint
	if old.EndpointID != "" {
		var err error
		if e, err = p.endpoints.Endpoint(ctx, old.EndpointID); err != nil && !errors.Is(err, fault.NotFound) {
			return nil, fmt.Errorf("read endpoint: %w", err)
		}
	}
	switch {
	case e.ID != "" && e.FHIRBase != old.FHIRBase:
		return []catalog.Departure{{Role: "FHIR base", From: catalog.Origin(e.FHIRBase), To: catalog.Origin(old.FHIRBase)}},
			nil
	case e.Pins != (catalog.Pins{}):
		return e.Pins.Departures(server.Addresses()), nil
	}
	shown := catalog.Addresses{
		Token: server.TokenEndpoint, Revocation: server.Revocation,
		Introspection: server.Introspection,
	}
	return shown.Abroad(old.TokenEndpoint, nil), nil
}
