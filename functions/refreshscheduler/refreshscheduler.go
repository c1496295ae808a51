// Package refreshscheduler runs every minute. It finds connections whose tokens are due and sends messages about them
// to the refresh worker, spread over the coming minute. It decides nothing about a connection.
package refreshscheduler

import (
	"context"
	"time"

	"recordbridge/shared/platform/due"
)

const (
	// nextLook is the time after which a row whose message was sent is due again. It is longer than the wait in the queue
	// plus the calls to a slow token endpoint.
	nextLook = 10 * time.Minute
	// spreadOver is the time until the next run, over which this run's messages are spread.
	spreadOver = time.Minute
)

// New returns the scheduled function, which sweeps connections.
func New(connections due.Sweep, now func() time.Time) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error {
		return connections.Run(ctx, now(), func(ctx context.Context, i due.Item, place due.Position) (bool, error) {
			return connections.Send(ctx, i, now().Add(nextLook), place.Of(spreadOver))
		})
	}
}
