// Package usagecounter runs once a day. It counts each organisation's usage of past days from the event log, and
// catches up on missed days.
package usagecounter

import (
	"context"
	"time"

	"recordbridge/shared/manage/usage"
)

// New returns the scheduled function.
func New(meter usage.Meter, tenants usage.Tenants) func(context.Context, time.Time) error {
	return func(ctx context.Context, _ time.Time) error { return meter.Run(ctx, tenants) }
}
