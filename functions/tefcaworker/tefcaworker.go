// Package tefcaworker handles messages from the TEFCA queue. Each message identifies a TEFCA attempt. The worker
// queries the network for facilities with records, reads the records of the chosen facilities, and deletes identity
// data when it expires. Duplicate, late and forged messages have no effect, because no work is due for their attempts.
package tefcaworker

import (
	"context"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Attempts processes TEFCA attempts; attempt.Worker implements it.
type Attempts interface {
	Process(ctx context.Context, tenant org.Tenant, id string) error
}

// New returns the message handler.
func New(attempts Attempts) func(context.Context, due.Item) error {
	return func(ctx context.Context, i due.Item) error {
		logx.Add(ctx, i.LogAttrs()...)
		if i.Kind != due.Attempt {
			return nil // a message sent manually to the wrong queue; the scheduler for its kind will resend it
		}
		return attempts.Process(ctx, i.Tenant, i.ID)
	}
}
