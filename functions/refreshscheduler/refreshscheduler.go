// Package refreshscheduler runs every minute: it finds the connections whose tokens somebody has to look after and
// tells the refresh worker, spread over the coming minute. It decides nothing about a connection.
package refreshscheduler

import (
	"context"
	"time"

	"recordbridge/shared/platform/due"
)

const (
	// nextLook is how long a row that was sent is left to its worker. It outlives the wait in the queue and the calls to
	// a slow token endpoint.
	nextLook = 10 * time.Minute
	// spreadOver is the time until the next run, over which the messages of this one are spread.
	spreadOver = time.Minute
)

// New returns the scheduled function, which sweeps connections.
func New(connections due.Sweep, now func() time.Time) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error {
		return connections.Run(ctx, now(), func(ctx context.Context, i due.Item, place due.Place) (bool, error) {
			return connections.Send(ctx, i, now().Add(nextLook), place.Of(spreadOver))
		})
	}
}
