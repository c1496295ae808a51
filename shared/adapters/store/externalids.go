package store

import (
	"context"

	"recordbridge/shared/words/org"
)

// ExternalIDs reads the organisations' own IDs of their patients from the Connection table.
type ExternalIDs struct {
	DB    EventDB
	Table string // name of the Connection table
}

// Of returns the external IDs of at most 100 of a tenant's connections by connection ID. It omits connections that
// don't exist or have no external ID. connectionIDs must be unique.
func (s ExternalIDs) Of(ctx context.Context, tenant org.Tenant, connectionIDs []string) (map[string]string, error) {
	keys := make([]item, len(connectionIDs))
	for i, id := range connectionIDs {
		keys[i] = connectionKey(tenant, id).attributes()
	}
	rows, err := EventLog(s).rows(ctx, keys)
	found := make(map[string]string, len(rows))
	for _, id := range connectionIDs {
		if external := rows[connectionKey(tenant, id).pk].text("external_id"); external != "" {
			found[id] = external
		}
	}
	return found, err
}
