// Package eraser runs every minute: it takes requests to erase a connection, and to delete an organisation, from stage
// to stage, until nothing is left of either but the audit row that proves it.
package eraser

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/manage/erase"
)

// New returns the scheduled function. Erasures come first: they take less time than the deletion of an organisation.
func New(connections erase.Worker, organisations deletion.Worker) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error {
		return errors.Join(connections.Run(ctx), organisations.Run(ctx))
	}
}
