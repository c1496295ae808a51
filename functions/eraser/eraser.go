// Package eraser runs every minute: it takes requests to erase a connection on, from stage to stage, until nothing of the
// connection is left but the audit row that proves it.
package eraser

import (
	"context"
	"time"

	"recordbridge/shared/erase"
)

// New returns the scheduled function.
func New(worker erase.Worker) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error { return worker.Run(ctx) }
}
