// Package refreshscheduler implements a Lambda function that runs every minute. The function sends the refresh worker a
// message for each connection whose tokens are due, spreading the messages over the following minute. The scheduler
// makes no decisions about connections.
package refreshscheduler

import (
	"context"
	"time"

	"recordbridge/shared/platform/due"
)

const (
	// nextLook is the delay between sending a row's message and the row's next due time. It exceeds the message's time
	// in the queue plus the duration of calls to a slow token endpoint.
	nextLook = 5 * time.Minute
	// spreadOver is the time until the next run, during which the scheduler spreads out its messages.
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
