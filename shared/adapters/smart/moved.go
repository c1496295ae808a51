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

// Endpoints reads endpoints, including their pins.
type Endpoints interface {
	// Endpoint reads the endpoint with the given ID. It returns fault.NotFound if the endpoint does not exist.
	Endpoint(ctx context.Context, id string) (catalog.Endpoint, error)
}

// moved discovers the FHIR server's current token endpoint and returns the token set with that endpoint. ok is false if
// discovery fails, the token endpoint has not changed, or a discovered URL must not receive the set's tokens.
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

// departed lists the discovered URLs to which a set's tokens must not be sent. The tokens may be sent only to origins
// pinned for their endpoint or, if none are pinned, to the origin of the token endpoint that issued them.
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
	return shown.Untrusted(old.TokenEndpoint, nil), nil
}
