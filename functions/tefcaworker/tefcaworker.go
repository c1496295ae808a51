// Package tefcaworker takes the messages of the TEFCA queue: each tells it to look at an attempt of TEFCA mode, for
// which it asks the network who has records, reads those of the chosen facilities, or forgets the identity when it has
// ended. Duplicate, late and forged messages find nothing that is due and change nothing.
package tefcaworker

import (
	"context"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Attempts looks after attempts (attempt.Worker).
type Attempts interface {
	Look(ctx context.Context, tenant org.Tenant, id string) error
}

// New returns the handler of one message.
func New(attempts Attempts) func(context.Context, due.Item) error {
	return func(ctx context.Context, i due.Item) error {
		logx.Add(ctx, i.LogAttrs()...)
		if i.Kind != due.Attempt {
			return nil // sent to the wrong queue by hand; who is in charge of it knows where it belongs
		}
		return attempts.Look(ctx, i.Tenant, i.ID)
	}
}
