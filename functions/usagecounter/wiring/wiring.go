// Package wiring builds the usagecounter function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"recordbridge/functions/usagecounter"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/usage"
	"recordbridge/shared/platform/lambdarun"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	ControlTable string `env:"CONTROL_TABLE,required"`
	WorkTable    string `env:"WORK_TABLE,required"`
}

// Build returns the usagecounter function's handler.
func Build(_ context.Context, env Environment, p lambdarun.Process) (lambdarun.ScheduleHandler, error) {
	db := store.NewClient(p.AWS)
	meter := usage.Meter{
		Days: store.UsageDays{DB: db, Table: env.WorkTable}, Events: store.EventLog{DB: db, Table: env.WorkTable},
		Deliveries: store.DeliveryLog{DB: db, Table: env.WorkTable}, Now: p.Now,
	}
	return lambdarun.Schedule(p, "usagecounter",
		usagecounter.New(meter, store.Organisations{DB: db, Table: env.ControlTable})), nil
}
