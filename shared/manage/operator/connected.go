package operator

import (
	"context"
	"slices"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// ConnectionRows lists connections, whatever their status. Its lists go by an index that is some moments behind.
type ConnectionRows interface {
	ConnectionLister
	// ConnectionsOfBefore lists those whose mark of an external id is this one.
	ConnectionsOfBefore(ctx context.Context, tenant org.Tenant, external secret.Mark, before string,
		limit int) (found []string, more bool, err error)
}

// ConnectionLister lists and reads connections.
type ConnectionLister interface {
	ConnectionReader
	// ConnectionsBefore lists where a tenant's connections stand, as ExportRows.TasksBefore.
	ConnectionsBefore(ctx context.Context, tenant org.Tenant, before string, limit int) (
		found []string, more bool, err error,
	)
}

// ConnectionReader reads connections.
type ConnectionReader interface {
	// InspectConnection reads the readable part of a connection, and returns the spots that are damaged; fault.NotFound.
	InspectConnection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, []fault.Spot, error)
}

// listed lists where a tenant's connections stand, of an external id if one is named: under each version of the key
// that marks are made with, as long as it is there.
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
		found = slices.Compact(found) // whose mark has just been made again may stand in both lists
		return found[:min(limit, len(found))], more || len(found) > limit, nil
	}
}

// isOf tells whether a connection has an external id still: the index may be behind.
func (o Connections) isOf(c Connection, externalID string) bool {
	return externalID == "" || o.hashing.Check(connection.ExternalText(c.Tenant, externalID), c.External)
}
