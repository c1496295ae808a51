package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Connections reads connections. It returns fault.NotFound if the connection does not exist.
type Connections interface {
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Endpoints reads endpoints in the catalogue. It returns fault.NotFound if the endpoint does not exist.
type Endpoints interface {
	Endpoint(ctx context.Context, id string) (catalog.Endpoint, error)
}

// Platforms returns the request profile for a platform's FHIR servers (platform.Registry).
type Platforms interface {
	Asking(endpoint catalog.Endpoint) (plan.Profile, error)
}

// Profiles looks up the request profile for a connection's server.
type Profiles struct {
	Connections Connections
	Endpoints   Endpoints
	Platforms   Platforms
}

// Of returns the request profile for a connection's endpoint. If the connection has no endpoint, or if the connection
// or endpoint no longer exists, Of returns the default profile.
func (p Profiles) Of(ctx context.Context, tenant org.Tenant, connectionID string) (plan.Profile, error) {
	conn, err := p.Connections.Connection(ctx, tenant, connectionID)
	if errors.Is(err, fault.NotFound) {
		return plan.Profile{}, nil
	}
	if err != nil {
		return plan.Profile{}, fmt.Errorf("read connection: %w", err)
	}
	if conn.EndpointID == "" { // a TEFCA connection has no endpoint
		return plan.Profile{}, nil
	}
	logx.Add(ctx, slog.String("endpoint_id", conn.EndpointID))
	endpoint, err := p.Endpoints.Endpoint(ctx, conn.EndpointID)
	if errors.Is(err, fault.NotFound) {
		return plan.Profile{}, nil
	}
	if err != nil {
		return plan.Profile{}, fmt.Errorf("read endpoint: %w", err)
	}
	profile, err := p.Platforms.Asking(endpoint)
	if err != nil {
		return plan.Profile{}, fmt.Errorf("read platform profile: %w", err)
	}
	profile.Endpoint, profile.Base = conn.EndpointID, endpoint.FHIRBase
	return profile, nil
}
