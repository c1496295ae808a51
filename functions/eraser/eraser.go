// Package eraser implements a Lambda function that runs every minute. The function advances connection erasures and
// organisation deletions, one stage at a time. The last stage leaves only the audit row that proves the deletion.
package eraser

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/manage/erase"
)

// New returns the scheduled function's handler. The function processes erasures first, because erasing a connection
// takes less time than deleting an organisation.
func New(connections erase.Worker, organisations deletion.Worker) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error {
		return errors.Join(connections.Run(ctx), organisations.Run(ctx))
	}
}
