// Package eraser runs every minute. The function advances the erasure of connections and the deletion of organisations
// stage by stage, until only the audit row that proves the deletion is left.
package eraser

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/manage/erase"
)

// New returns the scheduled function. The function processes erasures first, because they take less time than deleting
// an organisation.
func New(connections erase.Worker, organisations deletion.Worker) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error {
		return errors.Join(connections.Run(ctx), organisations.Run(ctx))
	}
}
