// Package wiring builds the locaterecords function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"recordbridge/functions/locaterecords"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/wiring/edge"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.PublicEnv

	WorkTable string `env:"WORK_TABLE,required"`
}

// Build reads secrets and returns the locaterecords function's handler. Build is called once per cold start.
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
