package operator

import (
	"context"

	"recordbridge/shared/manage/erase"
	"recordbridge/shared/words/org"
)

// Erasures requests and shows the erasure of connections.
type Erasures struct {
	requests ErasureRequests
	by       Journal
}

// ErasureRequests keeps requests to erase connections (erase.Requests).
type ErasureRequests interface {
	// Request has a connection erased; isNew tells whether nobody had asked before. fault.NotFound.
	Request(ctx context.Context, tenant org.Tenant, connectionID, actor string) (e erase.Erasure, isNew bool, err error)
	// Show reads a connection's erasure; fault.NotFound.
	Show(ctx context.Context, tenant org.Tenant, connectionID string) (erase.Erasure, error)
}

// NewErasures makes an Erasures.
func NewErasures(requests ErasureRequests, by Journal) Erasures {
	return Erasures{requests: requests, by: by}
}

// As returns the same for another actor.
func (o Erasures) As(actor string) Erasures {
	o.by = o.by.As(actor)
	return o
}

// Request has a connection erased with all that there is of it, or shows how that stands. It cannot be taken back.
// Errors are fault.NotFound.
func (o Erasures) Request(ctx context.Context, tenant org.Tenant, id string) (erase.Erasure, error) {
	e, isNew, err := o.requests.Request(ctx, tenant, id, o.by.actor)
	if err != nil || !isNew {
		return e, err
	}
	return e, o.by.record(ctx, tenant, "connection.erasure_requested", e.ConnectionID)
}

// Show shows what has become of a request to erase a connection, for 90 days after its end. Errors are fault.NotFound.
func (o Erasures) Show(ctx context.Context, tenant org.Tenant, id string) (erase.Erasure, error) {
	return o.requests.Show(ctx, tenant, id)
}
