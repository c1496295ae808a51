// Package usagecounter runs daily. The function computes each organisation's usage on past days, including days that
// earlier runs missed, from the event log.
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
