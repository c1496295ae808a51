// Package usagecounter runs once a day: it counts what each organisation has used in the days that are over, from the
// log of events, and makes up for days that it has missed.
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
