// Package refreshworker takes the messages of the refresh queue: each tells it to look at a connection, whose tokens it
// refreshes, or takes back upstream, if that is due. Duplicate, late and forged messages find nothing that is due and
// change nothing.
package refreshworker

import (
	"context"

	"recordbridge/shared/due"
	"recordbridge/shared/org"
)

// Connections looks after connections (refresh.Worker).
type Connections interface {
	Look(ctx context.Context, tenant org.Tenant, id string) error
}

// New returns the handler of one message.
func New(connections Connections) func(context.Context, due.Item) error {
	return func(ctx context.Context, i due.Item) error {
		if i.Kind != due.Connection {
			return nil // sent to the wrong queue by hand; who is in charge of it knows where it belongs
		}
		return connections.Look(ctx, i.Tenant, i.ID)
	}
}
