// Package wiring builds the cancelattempt function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"recordbridge/functions/cancelattempt"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/wiring/edge"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.PublicEnv

	WorkTable string `env:"WORK_TABLE,required"`
}

// Build reads secrets and returns the cancelattempt function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewPublic(ctx, env.PublicEnv, p, "cancelattempt")
	if err != nil {
		return nil, err
	}
	flows, signIns := store.Flow{DB: e.DB, Table: env.FlowTable}, env.Recorder(e.DB, e.Limiter.Hashing)
	return lambdarun.HTTP(p.Logger, cancelattempt.New(cancelattempt.Deps{
		API: e.API, Auth: e.Auth, Flows: flow.Canceler{Store: flows, SignIns: signIns, Now: p.Now},
		TEFCA: attempt.Canceler{
			Store:   store.TEFCA{Flow: flows, Work: store.Work{DB: e.DB, Table: env.WorkTable}},
			SignIns: signIns, Now: p.Now,
		},
	})), nil
}
