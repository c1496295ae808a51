// Package wiring chooses the adapters of the locaterecords function, and no others: what is not wired here is not
// linked. Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"

	"recordbridge/functions/locaterecords"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/wiring/edge"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	edge.PublicEnv

	WorkTable string `env:"WORK_TABLE,required"`
}

// Build makes the function. It reads secrets, once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewPublic(ctx, env.PublicEnv, p, "locaterecords")
	if err != nil {
		return nil, err
	}
	attempts := store.TEFCA{
		Flow: store.Flow{DB: e.DB, Table: env.FlowTable},
		Work: store.Work{DB: e.DB, Table: env.WorkTable},
	}
	deps := locaterecords.Deps{API: e.API, Auth: e.Auth, Flows: attempt.Watcher{Store: attempts, Now: p.Now}}
	return lambdarun.HTTP(p.Logger, locaterecords.New(deps)), nil
}
