package operator

import (
	"context"
	"slices"

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

// listed returns the cursors of a tenant's connections. If externalID is not empty, listed returns only connections
// with that external ID. The ID is hashed and looked up under every version of the hash key.
func (o Connections) listed(ctx context.Context, tenant org.Tenant, externalID string) places {
	rows := o.rows
	if externalID == "" {
		return func(after string, limit int) ([]string, bool, error) {
			return rows.ConnectionsBefore(ctx, tenant, after, limit)
		}
	}
	return func(after string, limit int) (found []string, more bool, err error) {
		for version := o.hashing.Current(); version > 0; version-- {
			mark, ok := o.hashing.SignAs(version, connection.ExternalText(tenant, externalID))
			if !ok {
				continue
			}
			part, isCut, failure := rows.ConnectionsOfBefore(ctx, tenant, mark, after, limit)
			if failure != nil {
				return nil, false, failure
			}
			found, more = append(found, part...), more || isCut
		}
		slices.Sort(found)
		slices.Reverse(found)
		found = slices.Compact(found) // A connection whose hash was just recomputed may appear in both lists.
		return found[:min(limit, len(found))], more || len(found) > limit, nil
	}
}

// isOf reports whether a connection still has the given external ID. The index may be out of date.
func (o Connections) isOf(c Connection, externalID string) bool {
	return externalID == "" || o.hashing.Check(connection.ExternalText(c.Tenant, externalID), c.External)
}
