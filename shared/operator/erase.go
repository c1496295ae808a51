package operator

import (
	"context"

	"recordbridge/shared/erase"
	"recordbridge/shared/org"
)

// Erasures asks for erasures and shows how they stand.
type Erasures interface {
	// Request has a connection erased; isNew tells whether nobody had asked before. fault.NotFound.
	Request(ctx context.Context, tenant org.Tenant, connectionID, actor string) (e erase.Erasure, isNew bool, err error)
	// Show reads a connection's erasure; fault.NotFound.
	Show(ctx context.Context, tenant org.Tenant, connectionID string) (erase.Erasure, error)
}

// Erase has a connection erased with all that there is of it, or shows how that stands. It cannot be taken back. Errors are
// fault.NotFound.
func (o Connections) Erase(ctx context.Context, tenant org.Tenant, id string) (erase.Erasure, error) {
	e, isNew, err := o.deps.Erasures.Request(ctx, tenant, id, o.deps.Actor)
	if err != nil || !isNew {
		return e, err
	}
	return e, o.record(ctx, tenant, "connection.erasure_requested", e.ConnectionID)
}

// Erasure shows what has become of a request to erase a connection, for 90 days after its end. Errors are fault.NotFound.
func (o Connections) Erasure(ctx context.Context, tenant org.Tenant, id string) (erase.Erasure, error) {
	return o.deps.Erasures.Show(ctx, tenant, id)
}
