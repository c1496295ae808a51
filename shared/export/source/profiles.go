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

// Connections reads connections; fault.NotFound.
type Connections interface {
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Endpoints reads endpoints of the catalog; fault.NotFound.
type Endpoints interface {
	Endpoint(ctx context.Context, id string) (catalog.Endpoint, error)
}

// Platforms knows how the FHIR servers of a platform want to be asked (platform.Registry).
type Platforms interface {
	Asking(endpoint catalog.Endpoint) (plan.Profile, error)
}

// Profiles finds how the server at the other end of a connection wants to be asked.
type Profiles struct {
	Connections Connections
	Endpoints   Endpoints
	Platforms   Platforms
}

// Of returns the profile of the platform at a connection's endpoint. A server that the catalog does not know any more
// is asked as any other is.
func (p Profiles) Of(ctx context.Context, tenant org.Tenant, connectionID string) (plan.Profile, error) {
	conn, err := p.Connections.Connection(ctx, tenant, connectionID)
	if errors.Is(err, fault.NotFound) {
		return plan.Profile{}, nil
	}
	if err != nil {
		return plan.Profile{}, fmt.Errorf("read connection: %w", err)
	}
	if conn.EndpointID == "" { // of TEFCA
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
