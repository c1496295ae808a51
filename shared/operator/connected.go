package operator

import (
	"context"

	"recordbridge/shared/connection"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
)

// ConnectionRows tells which patients are connected, in whatever state their connections are. Its lists go by an index that is
// some moments behind.
type ConnectionRows interface {
	// HasConnections tells whether a tenant has, or ever had, a connection.
	HasConnections(ctx context.Context, tenant org.Tenant) (bool, error)
	// HasConnectionsAt tells the same of one endpoint. It reads the tenant's connections one by one.
	HasConnectionsAt(ctx context.Context, tenant org.Tenant, endpointID string) (bool, error)
	// ConnectionsBefore lists where a tenant's connections stand, as ExportRows.TasksBefore.
	ConnectionsBefore(ctx context.Context, tenant org.Tenant, before string, limit int) (found []string, more bool, err error)
	// InspectConnection reads what can be read of a connection, and what cannot; fault.NotFound.
	InspectConnection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, []fault.Spot, error)
}
