package operator

import (
	"context"

	"recordbridge/shared/org"
)

// ConnectionRows tells whether patients are connected, in whatever state their connections are. It goes by an index that is
// some moments behind.
type ConnectionRows interface {
	// HasConnections tells whether a tenant has, or ever had, a connection.
	HasConnections(ctx context.Context, tenant org.Tenant) (bool, error)
	// HasConnectionsAt tells the same of one endpoint. It reads the tenant's connections one by one.
	HasConnectionsAt(ctx context.Context, tenant org.Tenant, endpointID string) (bool, error)
}
