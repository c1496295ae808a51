// Package usagecounter implements a Lambda function that runs daily. The function computes each organisation's usage on
// past days from the event log, including days that earlier runs missed.
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
