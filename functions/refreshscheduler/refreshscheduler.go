// Package refreshscheduler runs every minute. The function sends messages to the refresh worker about connections whose
// tokens are due, spread over the following minute. The scheduler makes no decisions about connections.
package refreshscheduler

import (
	"context"
	"time"

	"recordbridge/shared/platform/due"
)

const (
	// nextLook is the time after which a row is due again once its message has been sent. The delay exceeds the time in
	// the queue plus the calls to a slow token endpoint.
	nextLook = 10 * time.Minute
	// spreadOver is the time until the next run. The scheduler spreads messages over this period.
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
