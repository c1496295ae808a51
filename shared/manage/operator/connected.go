package operator

import (
	"context"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// ConnectionRows lists connections with any status, from an eventually consistent index.
type ConnectionRows interface {
	ConnectionLister
	// ConnectionsOfBefore lists the connections whose external ID has the given keyed hash.
	ConnectionsOfBefore(ctx context.Context, tenant org.Tenant, external secret.Mark, before string,
		limit int) (found []string, more bool, err error)
	// ConnectionsWith lists the connections with a property, except connections that are not indexed. A connection that
	// has just changed may be missing, or still be listed.
	ConnectionsWith(ctx context.Context, tenant org.Tenant, with connection.Property, before string,
		limit int) (found []string, more bool, err error)
	// AreConnectionsIndexed reports whether all of the tenant's connections are indexed.
	AreConnectionsIndexed(ctx context.Context, tenant org.Tenant) (bool, error)
}

// ConnectionLister lists and reads connections.
type ConnectionLister interface {
	ConnectionReader
	// ConnectionsBefore returns the cursors of a tenant's connections, in the same way as ExportRows.TasksBefore.
	ConnectionsBefore(ctx context.Context, tenant org.Tenant, before string, limit int) (
		found []string, more bool, err error,
	)
}

// ConnectionReader reads connections.
type ConnectionReader interface {
	// InspectConnection returns the readable part of a connection and the names of its damaged fields. It returns
	// fault.NotFound if the connection does not exist.
	InspectConnection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, []fault.Spot, error)
}

// isOf reports whether a connection still has the given external ID. The index may be out of date.
func (o Connections) isOf(c Connection, externalID string) bool {
	return externalID == "" || o.hashing.Check(connection.ExternalText(c.Tenant, externalID), c.External)
}
