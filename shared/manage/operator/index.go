package operator

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

// Indexes indexes connections that release 0.1.0 created.
type Indexes struct {
	service OrganisationReader
	rows    ConnectionIndexer
	by      Journal
}

// ConnectionIndexer lists and indexes connections.
type ConnectionIndexer interface {
	ConnectionLister
	// IndexConnection indexes a connection whose newer connections are all indexed. It returns fault.NotFound if the
	// connection does not exist, or fault.Conflict if it changed in the meantime.
	IndexConnection(ctx context.Context, tenant org.Tenant, id string) error
}

// NewIndexes returns an Indexes with the given dependencies.
func NewIndexes(service OrganisationReader, rows ConnectionIndexer, by Journal) Indexes {
	return Indexes{service: service, rows: rows, by: by}
}

// Index indexes a tenant's connections, so that filters find the connections of release 0.1.0 with few reads. It
// returns the number of connections, and can be repeated if it fails. Connections are indexed newest first, because an
// indexed connection implies that all newer ones are also indexed.
func (o Indexes) Index(ctx context.Context, tenant org.Tenant) (int, error) {
	if _, err := findOrganisation(ctx, o.service, tenant); err != nil {
		return 0, err
	}
	count, after := 0, ""
	for {
		found, more, err := o.rows.ConnectionsBefore(ctx, tenant, after, filterBatch)
		if err != nil {
			return count, fmt.Errorf("list connections: %w", err)
		}
		for _, place := range found {
			_, id, _ := strings.Cut(place, "#")
			if err := o.index(ctx, tenant, id); err != nil {
				return count, fmt.Errorf("index connection: %w", err)
			}
			count, after = count+1, place
		}
		if !more {
			return count, o.by.record(ctx, tenant, "connection.indexed", strconv.Itoa(count))
		}
	}
}

// index indexes a connection. It repeats the write if the connection has just changed, and skips an erased connection.
func (o Indexes) index(ctx context.Context, tenant org.Tenant, id string) error {
	err := retry.OnConflict(ctx, retry.Tries, func() error { return o.rows.IndexConnection(ctx, tenant, id) })
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	return err
}
