package operator

import (
	"context"

	"recordbridge/shared/manage/erase"
	"recordbridge/shared/words/org"
)

// Erasures requests the erasure of connections and reports its progress.
type Erasures struct {
	requests ErasureRequests
	by       Journal
}

// ErasureRequests stores requests to erase connections. erase.Requests implements it.
type ErasureRequests interface {
	// Request requests the erasure of a connection. The isNew result reports whether this is the first request. Request
	// returns fault.NotFound if the connection does not exist.
	Request(ctx context.Context, tenant org.Tenant, connectionID, actor string) (e erase.Erasure, isNew bool, err error)
	// Show returns the erasure of a connection. It returns fault.NotFound if the connection has no erasure.
	Show(ctx context.Context, tenant org.Tenant, connectionID string) (erase.Erasure, error)
}

// NewErasures returns an Erasures with the given dependencies.
func NewErasures(requests ErasureRequests, by Journal) Erasures {
	return Erasures{requests: requests, by: by}
}

// As returns a copy of o that records actor in audit rows.
func (o Erasures) As(actor string) Erasures {
	o.by = o.by.As(actor)
	return o
}

// Request requests the erasure of a connection and all its data. If an erasure was already requested, Request returns
// its progress. An erasure can't be undone. Request returns fault.NotFound if the connection does not exist.
func (o Erasures) Request(ctx context.Context, tenant org.Tenant, id string) (erase.Erasure, error) {
	e, isNew, err := o.requests.Request(ctx, tenant, id, o.by.actor)
	if err != nil || !isNew {
		return e, err
	}
	return e, o.by.record(ctx, tenant, "connection.erasure_requested", e.ConnectionID)
}

// Show returns the progress of a connection's erasure. An erasure's progress remains available for 90 days after the
// erasure ends. Show returns fault.NotFound if the connection has no erasure.
func (o Erasures) Show(ctx context.Context, tenant org.Tenant, id string) (erase.Erasure, error) {
	return o.requests.Show(ctx, tenant, id)
}
