// Package tefcaworker handles the messages of the TEFCA queue. Each one names a TEFCA attempt. The worker asks the
// network which facilities have records, reads those of the chosen facilities, and deletes the identity data when it
// expires. Duplicate, late and forged messages find nothing due and change nothing.
package tefcaworker

import (
	"context"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Attempts processes attempts (attempt.Worker).
type Attempts interface {
	Process(ctx context.Context, tenant org.Tenant, id string) error
}

// New returns the message handler.
func New(attempts Attempts) func(context.Context, due.Item) error {
	return func(ctx context.Context, i due.Item) error {
		logx.Add(ctx, i.LogAttrs()...)
		if i.Kind != due.Attempt {
			return nil // sent to the wrong queue by hand; its own scheduler re-sends it
		}
		return attempts.Process(ctx, i.Tenant, i.ID)
	}
}
