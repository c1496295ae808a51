package export

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/catalog"
	"recordbridge/shared/export/plan"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
)

// Endpoints reads endpoints of the catalog; fault.NotFound.
type Endpoints interface {
	Endpoint(ctx context.Context, id string) (catalog.Endpoint, error)
}

// Platforms knows how the FHIR servers of a platform want to be asked (platform.Registry).
type Platforms interface {
	Asking(endpoint catalog.Endpoint) (plan.Manners, error)
}

// Habits implements Manners by the profile of the platform at a connection's endpoint.
type Habits struct {
	Connections Connections
	Endpoints   Endpoints
	Platforms   Platforms
}

// Of implements Manners. A server that the catalog does not know any more is asked as any other is.
func (h Habits) Of(ctx context.Context, tenant org.Tenant, connectionID string) (plan.Manners, error) {
	conn, err := h.Connections.Connection(ctx, tenant, connectionID)
	if errors.Is(err, fault.NotFound) {
		return plan.Manners{}, nil
	}
	if err != nil {
		return plan.Manners{}, fmt.Errorf("read connection: %w", err)
	}
	endpoint, err := h.Endpoints.Endpoint(ctx, conn.EndpointID)
	if errors.Is(err, fault.NotFound) {
		return plan.Manners{}, nil
	}
	if err != nil {
		return plan.Manners{}, fmt.Errorf("read endpoint: %w", err)
	}
	manners, err := h.Platforms.Asking(endpoint)
	if err != nil {
		return plan.Manners{}, fmt.Errorf("read platform profile: %w", err)
	}
	manners.Base = endpoint.FHIRBase
	return manners, nil
}
